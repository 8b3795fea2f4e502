import { randomUUID } from 'node:crypto'
import type { Deps } from '../../platform/deps.ts'
import type { Cause } from '../../platform/history/index.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { beijingTime } from '../../platform/lib/time-zone.ts'
import { RefusedRequest } from '../../platform/lib/web/rescode.ts'
import {
  type AnswerOf,
  type CallCause,
  type CallDeps,
  type CallProblem,
  type CallResult,
  callPartner,
  existingPartner,
  failureOf,
  statedNow,
} from '../partner-calls/index.ts'
import type { PartnerWithSecrets } from '../partners/index.ts'
import { beginRefund, type RefundToSend, requireSameContents, resumeRefund } from './begin-refund.ts'
import { changedBy } from './change-order.ts'
import { changeRefund, settleRefund } from './change-refund.ts'
import { illegalOrderTransition, noSuchRefund } from './errors.ts'
import { credentialListOf } from './issue-tickets.ts'
import { checkPartialRefund, refundContent } from './new-refund.ts'
import {
  ASK_AGAIN_IN_S,
  dropRefundedMessage,
  isInFlight,
  queueRefundedMessage,
  type RefundedMessage,
  settleByJob,
} from './order-jobs.ts'
import { existingOrder, type OrderResult, recordAsked, resultFor, withOrder } from './order-result.ts'
import { type OrderRow, vouchersOf } from './order-store.ts'
import { queryOrder } from './query-order.ts'
import { findRefund, insertRefund, type RefundRow, type RefundUpdate, refundsOf } from './refund-store.ts'
import type { OrderState } from './states.ts'
import { type NewRefundedMessage, newRefund, newRefundedMessage } from './wire.ts'

/** States in which the platform may refund by itself: 1 by customer service, 2 payment never confirmed. */
const FROM: Readonly<Record<1 | 2, readonly OrderState[]>> = { 1: ['paid'], 2: ['paying', 'pay_unknown'] }
const SEND_AGAIN_IN_S = 20

/**
 * Refunds by the platform's own decision. It holds whatever the partner answers, so it is stored first; a job repeats a
 * message that does not arrive, under the same number.
 */
export const refundByPlatform = operation(
  newRefundedMessage,
  async (deps: CallDeps, input, cause: CallCause): Promise<OrderAndRefund> => {
    const { order_id: orderId, refund_id: refundId = randomUUID(), type, reason } = input
    const message = { orderId, refundId, type, reason }
    await withOrder(deps, orderId, async (inside, order) => {
      await recordAsked(inside, 'order_refunded_asked', order, { refund_id: refundId, type })
      const known = await findRefund(inside.db, order.partner_id, refundId)
      if (known) requireSameContents(known, order, input)
      const refund = known ?? (await storeRefund(inside, order, refundId, input, changedBy(cause)))
      const update = { state: 'refunded', decision_code: null, reason: reason ?? null } as const
      if (refund.state !== 'refunded') await changeRefund(inside, order, refund, update, changedBy(cause))
      await queueRefundedMessage(inside, order.partner_id, message, SEND_AGAIN_IN_S)
    })
    const failure = await sendRefundedMessage(deps, message, cause)
    if (failure === null) await dropRefundedMessage(deps.db, message)
    return withRefund(deps, await resultFor(deps, orderId, failure), refundId)
  },
)

/** A payment in progress could issue tickets after the refund, and a partial refund would leave unknown tickets. */
function checkNeverConfirmed(deps: Deps, order: OrderRow, quantity: number): void {
  if (isInFlight(deps, order)) throw new RefusedRequest(localized('call-about-order', { order: order.order_id }))
  if (quantity === order.quantity) return
  throw new RefusedRequest(localized('never-confirmed', { order: order.order_id }))
}

async function storeRefund(
  deps: Deps,
  order: OrderRow,
  refundId: string,
  input: NewRefundedMessage,
  cause: Cause,
): Promise<RefundRow> {
  const { db, clock } = deps
  if (input.type === 3) throw noSuchRefund(refundId)
  if (!FROM[input.type].includes(order.state)) throw illegalOrderTransition(order.order_id, order.state, 'refunded')
  const { order_id, partner_id } = order
  const content = refundContent(order, await vouchersOf(db, order_id), await refundsOf(db, order_id), input)
  if (input.type === 2) checkNeverConfirmed(deps, order, content.refund_quantity)
  if (!input.partly) await checkPartialRefund(deps, order, content.refund_quantity)
  const row = { ...content, partner_id, order_id, refund_id: refundId, state: 'requested' } as const
  return insertRefund(db, row, { cause, now: clock.now() })
}

