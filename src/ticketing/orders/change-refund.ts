import { type Deps, inTransaction } from '../../platform/deps.ts'
import { type Cause, difference } from '../../platform/history/index.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { RefusedRequest } from '../../platform/lib/web/rescode.ts'
import { changeOrder } from './change-order.ts'
import { ownOrder } from './consumption.ts'
import { illegalRefundTransition, noSuchRefund } from './errors.ts'
import { lockOrder, type OrderRow, type VoucherRow, vouchersOf } from './order-store.ts'
import { withQuantities } from './quantities.ts'
import { findRefund, type RefundRow, type RefundUpdate, refundsOf, saveRefund } from './refund-store.ts'
import { isRefundTransition, laterVoucherState, REFUND_STATES } from './states.ts'
import { countedByState, soleCode, type TicketTotals, withClaims } from './voucher-counts.ts'

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
  const totals = { ...quantities, quantity: order.quantity }
  const before = await vouchersOf(deps.db, order.order_id)
  const update = { ...quantities, vouchers: refundedVouchers(before, ticketsByVoucher(refund, done), totals) }
  await changeOrder(deps, order, update, cause, before)
}

/** Codes that are refunded, in part or all; where no ticket is left, those that are not used too. */
function refundedVouchers(
  before: readonly VoucherRow[],
  named: ReadonlyMap<string, number>,
  totals: TicketTotals,
): VoucherRow[] {
  const sole = soleCode(before, totals)
  if (sole) return [sole]
  const nothingLeft = totals.used_quantity + totals.refunded_quantity === totals.quantity
  const all = (voucher: VoucherRow) => (nothingLeft && voucher.state === 'unused' ? voucher.quantity : 0)
  const claims = new Map(
    before
      .map((voucher) => ({ voucher, refunded: Math.max(all(voucher), named.get(voucher.voucher) ?? 0) }))
      .filter(({ refunded }) => refunded > 0)
      .map(({ voucher, refunded }) => [voucher.voucher, { used: 0, refunded }] as const),
  )
  const moved = before.map((voucher) => {
    if (voucher.quantity > 1 || !claims.has(voucher.voucher)) return voucher
    return { ...voucher, ...countedByState(laterVoucherState(voucher.state, 'refunded')) }
  })
  return withClaims(moved, claims, totals).filter(({ voucher }) => claims.has(voucher))
}

const ticketsOf = (refunds: readonly RefundRow[]): number =>
  refunds.reduce((sum, { refund_quantity }) => sum + refund_quantity, 0)

/** A voucher for several tickets stays valid when some of them are refunded. */
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

/** The partner's decision on a refund that it had under review: 200 refunded, 606 and 699 refused. */
export interface RefundResult {
  readonly refundId: string
  readonly orderId: bigint
  readonly partnerOrderId: string
  readonly code: 200 | 606 | 699
  readonly describe: string
}

/** Ends a refund; the same decision again changes nothing, the opposite one is refused. */
export async function applyRefundResult(
  deps: Deps,
  partnerId: bigint,
  result: RefundResult,
  cause: Cause,
): Promise<void> {
  await inTransaction(deps, async (inside, db) => {
    const order = ownOrder(await lockOrder(db, result.orderId), partnerId, result)
    const refund = await findRefund(db, partnerId, result.refundId)
    if (!refund || refund.order_id !== order.order_id) throw noSuchRefund(result.refundId)
    const state = result.code === 200 ? 'refunded' : 'refused'
    if (refund.state === state) return
    if (REFUND_STATES[refund.state].next.length === 0) {
      throw new RefusedRequest(
        localized('refund-decided', { refund: refund.refund_id, state: refund.state, to: state }),
      )
    }
    const update = { state, decision_code: result.code, reason: result.describe } as const
    await changeRefund(inside, order, refund, update, cause)
  })
}
