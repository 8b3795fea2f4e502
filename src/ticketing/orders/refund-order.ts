import { randomUUID } from 'node:crypto'
import type { Deps } from '../../platform/deps.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { beijingTime } from '../../platform/lib/time-zone.ts'
import {
  type AnswerOf,
  type CallCause,
  type CallDeps,
  type CallResult,
  callPartner,
  existingPartner,
  failureOf,
  statedNow,
} from '../partner-calls/index.ts'
import type { PartnerWithSecrets } from '../partners/index.ts'
import { beginRefund, resumeRefund, type ToAsk } from './begin-refund.ts'
import { changedBy } from './change-order.ts'
import { changeRefund } from './change-refund.ts'
import { noSuchRefund } from './errors.ts'
import { credentialListOf } from './issue-tickets.ts'
import { existingOrder, type OrderResult, recordAsked, resultFor, withOrder } from './order-result.ts'
import type { OrderRow } from './order-store.ts'
import { queryOrder } from './query-order.ts'
import { findRefund, type RefundRow, type RefundUpdate } from './refund-store.ts'
import { isRefundTransition } from './states.ts'
import { newRefund } from './wire.ts'

/** A refund after an operation, with its order. */
export type OrderAndRefund = OrderResult & { readonly refund: RefundRow }

const ALREADY_REFUNDED = 601

/**
 * Asks the partner to refund tickets: 200: they are refunded; 602: the partner reviews it and will send a notice. The
 * same refund_id again is the same refund: it is returned, or sent again; if a response was lost, the partner is
 * queried first.
 */
export const refundOrder = operation(
  newRefund,
  async (deps: CallDeps, input, cause: CallCause): Promise<OrderAndRefund> => {
    const { order_id: orderId, refund_id: refundId = randomUUID() } = input
    const partner = await existingPartner(deps, (await existingOrder(deps, orderId)).partner_id)
    const done = async (answer: OrderResult): Promise<OrderAndRefund> => {
      const refund = await findRefund(deps.db, partner.partner_id, refundId)
      if (!refund) throw noSuchRefund(refundId)
      return { ...answer, refund }
    }
    let begun = await withOrder(deps, orderId, async (inside, order) => {
      await recordAsked(inside, 'order_refund_asked', order, { refund_id: refundId })
      return beginRefund(inside, order, refundId, input, changedBy(cause))
    })
    if (begun === 'lost') {
      const queried = await queryOrder(deps, orderId, cause)
      if (queried.failure) return done(queried)
      begun = await withOrder(deps, orderId, (inside, order) => resumeRefund(inside, order, refundId, changedBy(cause)))
    }
    if (typeof begun === 'string') return done(await resultFor(deps, orderId))
    const result = await ask(deps, partner, begun, cause)
    const update = decisionOf(result, begun)
    await withOrder(deps, orderId, (inside, order) => settle(inside, order, refundId, update, result.callId))
    return done(await resultFor(deps, orderId, failureOf(result)))
  },
)

async function ask(deps: CallDeps, partner: PartnerWithSecrets, { order, refund }: ToAsk, cause: CallCause) {
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

/** A notice may have decided during the call: a transition that is no longer legal is outdated. */
async function settle(
  deps: Deps,
  order: OrderRow,
  refundId: string,
  update: RefundUpdate,
  callId: string,
): Promise<void> {
  const refund = await findRefund(deps.db, order.partner_id, refundId)
  if (!refund || !isRefundTransition(refund.state, update.state) || refund.state === update.state) return
  await changeRefund(deps, order, refund, update, { kind: 'call', id: callId })
}

function decisionOf(result: CallResult<AnswerOf<'order-refund'>>, { repeated }: ToAsk): RefundUpdate {
  if (result.outcome === 'success') return { state: 'refunded', decision_code: 200, reason: null }
  if (result.outcome === 'pending') return { state: 'reviewing', decision_code: result.code, reason: result.describe }
  const { kind, code = null, detail, maybe_received } = result.failure
  // For a refund that was sent before, "already refunded" is the lost response.
  if (code === ALREADY_REFUNDED && repeated) return { state: 'refunded', decision_code: code, reason: detail }
  if (kind === 'partner-code') return { state: 'refused', decision_code: code, reason: detail }
  // An earlier attempt may have arrived, even if this call certainly did not.
  return { state: maybe_received || repeated ? 'unknown' : 'requested', decision_code: null, reason: detail }
}