/** Sends the message once; safe to repeat. Returns the failure, if any. */
export async function sendRefundedMessage(
  deps: CallDeps,
  message: RefundedMessage,
  cause: CallCause,
): Promise<CallProblem | null> {
  const { orderId, refundId, type, reason = '' } = message
  const order = await existingOrder(deps, orderId)
  const partner = await existingPartner(deps, order.partner_id)
  const refund = await storedRefund(deps, order, refundId)
  const whole = Math.round(order.unit_price * order.quantity * 100) / 100
  const all = refund.refund_quantity === order.quantity && refund.refund_price === whole
  const body = {
    orderId,
    partnerOrderId: order.partner_order_id ?? '',
    refundSerialNo: refundId,
    voucherList: refund.vouchers,
    refundPrice: all ? -1 : refund.refund_price,
    refundMessageType: type,
    reason,
    refundTime: beijingTime(refund.updated_at),
    count: refund.refund_quantity,
  }
  return failureOf(await callPartner(deps, partner, 'order-refunded', body, { orderId, cause }))
}

async function storedRefund(
  { db }: Deps,
  { order_id, partner_id }: Pick<OrderRow, 'order_id' | 'partner_id'>,
  refundId: string,
): Promise<RefundRow> {
  const refund = await findRefund(db, partner_id, refundId)
  if (refund?.order_id !== order_id) throw noSuchRefund(refundId)
  return refund
}

/** Whether the answer of a refund was lost, or is still to come. */
export const isLostRefund = ({ state }: RefundRow): boolean => state === 'unknown' || state === 'asking'

export type OrderAndRefund = OrderResult & { readonly refund: RefundRow }

const withRefund = async (deps: Deps, result: OrderResult, refundId: string): Promise<OrderAndRefund> => ({
  ...result,
  refund: await storedRefund(deps, result.order, refundId),
})

const ALREADY_REFUNDED = 601

/**
 * Asks the partner to refund tickets. 200: they are refunded; 602: the partner reviews it and will send a notice. The
 * same refund_id again is the same refund: it is returned, or sent again; if a response was lost, the partner is
 * queried first, which a job does too.
 */
export const refundOrder = operation(
  newRefund,
  async (deps: CallDeps, input, cause: CallCause): Promise<OrderAndRefund> => {
    const { order_id: orderId, refund_id: refundId = randomUUID() } = input
    const partner = await existingPartner(deps, (await existingOrder(deps, orderId)).partner_id)
    let begun = await withOrder(deps, orderId, async (inside, order) => {
      await recordAsked(inside, 'order_refund_asked', order, { refund_id: refundId })
      return beginRefund(inside, order, refundId, input, changedBy(cause))
    })
    if (begun === 'lost') {
      const queried = await queryOrder(deps, orderId, cause)
      if (queried.failure) return withRefund(deps, queried, refundId)
      begun = await withOrder(deps, orderId, (inside, order) => resumeRefund(inside, order, refundId, changedBy(cause)))
    }
    if (typeof begun === 'string') return withRefund(deps, await resultFor(deps, orderId), refundId)
    const result = await ask(deps, partner, begun, cause)
    const update = decisionOf(result, begun)
    const answered: Cause = { kind: 'call', id: result.callId }
    await withOrder(deps, orderId, async (inside, order) => {
      await settleRefund(inside, order, refundId, update, answered)
      const isLost = (await refundsOf(inside.db, orderId)).some(isLostRefund)
      await settleByJob(inside, order, 'refunds', changedBy(cause), isLost ? ASK_AGAIN_IN_S : undefined)
    })
    return withRefund(deps, await resultFor(deps, orderId, failureOf(result)), refundId)
  },
)

async function ask(deps: CallDeps, partner: PartnerWithSecrets, { order, refund }: RefundToSend, cause: CallCause) {
  const { order_id: orderId } = order
  const body = {
    orderId,
    refundId: refund.refund_id,
    partnerOrderId: order.partner_order_id ?? '',
    partnerDealId: order.partner_deal_id,
    voucherList: refund.vouchers,
    credentialList: await credentialListOf(deps, order, refund),
    refundQuantity: refund.refund_quantity,
    unitPrice: order.unit_price,
    refundPrice: refund.refund_price,
    refundFee: refund.refund_fee,
    refundTime: beijingTime(statedNow(deps)),
  }
  return callPartner(deps, partner, 'order-refund', body, { orderId, cause })
}

function decisionOf(result: CallResult<AnswerOf<'order-refund'>>, { repeated }: RefundToSend): RefundUpdate {
  if (result.outcome === 'success') return { state: 'refunded', decision_code: 200, reason: null }
  if (result.outcome === 'pending') return { state: 'reviewing', decision_code: result.code, reason: result.describe }
  const { kind, code = null, detail, maybe_received } = result.failure
  // For a refund that was sent before, "already refunded" is the answer that was lost.
  if (code === ALREADY_REFUNDED && repeated) return { state: 'refunded', decision_code: code, reason: detail }
  if (kind === 'partner-code') return { state: 'refused', decision_code: code, reason: detail }
  // An earlier attempt may have arrived, even if this call certainly did not.
  return { state: maybe_received || repeated ? 'unknown' : 'requested', decision_code: null, reason: detail }
}
