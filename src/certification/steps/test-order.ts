import { OPERATOR } from '../../audit/history.ts'
import { keysOnSale } from '../../catalogue/price-store.ts'
import { findProduct, markProduct } from '../../catalogue/product-store.ts'
import { pullPrices } from '../../catalogue/pull-prices.ts'
import { pullProduct } from '../../catalogue/pull-product.ts'
import { MOUNT } from '../../config/mounts.ts'
import { PATH } from '../../mtp/endpoints.ts'
import { createOrder } from '../../orders/create-order.ts'
import type { OrderAnswer } from '../../orders/order-answer.ts'
import { payOrder } from '../../orders/pay-order.ts'
import { queryOrder } from '../../orders/query-order.ts'
import { showOrder } from '../../orders/show-order.ts'
import { newOrder } from '../../orders/wire.ts'
import { offers, travelDate } from '../choice.ts'
import type { Expectation } from '../examine.ts'
import type { OrderRole, Scene } from '../scene.ts'
import { fieldIn } from './notice-body.ts'
import { testVisitors } from './test-visitors.ts'

export type Order = OrderAnswer['order']

/** Fields of a product that decide how it is ordered (DECISIONS "Product"). */
interface Details {
  readonly useDateMode?: unknown
  readonly visitorInfoType?: unknown
  readonly visitorInfoGroupSize?: unknown
  readonly minBuyCount?: unknown
}

const OPEN_DATE = 0
/** visitorInfoType where nothing is known: one visitor too many harms nobody. */
const EVERY_VISITOR = 3

/** Bits of the order's id, if not as many as ORDER_ID_BITS says. */
interface IdSize {
  readonly idBits?: number
}

/**
 * A new order of the run, made by the platform's own operation. The product and, where there is a calendar, the prices
 * of the day are pulled first, as the platform does before it sells. `expectation` names codes of a refusal.
 */
export async function createTestOrder(
  scene: Scene,
  role: OrderRole,
  partner_deal_id: string,
  { idBits, ...expectation }: Expectation & IdSize = {},
): Promise<Order> {
  const { deps, choice, partner } = scene
  const { partner_id } = partner
  const details = await productDetails(scene, partner_deal_id)
  const dated = isDated(scene, details)
  const day = travelDate(choice, deps.clock.now())
  const key = dated ? await pullDay(scene, partner_deal_id, day) : undefined
  const quantity = Math.max(choice.quantity, Number(details.minBuyCount) || 1)
  const order_id = await scene.newOrder(role, idBits)
  const wish = newOrder.parse({
    ...{ partner_id, partner_deal_id, order_id, quantity },
    ...{ unit_price: choice.unit_price, buy_price: choice.buy_price },
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

/** Of a product that nobody has described, the choice decides: it has a calendar, or a day was given. */
const isDated = ({ choice }: Scene, { useDateMode }: Details): boolean =>
  useDateMode === undefined
    ? choice.travel_date !== undefined || offers(choice, 'price-calendar') || offers(choice, 'level-price-calendar')
    : Number(useDateMode) !== OPEN_DATE

/** As the partner describes it; of a partner without product pull only what is known from elsewhere. */
async function productDetails(scene: Scene, partnerDealId: string): Promise<Details> {
  const { partner_id: partnerId } = scene.partner
  if (!offers(scene.choice, 'product-pull')) {
    const named = { partnerId, partnerDealId, saleState: null }
    await markProduct(scene.deps.db, named, { cause: OPERATOR, now: scene.deps.clock.now() })
    const known = await findProduct(scene.deps.db, named)
    return { visitorInfoType: EVERY_VISITOR, ...known?.details }
  }
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

/** Pays an order; with 598 the partner is asked until its tickets are issued, or says so itself by a pay notice. */
export async function payTestOrder(scene: Scene, orderId: bigint, expectation: Expectation = {}): Promise<Order> {
  const pay = (deps: Scene['deps']) => payOrder(deps, orderId, OPERATOR)
  const answered = (await scene.operate('order-pay', orderId, pay, expectation)).order
  const order = answered.state === 'paying' ? await issuedLater(scene, orderId) : answered
  await scene.require('order-state', order.state === 'paid', { expected: 'paid', actual: order.state })
  return order
}

async function issuedLater(scene: Scene, orderId: bigint): Promise<Order> {
  const notices = scene.watch({
    path: MOUNT + PATH.pay,
    isIt: (body) => fieldIn(body, 'orderId') === String(orderId),
  })
  const ask = (deps: Scene['deps']) => queryOrder(deps, orderId, OPERATOR)
  await scene.until(
    ISSUED_WITHIN_S,
    async () => {
      // A notice may say that the codes come later (asyReturnVoucher): the order tells whether it was the last one.
      if ((await notices.look()) && (await showOrder(scene.deps, orderId)).order.state !== 'paying') return true
      return (await scene.operate('order-query', orderId, ask)).order.state !== 'paying'
    },
    ASK_EVERY_MS,
  )
  // It may have come while the partner was asked.
  await notices.look()
  return (await showOrder(scene.deps, orderId)).order
}

/** Both ways of payment will do: for steps that are about something else. */
const ANY_PAYMENT: Expectation = { codes: [200, 598] }

/** Created and paid. */
export async function buyTestOrder(
  scene: Scene,
  role: OrderRole,
  partnerDealId: string,
  size: IdSize = {},
): Promise<Order> {
  const { order_id } = await createTestOrder(scene, role, partnerDealId, size)
  return payTestOrder(scene, order_id, ANY_PAYMENT)
}

/**
 * The main order as long as all of its tickets are still good, else a new one in its place: the partner may have used or
 * refunded some of them before their turn, and nothing brings them back.
 */
export async function unusedOrder(scene: Scene): Promise<Order> {
  const { order } = await showOrder(scene.deps, await scene.orderOf('main'))
  if (order.state === 'paid' && order.used_quantity === 0 && order.refunded_quantity === 0) return order
  return buyTestOrder(scene, 'main', scene.choice.products.main)
}
