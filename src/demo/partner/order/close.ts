import { type Answer, refuse } from '../answer.ts'
import { type Fields, int64, whole } from '../fields.ts'
import type { Shop } from '../shop.ts'
import { findOrder } from './issue.ts'
import { isClosed, ticketsThatAre } from './order.ts'

const CREATE_FAILED = 2

/** Order close: the platform is done with this order. Closing again is a success, for the first answer may be lost. */
export function closeOrder(shop: Shop, body: Fields): Answer {
  const orderId = int64(body, 'orderId')
  const closeType = whole(body, 'closeType')
  const order = findOrder(shop, orderId)
  if (!order) {
    // Its create may still be on the way here: it must not open an order that the platform has given up.
    shop.closedUnseen.add(orderId)
    return {}
  }
  if (isClosed(order)) return {}
  if (ticketsThatAre(order, 'used').length > 0) refuse(300, 'tickets of this order have been used')
  order.state = closeType === CREATE_FAILED ? 'create failed' : 'pay failed'
  return {}
}
