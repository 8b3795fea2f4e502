import { isClosed, type Order, orderOf, type Refund, type Shop, type Ticket, ticketsThatAre } from './shop.ts'
import { type Answer, beijingTime, type Fields, positive, refuse, text, texts, whole } from './wire.ts'

/** Order refund: once per refundId, however often it is called. */
export function refundOrder(shop: Shop, body: Fields): Answer {
  const refundId = text(body, 'refundId')
  // Money must not be given back twice: answer with the refund's present state.
  const known = shop.refunds.get(refundId)
  if (known) return answerOf(known)

  const order = orderOf(shop, body, 699)
  if (order.state !== 'issued') refuse(699, 'no tickets have been issued')
  if (order.product.refunds === 'never') refuse(607, 'this product is not refundable')
  const tickets = chooseTickets(order, positive(body, 'refundQuantity'), texts(body, 'voucherList'))
  const refund = openRefund(shop, refundId, order, tickets)
  if (order.product.refunds === 'at once') decide(refund, true, '', shop.now())
  return answerOf(refund)
}

/** Holds the tickets, so that nobody can enter with them or have them refunded twice. */
function openRefund(shop: Shop, refundId: string, order: Order, tickets: readonly Ticket[]): Refund {
  const refund: Refund = { refundId, order, tickets, state: 'reviewing', reason: '', requestedAt: shop.now() }
  for (const ticket of tickets) ticket.state = 'held'
  shop.refunds.set(refundId, refund)
  return refund
}

/** The tickets to refund: those of the given vouchers, or any unused ones. */
function chooseTickets(order: Order, quantity: number, vouchers: readonly string[]): Ticket[] {
  if (ticketsThatAre(order, 'refunded').length === order.quantity) refuse(601, 'everything is already refunded')
  const isNamed = ({ voucher = '' }: Ticket): boolean => vouchers.length === 0 || vouchers.includes(voucher)
  const free = ticketsThatAre(order, 'unused').filter(isNamed)
  if (free.length < quantity) refuse(606, `${free.length} of these tickets are unused, ${quantity} were asked for`)
  return free.slice(0, quantity)
}

/** Ends a review. */
export function decide(refund: Refund, approve: boolean, reason: string, now: Date): void {
  refund.state = approve ? 'refunded' : 'refused'
  refund.reason = reason
  refund.decidedAt = now
  for (const ticket of refund.tickets) {
    if (ticket.state === 'held') ticket.state = approve ? 'refunded' : 'unused'
  }
}

const CODES = { reviewing: 602, refunded: 200, refused: 606 } as const

/** The content of both the answer of order refund and the refund notice. */
export function answerOf(refund: Refund): Answer & { code: number; describe: string } {
  const { refundId, order, state, reason, requestedAt, decidedAt } = refund
  const describe = { reviewing: 'under review', refunded: 'success', refused: reason || 'refused' }[state]
  return {
    code: CODES[state],
    describe,
    body: {
      orderId: order.orderId,
      refundId,
      partnerOrderId: order.partnerOrderId,
      requestTime: beijingTime(requestedAt),
      ...(decidedAt ? { responseTime: beijingTime(decidedAt) } : {}),
    },
  }
}

const EVERYTHING = -1

/**
 * Refunded message: the platform has given the money back on its own account, so the tickets must no longer be used. It
 * states a fact, so it always succeeds; it takes effect once per refundSerialNo.
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
  // The serial may be that of a refund whose review took too long: then this message decides it.
  const known = shop.refunds.get(serial)
  const refund = known ?? openRefund(shop, serial, order, ticketsMeant(order, texts(body, 'voucherList'), count))
  if (refund.state === 'reviewing') decide(refund, true, '', shop.now())
  return {}
}

/** Unused tickets first, then those held by a review; a used one cannot be taken back. */
function ticketsMeant(order: Order, vouchers: readonly string[], count: number): Ticket[] {
  const open = [...ticketsThatAre(order, 'unused'), ...ticketsThatAre(order, 'held')]
  return open.filter(({ voucher = '' }) => vouchers.length === 0 || vouchers.includes(voucher)).slice(0, count)
}
