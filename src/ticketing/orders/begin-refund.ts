import { isDeepStrictEqual } from 'node:util'
import type { Deps } from '../../platform/deps.ts'
import type { Cause } from '../../platform/history/index.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { echo, RefusedRequest } from '../../platform/lib/web/rescode.ts'
import { changeRefund } from './change-refund.ts'
import { illegalOrderTransition, noSuchRefund } from './errors.ts'
import { checkPartialRefund, isOpenRefund, type RefundInput, refundContent } from './new-refund.ts'
import { isRefundInFlight } from './order-jobs.ts'
import { type OrderRow, vouchersOf } from './order-store.ts'
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

/** Stores a new refund of a locked order, or resumes an existing one. */
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
  await changeRefund(
    deps,
    order,
    refund,
    { state: 'unknown', decision_code: null, reason: localized('no-response-kept') },
    cause,
  )
  return 'lost'
}

/** Call it after querying the order: if the partner's count does not include the refund, it is sent again. */
export async function resumeRefund(deps: Deps, order: OrderRow, refundId: string, cause: Cause): Promise<BegunRefund> {
  const refund = await findRefund(deps.db, order.partner_id, refundId)
  if (!refund) throw noSuchRefund(refundId)
  if (refund.state !== 'unknown') return 'settled'
  if (isCounted(order.refunded_quantity, refund, await refundsOf(deps.db, order.order_id))) {
    await endAsCounted(deps, order, refund, order.refunded_quantity, cause)
    return 'settled'
  }
  return { order, refund: await asking(deps, order, refund, cause), repeated: true }
}

/** Ends the refund whose response was lost, if the partner counts it although the used tickets leave no room for it. */
export async function endCounted(deps: Deps, order: OrderRow, counted: number, cause: Cause): Promise<void> {
  const refunds = await refundsOf(deps.db, order.order_id)
  const lost = refunds.find(({ state }) => state === 'unknown')
  if (lost && isCounted(counted, lost, refunds)) await endAsCounted(deps, order, lost, counted, cause)
}

function endAsCounted(deps: Deps, order: OrderRow, refund: RefundRow, counted: number, cause: Cause) {
  const reason = localized('counted-as-refunded', { count: counted })
  return changeRefund(deps, order, refund, { state: 'refunded', decision_code: null, reason }, cause)
}

/** Whether the partner's count includes this refund. While other refunds are open too, nobody can tell. */
function isCounted(counted: number, refund: RefundRow, refunds: readonly RefundRow[]): boolean {
  const others = refunds.filter(({ refund_id }) => refund_id !== refund.refund_id)
  return !others.some(isOpenRefund) && counted >= refundedTickets(others) + refund.refund_quantity
}

const asking = (deps: Deps, order: OrderRow, refund: RefundRow, cause: Cause): Promise<RefundRow> =>
  changeRefund(deps, order, refund, { state: 'asking', decision_code: null, reason: null }, cause)
