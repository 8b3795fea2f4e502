import type { Deps } from '../../platform/deps.ts'
import { type Cause, wasSentForPayment } from '../../platform/history/index.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { problemsText, type ShapeProblem } from '../../platform/lib/json/shape.ts'
import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { echo, RefusedRequest } from '../../platform/lib/web/rescode.ts'
import { codesOfFailure, ORDER_STATUS } from '../interfaces/index.ts'
import {
  type AnswerOf,
  type CallCause,
  type CallDeps,
  type CallProblem,
  type CallResult,
  callPartner,
  existingPartner,
} from '../partner-calls/index.ts'
import { endCounted } from './begin-refund.ts'
import { changedBy, changeOrder, contradict, reopenPayment } from './change-order.ts'
import { storeAdditional, storeCredentials } from './issue-tickets.ts'
import { awaitsAnswer, dropQuery, ISSUING, isInFlight, queueQuery } from './order-jobs.ts'
import { type OrderResult, recordAsked, resultFor, withOrder } from './order-result.ts'
import { type OrderRow, type VoucherRow, vouchersOf } from './order-store.ts'
import { mergedVouchers, type ReportedVoucher, USED, withQuantities } from './quantities.ts'
import { refundedTickets, refundsOf } from './refund-store.ts'
import { codesIn, countCodes, fittingCodes, promisedCodes } from './reported-codes.ts'
import { ISSUED_STATES, type OrderState } from './states.ts'

/** Queries an order at the partner and applies the answer. Safe at any time, and the way out of *_unknown. */
export async function queryOrder(deps: CallDeps, orderId: bigint, cause: CallCause): Promise<OrderResult> {
  const order = await withOrder(deps, orderId, async (inside, found) => {
    await recordAsked(inside, 'order_query_asked', found)
    if (isInFlight(deps, found))
      throw new RefusedRequest(localized('call-in-progress', { order: orderId, state: found.state }))
    if (!awaitsAnswer(found)) return found
    const state = found.state === 'creating' ? 'create_unknown' : 'pay_unknown'
    return changeOrder(inside, found, { state }, changedBy(cause))
  })
  const partner = await existingPartner(deps, order.partner_id)
  const body = { orderId, partnerOrderId: order.partner_order_id ?? '' }
  const result = await callPartner(deps, partner, 'order-query', body, { orderId, cause })
  const failure = await withOrder(deps, orderId, (inside, found) => applyQueryResult(inside, found, result, order))
  return resultFor(deps, orderId, failure)
}

type Answer = AnswerOf<'order-query'>
type Body = Answer['body']

const { created, createFailed, issued, paying, payFailed } = ORDER_STATUS

/** What the partner's orderStatus means for an open order. Other orders do not change state by it. */
const NEXT_STATES: Readonly<Partial<Record<OrderState, Readonly<Partial<Record<Body['orderStatus'], OrderState>>>>>> = {
  create_unknown: {
    [created]: 'created',
    [createFailed]: 'create_failed',
    // We have not paid it, so it is only created, whatever the partner reports.
    [issued]: 'created',
    [paying]: 'created',
    [payFailed]: 'created',
  },
  pay_unknown: { [created]: 'created', [issued]: 'paid', [paying]: 'paying', [payFailed]: 'pay_failed' },
  paying: { [issued]: 'paid', [payFailed]: 'pay_failed' },
  pay_failed: { [issued]: 'paid', [paying]: 'paying' },
}
const FAILURES: readonly Body['orderStatus'][] = [createFailed, payFailed]
const WAITING: readonly OrderState[] = ['paying', 'pay_unknown']
const CREATED_STATES: readonly OrderState[] = ['created', 'pay_failed', ...WAITING]
const UNPAID_STATES: readonly OrderState[] = ['create_unknown', 'create_failed', 'closing', 'closed']
const PAID_STATUSES: readonly Body['orderStatus'][] = [issued, paying]
const NO_SUCH_ORDER = 301
/** voucherType */
const NO_CODES = 0
const ISSUING_AGAIN_IN_S = 5
const CALL_SETTLES_S = 60

/**
 * Applies the answer to order query to a locked order. `asked` is the order as it was when the query was sent: if its
 * state has changed since, the answer is outdated and does not change it. Returns the problems of the answer.
 * Contradictions of our records are kept for operators.
 */
