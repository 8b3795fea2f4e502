import { randomUUID } from 'node:crypto'
import type { Deps } from '../../platform/deps.ts'
import type { Cause } from '../../platform/history/index.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { beijingTime } from '../../platform/lib/time-zone.ts'
import { RefusedRequest } from '../../platform/lib/web/rescode.ts'
import {
  type CallCause,
  type CallDeps,
  type CallProblem,
  callPartner,
  existingPartner,
  failureOf,
} from '../partner-calls/index.ts'
import { changedBy } from './change-order.ts'
import { changeRefund } from './change-refund.ts'
import { illegalOrderTransition, noSuchRefund } from './errors.ts'
import { refundContent, refusePartOf } from './new-refund.ts'
import { dropRefundedMessage, isInFlight, queueRefundedMessage, type RefundedMessage } from './order-jobs.ts'
import { existingOrder, recordAsked, resultFor, withOrder } from './order-result.ts'
import { type OrderRow, vouchersOf } from './order-store.ts'
import type { OrderAndRefund } from './refund-order.ts'
import { findRefund, insertRefund, type RefundRow, refundsOf } from './refund-store.ts'
import type { OrderState } from './states.ts'
import { type NewRefundedMessage, newRefundedMessage } from './wire.ts'

/**
 * The order states in which the platform may refund tickets by itself: 1 by customer service, 2 payment never
 * confirmed.
 */
const FROM: Readonly<Record<1 | 2, readonly OrderState[]>> = { 1: ['paid'], 2: ['paying', 'pay_unknown'] }
const SEND_AGAIN_IN_S = 20

/**
 * The platform has refunded by itself and tells the partner. The refund holds whatever the partner answers, so it is
 * stored first; a message that does not arrive is sent again by a job, under the same serial number.
 */
export const refundByPlatform = operation(
  newRefundedMessage,
  async (deps: CallDeps, input, cause: CallCause): Promise<OrderAndRefund> => {
    const { order_id: orderId, refund_id: refundId = randomUUID(), type, reason } = input
    const message = { orderId, refundId, type, reason }
    await withOrder(deps, orderId, async (inside, order) => {
      await recordAsked(inside, 'order_refunded_asked', order, { refund_id: refundId, type })
      const known = await findRefund(inside.db, order.partner_id, refundId)
      if (known && known.order_id !== orderId) throw noSuchRefund(refundId)
      const refund = known ?? (await storeRefund(inside, order, refundId, input, changedBy(cause)))
      const update = { state: 'refunded', decision_code: null, reason: reason ?? null } as const
      if (refund.state !== 'refunded') await changeRefund(inside, order, refund, update, changedBy(cause))
      await queueRefundedMessage(inside, order.partner_id, message, SEND_AGAIN_IN_S)
    })
    const failure = await sendRefundedMessage(deps, message, cause)
    if (failure === null) await dropRefundedMessage(deps.db, message)
    return { ...(await resultFor(deps, orderId, failure)), refund: await storedRefund(deps, orderId, refundId) }
  },
)

/**
 * A payment that is still on its way could issue tickets after its refund; refunding a part of one would leave unknown
 * tickets.
 */
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
  if (!input.partly) await refusePartOf(deps, order, content.refund_quantity)
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
  const refund = await storedRefund(deps, orderId, refundId)
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

async function storedRefund(deps: Deps, orderId: bigint, refundId: string): Promise<RefundRow> {
  const { partner_id } = await existingOrder(deps, orderId)
  const refund = await findRefund(deps.db, partner_id, refundId)
  if (refund?.order_id !== orderId) throw noSuchRefund(refundId)
  return refund
}
