import { localized } from '../../platform/lib/localized-text.ts'
import { echo, RefusedRequest } from '../../platform/lib/web/rescode.ts'
import { ORDER_STATES, type OrderState, REFUND_STATES, type RefundState } from './states.ts'

export const noSuchOrder = (orderId: bigint): RefusedRequest =>
  new RefusedRequest(localized('no-order', { order: orderId }), { status: 404 })

export const noSuchRefund = (refundId: string): RefusedRequest =>
  new RefusedRequest(localized('no-refund', { refund: echo(refundId) }), { status: 404 })

/** For a transition that states.ts does not have. */
export const illegalOrderTransition = (orderId: bigint, from: OrderState, to: OrderState): RefusedRequest =>
  new RefusedRequest(
    localized('order-cannot-become', { order: orderId, state: from, meaning: ORDER_STATES[from].means, to }),
  )

export const illegalRefundTransition = (refundId: string, from: RefundState, to: RefundState): RefusedRequest =>
  new RefusedRequest(
    localized('refund-cannot-become', { refund: echo(refundId), state: from, meaning: REFUND_STATES[from].means, to }),
  )
