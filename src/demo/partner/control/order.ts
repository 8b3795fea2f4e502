import { refuse } from '../answer.ts'
import { type Fields, has, positive, text } from '../fields.ts'
import { refundDecided, ticketsUsed } from '../notices.ts'
import { orderOf } from '../order/issue.ts'
import { ticketsThatAre } from '../order/order.ts'
import { decide } from '../order/refund.ts'
import type { Notice } from '../outbox.ts'
import type { Shop } from '../shop.ts'

/** Visitors come to the gate with some of the order's tickets. */
export function consume(shop: Shop, input: Fields): Notice[] {
  const order = orderOf(shop, input, 400)
  const quantity = positive(input, 'quantity')
  if (order.state !== 'issued') refuse(400, 'no tickets have been issued')
  const unused = ticketsThatAre(order, 'unused')
  if (unused.length < quantity) refuse(400, `only ${unused.length} tickets are unused`)
  for (const ticket of unused.slice(0, quantity)) ticket.state = 'used'
  return [ticketsUsed(shop, order)]
}

/** A clerk decides on a refund under review. */
export function decideRefund(shop: Shop, input: Fields): Notice[] {
  const refundId = text(input, 'refundId')
  const refund = shop.refunds.get(refundId) ?? refuse(400, `no refund ${refundId}`)
  if (refund.state !== 'reviewing') refuse(400, `the refund is already ${refund.state}`)
  if (typeof input.approve !== 'boolean') refuse(400, 'approve must be true or false')
  decide(refund, input.approve, has(input, 'reason') ? text(input, 'reason') : '', shop.now())
  return [refundDecided(shop, refund)]
}
