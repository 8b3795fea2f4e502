import { createOrder } from '../../ticketing/create-order.ts'
import { OPERATOR } from '../../ticketing/history.ts'
import type { OrderAnswer } from '../../ticketing/order-answer.ts'
import { payOrder } from '../../ticketing/pay-order.ts'
import { keysOnSale } from '../../ticketing/price-store.ts'
import { findProduct } from '../../ticketing/product-store.ts'
import { pullPrices } from '../../ticketing/pull-prices.ts'
import { pullProduct } from '../../ticketing/pull-product.ts'
import { queryOrder } from '../../ticketing/query-order.ts'
import { showOrder } from '../../ticketing/show-order.ts'
import { newOrder } from '../../ticketing/wire.ts'
import { offers, travelDate } from '../choice.ts'
import type { Expectation } from '../examine.ts'
import type { OrderRole, Scene } from '../scene.ts'
import { testVisitors } from './test-visitors.ts'

type Order = OrderAnswer['order']

/** Fields of a product that decide how it is ordered (spec: Product). */
interface Details {
  readonly useDateMode?: unknown
  readonly visitorInfoType?: unknown
  readonly visitorInfoGroupSize?: unknown
  readonly minBuyCount?: unknown
}

const OPEN_DATE = 0

/**
 * A new order of the run, made by the platform's own operation. The product and, where there is a calendar, the prices
 * of the day are pulled first, as the platform does before it sells. `expectation` names codes of a refusal.
 */
export async function createTestOrder(
  scene: Scene,
  role: OrderRole,
  partner_deal_id: string,
  expectation: Expectation = {},
): Promise<Order> {
  const { deps, choice, partner } = scene
  const { partner_id } = partner
  const details = await productDetails(scene, partner_deal_id)
  const dated = Number(details.useDateMode) !== OPEN_DATE
  const day = travelDate(choice, deps.clock.now())
  const key = dated ? await pullDay(scene, partner_deal_id, day) : undefined
  const quantity = Math.max(choice.quantity, Number(details.minBuyCount) || 1)
  const order_id = await scene.newOrder(role)
  const wish = newOrder.parse({
    ...{ partner_id, partner_deal_id, order_id, quantity },
    ...testVisitors(details, quantity),
    ...(dated ? { travel_date: day } : {}),
    ...(key ? { partner_primary_key: key } : {}),
  })
  const create = (inside: Scene['deps']) => createOrder(inside, wish, OPERATOR, true)
  const { order } = await scene.operate('order-create', order_id, create, expectation)
  const expected = expectation.codes ? 'create_failed' : 'created'
  await scene.require('order-state', order.state === expected, { expected, actual: order.state })
  return order
}

async function productDetails(scene: Scene, partnerDealId: string): Promise<Details> {
  const { partner_id: partnerId } = scene.partner
  await scene.prepare(['product-pull'], (deps) =>
    pullProduct(deps, { partner_id: partnerId, partner_deal_id: partnerDealId }),
  )
  return (await findProduct(scene.deps.db, { partnerId, partnerDealId }))?.details ?? {}
}

/** Pulls the prices of the day from the calendar that the choice says there is; the key of a session that is on sale. */
async function pullDay(scene: Scene, partner_deal_id: string, day: string): Promise<string | undefined> {
  const { choice, partner } = scene
  const { partner_id } = partner
  const level = offers(choice, 'level-price-calendar') && isOfLevels(scene, partner_deal_id)
  if (!level && !offers(choice, 'price-calendar')) return undefined
  const range = { partner_id, partner_deal_id, from: day, to: day, level }
  await scene.prepare([level ? 'level-price-calendar' : 'price-calendar'], (deps) => pullPrices(deps, range))
  const keys = await keysOnSale(scene.deps.db, { partnerId: partner_id, partnerDealId: partner_deal_id }, day)
  return keys.find((key) => key !== '')
}

/** The product that was named for it, or any when there is no plain calendar. */
const isOfLevels = ({ choice }: Scene, partnerDealId: string): boolean =>
  choice.products.level === partnerDealId || !offers(choice, 'price-calendar')

/** The main order as long as it can still be paid, else a new one in its place: an attempt before may have paid it. */
export async function unpaidOrder(scene: Scene): Promise<bigint> {
  const orderId = await scene.orderOf('main')
  const { order } = await showOrder(scene.deps, orderId)
  if (order.state === 'created') return orderId
  return (await createTestOrder(scene, 'main', scene.choice.products.main)).order_id
}

const ISSUED_WITHIN_S = 60
const ASK_EVERY_MS = 2_000

/** Pays an order; with 598 the partner is asked until its tickets are issued. */
export async function payTestOrder(scene: Scene, orderId: bigint, expectation: Expectation = {}): Promise<Order> {
  const pay = (deps: Scene['deps']) => payOrder(deps, orderId, OPERATOR)
  let { order } = await scene.operate('order-pay', orderId, pay, expectation)
  if (order.state === 'paying') {
    await scene.until(
      ISSUED_WITHIN_S,
      async () => {
        const ask = (deps: Scene['deps']) => queryOrder(deps, orderId, OPERATOR)
        order = (await scene.operate('order-query', orderId, ask)).order
        return order.state !== 'paying'
      },
      ASK_EVERY_MS,
    )
  }
  await scene.require('order-state', order.state === 'paid', { expected: 'paid', actual: order.state })
  return order
}

/** Both ways of payment will do: for steps that are about something else. */
export const ANY_PAYMENT: Expectation = { codes: [200, 598] }

/** Created and paid. */
export async function buyTestOrder(scene: Scene, role: OrderRole, partnerDealId: string): Promise<Order> {
  const { order_id } = await createTestOrder(scene, role, partnerDealId)
  return payTestOrder(scene, order_id, ANY_PAYMENT)
}