async function applyQueryResult(
  deps: Deps,
  order: OrderRow,
  result: CallResult<Answer>,
  asked: OrderRow,
): Promise<CallProblem | null> {
  const cause: Cause = { kind: 'call', id: result.callId }
  const current = order.revision === asked.revision
  if (result.outcome === 'pending') return null
  if (result.outcome === 'failed') {
    const { failure } = result
    if (!current || order.state !== 'create_unknown' || failure.code !== NO_SUCH_ORDER) return failure
    if (isTooEarly(deps, order)) return failure
    const update = { state: 'create_failed', last_code: NO_SUCH_ORDER, last_describe: failure.detail } as const
    await changeOrder(deps, order, update, cause)
    await dropQuery(deps.db, order.order_id)
    return null
  }
  const { body } = result.answer
  const codes = codesIn(body.voucherList, body.credentialList)
  const problems = [...contradictions(order, body), ...(await contradictedCodes(deps, order, body))]
  const differences = [...problems, ...(await behind(deps, asked, body)), ...(await missingRefunds(deps, order, body))]
  if (order.updated_at.getTime() === asked.updated_at.getTime())
    differences.push(...usedButRefunded(await vouchersOf(deps.db, order.order_id), codes))
  differences.push(...(await wrongCodes(deps, order, body)))
  const kept = await contradict(deps, order, differences.length > 0 ? problemsText(differences) : null, cause)
  if (problems.length > 0) {
    if (isOnlyMoreUsed(order, body)) await endCounted(deps, kept, { refunded: body.refundedQuantity, codes }, cause)
    return { kind: 'schema', detail: problemsText(problems), maybe_received: true, problems }
  }
  const paidThere = current && PAID_STATUSES.includes(body.orderStatus)
  const open = paidThere ? await reopenPayment(deps, kept, cause) : kept
  const decided = current ? await decide(deps, open, body, cause) : kept
  if (!ISSUED_STATES.includes(decided.state)) return null
  const moved = await moveQueriedTickets(deps, decided, body, cause)
  await endCounted(deps, moved, { refunded: moved.refunded_quantity, codes }, cause)
  return null
}

const at = (path: string, problem: LocalizedText): ShapeProblem[] => [{ path, problem }]

function contradictions(order: OrderRow, body: Body): ShapeProblem[] {
  const { orderStatus, orderQuantity, usedQuantity, refundedQuantity, voucherList, credentialList } = body
  const { quantity } = order
  const codes = FAILURES.includes(orderStatus)
    ? codesOfFailure({ voucherList, credentialList }, `orderStatus ${orderStatus}`)
    : undefined
  if (codes) return [codes]
  if (orderQuantity !== quantity)
    return at('body.orderQuantity', localized('other-count', { named: orderQuantity, count: quantity }))
  const used = Math.max(order.used_quantity, usedQuantity)
  const refunded = Math.max(order.refunded_quantity, refundedQuantity)
  if (used + refunded <= quantity) return []
  return at('body', localized('more-than-quantity', { used, refunded, quantity }))
}

/** Counts below ours, or a status that no such order has. They change nothing here, but one side is wrong. */
async function behind(deps: Deps, asked: OrderRow, body: Body): Promise<ShapeProblem[]> {
  const { orderStatus, usedQuantity, refundedQuantity } = body
  const counted = (path: string, named: number, count: number): ShapeProblem[] =>
    named < count ? at(path, localized('behind-ours', { named, count })) : []
  const status = localized('status-of-issued', { named: orderStatus, state: asked.state })
  return [
    ...counted('body.usedQuantity', usedQuantity, asked.used_quantity),
    ...counted('body.refundedQuantity', refundedQuantity, asked.refunded_quantity),
    ...((await hasOtherStatus(deps, asked, orderStatus)) ? at('body.orderStatus', status) : []),
  ]
}

/** Whether the partner calls an order with tickets not issued, one without them paid, or a created one not created. */
async function hasOtherStatus({ db }: Deps, { order_id, state }: OrderRow, status: Body['orderStatus']) {
  if (ISSUED_STATES.includes(state)) return status !== issued
  if (status === createFailed) return CREATED_STATES.includes(state)
  if (!PAID_STATUSES.includes(status)) return false
  return state === 'created' ? !(await wasSentForPayment(db, order_id)) : UNPAID_STATES.includes(state)
}

/** Codes that the partner reports as used although they were refunded here. */
function usedButRefunded(before: readonly VoucherRow[], reported: readonly ReportedVoucher[]): ShapeProblem[] {
  const used = new Set(reported.filter(({ status }) => status === USED).map(({ voucher }) => voucher))
  return before
    .filter(({ voucher, state }) => state === 'refunded' && used.has(voucher))
    .flatMap(({ voucher }) => at('body.voucherList', localized('used-but-refunded', { voucher: echo(voucher) })))
}

