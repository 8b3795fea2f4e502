import { refuse } from '../answer.ts'
import { type Fields, int64 } from '../fields.ts'
import type { Shop } from '../shop.ts'
import { issue } from './issue.ts'
import type { Order } from './order.ts'

/** The order with this id as it stands now, or undefined. */
export function findOrder(shop: Shop, orderId: bigint): Order | undefined {
  const order = shop.orders.get(orderId)
  // Instead of another system that reports the tickets when it has made them.
  if (order?.state === 'paying' && order.issuesAt <= shop.now().getTime()) issue(order)
  return order
}

/** The order that a request is about; `code` is the interface's code for an order that is not here. */
export function orderOf(shop: Shop, body: Fields, code: number): Order {
  const orderId = int64(body, 'orderId')
  return findOrder(shop, orderId) ?? refuse(code, `no order ${orderId}`)
}
