import type { Answer } from '../answer.ts'
import { type Fields, text, texts, whole } from '../fields.ts'
import type { Shop } from '../shop.ts'
import { orderOf } from './issue.ts'
import { isClosed, type Order, type Ticket, ticketsThatAre } from './order.ts'
import { decide, openRefund } from './refund.ts'

const EVERYTHING = -1

/**
 * Refunded message: the platform has given the money back on its own account, so the tickets must not be used any
 * more. It is a fact and not a question: it is answered with success, and has its effect once for one refundSerialNo.
 */
export function noteRefunded(shop: Shop, body: Fields): Answer {
  const order = orderOf(shop, body, 300)
  const serial = text(body, 'refundSerialNo')
  const count = Number(body.refundPrice) === EVERYTHING ? order.quantity : whole(body, 'count')
  if (isClosed(order)) return {}
  if (order.state !== 'issued') {
    order.state = 'pay failed'
    return {}
  }
  // The serial may be that of a refund whose review has taken us too long: then this decides it.
  const known = shop.refunds.get(serial)
  const refund = known ?? openRefund(shop, serial, order, ticketsMeant(order, texts(body, 'voucherList'), count))
  if (refund.state === 'reviewing') decide(refund, true, '', shop.now())
  return {}
}

/** Unused tickets first, then those that a review holds; a used one cannot be taken back. */
function ticketsMeant(order: Order, vouchers: readonly string[], count: number): Ticket[] {
  const open = [...ticketsThatAre(order, 'unused'), ...ticketsThatAre(order, 'held')]
  return open.filter(({ voucher = '' }) => vouchers.length === 0 || vouchers.includes(voucher)).slice(0, count)
}
