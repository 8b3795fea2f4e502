import { isDeepStrictEqual } from 'node:util'
import { CALL_TIMES } from '../../platform/config/call-limits.ts'
import type { Deps } from '../../platform/deps.ts'
import { type Cause, refundedBefore } from '../../platform/history/index.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { echo, RefusedRequest } from '../../platform/lib/web/rescode.ts'
import { changeRefund } from './change-refund.ts'
import { illegalOrderTransition, noSuchRefund } from './errors.ts'
import { checkPartialRefund, isOpenRefund, type RefundInput, refundContent } from './new-refund.ts'
import { isRefundInFlight, settleByJob } from './order-jobs.ts'
import { type OrderRow, vouchersOf } from './order-store.ts'
import { isValidCode, type ReportedVoucher } from './quantities.ts'
import { findRefund, insertRefund, type RefundRow, refundedTickets, refundsOf } from './refund-store.ts'

/** A refund that the caller has moved to `asking`, so that nobody else sends it. */
export interface RefundToSend {
  readonly order: OrderRow
  readonly refund: RefundRow
  /** Whether an earlier attempt may have reached the partner. */
  readonly repeated: boolean
}

/** `lost`: the partner must be queried first; `settled`: there is nothing to do. */
export type BegunRefund = RefundToSend | 'lost' | 'settled'

export async function beginRefund(
  deps: Deps,
  order: OrderRow,
  refundId: string,
  input: RefundInput,
  cause: Cause,
): Promise<BegunRefund> {
  const { db, clock } = deps
  const known = await findRefund(db, order.partner_id, refundId)
  if (known) {
    requireSameContents(known, order, input)
    return continueRefund(deps, order, known, cause)
  }
  if (order.state !== 'paid') throw illegalOrderTransition(order.order_id, order.state, 'refunded')
  const content = refundContent(order, await vouchersOf(db, order.order_id), await refundsOf(db, order.order_id), input)
  if (!input.partly) await checkPartialRefund(deps, order, content.refund_quantity)
  const { order_id, partner_id } = order
  const row = { ...content, partner_id, order_id, refund_id: refundId, state: 'asking' } as const
  await settleByJob(deps, order, 'refunds', cause, CALL_TIMES.overS)
  return { order, refund: await insertRefund(db, row, { cause, now: clock.now() }), repeated: false }
}

/** Throws RefusedRequest for the id of another refund. Fields that are left out cannot differ, nor can a fee of 0. */
export function requireSameContents(known: RefundRow, order: OrderRow, input: RefundInput): void {
  const isSame =
    known.order_id === order.order_id &&
    (input.quantity ?? known.refund_quantity) === known.refund_quantity &&
    (input.refund_price ?? known.refund_price) === known.refund_price &&
    (input.refund_fee || known.refund_fee) === known.refund_fee &&
    (input.vouchers.length === 0 || isDeepStrictEqual(new Set(input.vouchers), new Set(known.vouchers)))
  if (!isSame) throw new RefusedRequest(localized('refund-exists', { refund: echo(known.refund_id) }))
}

async function continueRefund(deps: Deps, order: OrderRow, refund: RefundRow, cause: Cause): Promise<BegunRefund> {
  if (refund.state === 'unknown') return 'lost'
  if (refund.state === 'requested') return { order, refund: await asking(deps, order, refund, cause), repeated: false }
  if (refund.state !== 'asking' || isRefundInFlight(deps, refund)) return 'settled'
  const lost = { state: 'unknown', decision_code: null, reason: localized('no-response-kept') } as const
  await changeRefund(deps, order, refund, lost, cause)
  return 'lost'
}

/** Call it after querying the order, which ends a refund that the partner counts: any other is sent again. */
export async function resumeRefund(deps: Deps, order: OrderRow, refundId: string, cause: Cause): Promise<BegunRefund> {
  const refund = await findRefund(deps.db, order.partner_id, refundId)
  if (!refund) throw noSuchRefund(refundId)
  if (refund.state !== 'unknown') return 'settled'
  return { order, refund: await asking(deps, order, refund, cause), repeated: true }
}

interface Told {
  readonly refunded: number
  readonly codes: readonly ReportedVoucher[]
}

/** Ends the refund whose response was lost, if the partner's answer includes it. */
export async function endCounted(deps: Deps, order: OrderRow, told: Told, cause: Cause): Promise<void> {
  const refunds = await refundsOf(deps.db, order.order_id)
  const lost = refunds.find(({ state }) => state === 'unknown')
  if (!lost || !(await isCounted(deps, told, lost, refunds))) return
  const reason = localized('counted-as-refunded', { count: told.refunded })
  await changeRefund(deps, order, lost, { state: 'refunded', decision_code: null, reason }, cause)
}

/**
 * Whether the answer includes this refund: none of its codes is valid, and the count has room for its tickets beside
 * those of our other refunds and those that the partner had refunded by itself before. While other refunds are open
 * too, nobody can tell.
 */
async function isCounted(
  { db }: Deps,
  { refunded, codes }: Told,
  refund: RefundRow,
  refunds: readonly RefundRow[],
): Promise<boolean> {
  const { order_id, refund_id, refund_quantity, vouchers } = refund
  const others = refunds.filter((other) => other.refund_id !== refund_id)
  if (others.some(isOpenRefund)) return false
  const isOneTicketEach = vouchers.length === refund_quantity
  if (isOneTicketEach && codes.some((code) => isValidCode(code) && vouchers.includes(code.voucher))) return false
  const before = await refundedBefore(db, order_id, refund_id)
  const ours = refundedTickets(others.filter((other) => before.refund_ids.includes(other.refund_id)))
  return refunded >= refundedTickets(others) + Math.max(0, before.refunded_quantity - ours) + refund_quantity
}

async function asking(deps: Deps, order: OrderRow, refund: RefundRow, cause: Cause): Promise<RefundRow> {
  await settleByJob(deps, order, 'refunds', cause, CALL_TIMES.overS)
  return changeRefund(deps, order, refund, { state: 'asking', decision_code: null, reason: null }, cause)
}
