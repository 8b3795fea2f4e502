import { createOrder } from '../../ticketing/create-order.ts'
import { OPERATOR } from '../../ticketing/history.ts'
import type { OrderAnswer } from '../../ticketing/order-answer.ts'
import { pullPrices } from '../../ticketing/pull-prices.ts'
import { pullProduct } from '../../ticketing/pull-product.ts'
import { newOrder } from '../../ticketing/wire.ts'
import { travelDate } from '../choice.ts'
import type { Expectation } from '../examine.ts'
import type { OrderRole, Scene } from '../scene.ts'

/**
 * A new order of the run, made by the platform's own operation. The product and, where there is a calendar, the price of
 * the day are pulled first, as the platform does before it sells.
 */
export async function buy(
  scene: Scene,
  role: OrderRole,
  partner_deal_id: string,
  expectation: Expectation = {},
): Promise<OrderAnswer['order']> {
  const { deps, partner, choice } = scene
  const { partner_id } = partner
  const day = travelDate(choice, deps.clock.now())
  await pullProduct(deps, { partner_id, partner_deal_id })
  await pullPrices(deps, { partner_id, partner_deal_id, from: day, to: day })
  const order_id = await scene.newOrder(role)
  const wish = newOrder.parse({ partner_id, partner_deal_id, order_id, quantity: choice.quantity, travel_date: day })
  const { order } = await scene.operate(
    'order-create',
    order_id,
    (inside) => createOrder(inside, wish, OPERATOR, true),
    expectation,
  )
  const expected = expectation.codes ? 'create_failed' : 'created'
  await scene.check('order-state', order.state === expected, { expected, actual: order.state })
  return order
}
