import type { Deps } from '../deps.ts'
import { type Cause, difference } from '../history/index.ts'
import { changeOrder } from './change-order.ts'
import { illegalRefundTransition } from './errors.ts'
import { type OrderRow, type VoucherRow, vouchersOf } from './order-store.ts'
import { withQuantities } from './quantities.ts'
import { type RefundRow, type RefundUpdate, refundsOf, saveRefund } from './refund-store.ts'
import { isRefundTransition, laterVoucherState } from './states.ts'

/** Moves a refund whose order is locked; a finished refund also changes tickets and vouchers of the order. */
export async function changeRefund(
  deps: Deps,
  order: OrderRow,
  refund: RefundRow,
  update: RefundUpdate,
  cause: Cause,
): Promise<RefundRow> {
  if (!isRefundTransition(refund.state, update.state))
    throw illegalRefundTransition(refund.refund_id, refund.state, update.state)
  const now = deps.clock.now()
  await saveRefund(deps.db, refund, update, difference(refund, update), { cause, now })
  const changed = { ...refund, ...update, updated_at: now }
  if (update.state === 'refunded') await moveRefundedTickets(deps, order, changed, cause)
  return changed
}

/** Refunds of ours and the partner's cumulative count describe the same tickets, so the larger of both sums holds. */
async function moveRefundedTickets(deps: Deps, order: OrderRow, refund: RefundRow, cause: Cause): Promise<void> {
  const refunds = await refundsOf(deps.db, order.order_id)
  const done = refunds.filter(({ state }) => state === 'refunded')
  const quantities = withQuantities(order, { usedQuantity: order.used_quantity, refundedQuantity: ticketsOf(done) })
  const nothingLeft = quantities.used_quantity + quantities.refunded_quantity === order.quantity
  const before = nothingLeft || refund.vouchers.length > 0 ? await vouchersOf(deps.db, order.order_id) : []
  const named = ticketsByVoucher(refund, done)
  const ended = before.filter(
    ({ voucher, state, quantity }) =>
      (nothingLeft && state === 'unused') || quantity <= (named.get(voucher) ?? Number.NEGATIVE_INFINITY),
  )
  const update = { ...quantities, vouchers: ended.map(asRefunded) }
  await changeOrder(deps, order, update, cause, before)
}

const ticketsOf = (refunds: readonly RefundRow[]): number =>
  refunds.reduce((sum, { refund_quantity }) => sum + refund_quantity, 0)

/**
 * How many tickets of a voucher are refunded: a voucher for several tickets stays valid when some of them are refunded.
 */
function ticketsByVoucher(refund: RefundRow, done: readonly RefundRow[]): ReadonlyMap<string, number> {
  const tickets = new Map(refund.vouchers.map((voucher) => [voucher, 0]))
  for (const { vouchers, refund_quantity } of done) {
    for (const voucher of new Set(vouchers)) {
      const sum = tickets.get(voucher)
      if (sum !== undefined) tickets.set(voucher, sum + refund_quantity)
    }
  }
  return tickets
}

const asRefunded = (voucher: VoucherRow): VoucherRow => ({
  ...voucher,
  state: laterVoucherState(voucher.state, 'refunded'),
})