/** Refunds that were decided although their tickets are used, so our own counts leave them out. */
async function missingRefunds({ db }: Deps, order: OrderRow, { refundedQuantity: named }: Body) {
  const count = refundedTickets(await refundsOf(db, order.order_id))
  if (order.used_quantity + count <= order.quantity || named >= count) return []
  return at('body.refundedQuantity', localized('behind-ours', { named, count }))
}

/** More codes than tickets (as many as fit are kept), or fewer than voucherType promises. */
async function wrongCodes({ db }: Deps, order: OrderRow, body: Body): Promise<ShapeProblem[]> {
  if (body.orderStatus !== issued) return []
  const codes = countCodes(await vouchersOf(db, order.order_id), codesIn(body.voucherList, body.credentialList))
  if (codes <= order.quantity && codes >= (promisedCodes(body, order.quantity) ?? 0)) return []
  return at('body.voucherList', localized('other-count', { named: codes, count: order.quantity }))
}

/** Whether the partner's counts are valid and contradict ours only because we know of more used tickets. */
const isOnlyMoreUsed = (
  { quantity, used_quantity }: OrderRow,
  { orderStatus, orderQuantity, usedQuantity, refundedQuantity }: Body,
): boolean =>
  orderStatus === issued &&
  orderQuantity === quantity &&
  usedQuantity < used_quantity &&
  usedQuantity + refundedQuantity <= quantity

/** Tickets of an order with codes are issued; if the partner denies it, operators have to check. */
async function contradictedCodes({ db }: Deps, order: OrderRow, { orderStatus }: Body): Promise<ShapeProblem[]> {
  const state = NEXT_STATES[order.state]?.[orderStatus]
  if (state !== 'pay_failed' && state !== 'created') return []
  if (!WAITING.includes(order.state)) return []
  const [issued] = await vouchersOf(db, order.order_id)
  if (!issued) return []
  return at('body.orderStatus', localized('status-of-codes', { named: orderStatus, voucher: issued.voucher }))
}

/**
 * A slow partner may still be working on the call whose answer was lost, so that it has not arrived ("created" for
 * "not paid", "no such order") counts only after a while.
 */
const isTooEarly = ({ clock }: Deps, { state_since }: OrderRow): boolean =>
  clock.now() < addSeconds(state_since, CALL_SETTLES_S)

async function decide(deps: Deps, order: OrderRow, body: Body, cause: Cause): Promise<OrderRow> {
  const partner_order_id = order.partner_order_id ?? body.partnerOrderId ?? null
  const state = NEXT_STATES[order.state]?.[body.orderStatus]
  if (state === undefined) return order
  if (order.state === 'pay_unknown' && state === 'created' && isTooEarly(deps, order)) return order
  const issuing = state === 'paying'
  const lastAnswer = { last_code: issuing ? ISSUING : null, last_describe: `orderStatus ${body.orderStatus}` }
  if (issuing) await queueQuery(deps, order, ISSUING_AGAIN_IN_S)
  else await dropQuery(deps.db, order.order_id)
  const vouchers_open = order.vouchers_open && state !== 'created' && state !== 'pay_failed'
  return changeOrder(deps, order, { state, partner_order_id, ...lastAnswer, vouchers_open }, cause)
}

/** Unlike in a notice, an unknown voucher is accepted: the query was about this order. */
async function moveQueriedTickets(deps: Deps, order: OrderRow, body: Body, cause: Cause): Promise<OrderRow> {
  const before = await vouchersOf(deps.db, order.order_id)
  const quantities = withQuantities(order, body)
  const reported = fittingCodes(before, codesIn(body.voucherList, body.credentialList), order.quantity)
  const vouchers = mergedVouchers(before, reported, { ...quantities, quantity: order.quantity })
  // Tickets without a code may get one later.
  const tooFew = countCodes(before, vouchers) < (promisedCodes(body, order.quantity) ?? 0)
  const vouchers_open = order.vouchers_open && (vouchers.length === 0 || body.voucherType === NO_CODES || tooFew)
  // Of a paid order it says that the partner is still issuing, so that its job asks again (poll-order.ts).
  const stillIssuing = vouchers_open && body.orderStatus === paying
  const last_code = stillIssuing ? ISSUING : order.last_code === ISSUING ? null : order.last_code
  const moved = await changeOrder(deps, order, { ...quantities, vouchers, vouchers_open, last_code }, cause, before)
  await storeAdditional(deps, order, body)
  await storeCredentials(deps, order, body)
  return moved
}
