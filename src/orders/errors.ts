import { echo, RefusedRequest } from '../lib/web/rescode.ts'
import { ORDER_STATES, type OrderState, REFUND_STATES, type RefundState } from './states.ts'

export const noSuchOrder = (orderId: bigint): RefusedRequest =>
  new RefusedRequest(`order ${orderId} does not exist`, { status: 404 })

export const noSuchRefund = (refundId: string): RefusedRequest =>
  new RefusedRequest(`refund ${echo(refundId)} does not exist`, { status: 404 })

/** A transition that src/orders/states.ts does not have, by the names of both states. */
export const illegalOrderTransition = (orderId: bigint, from: OrderState, to: OrderState): RefusedRequest =>
  new RefusedRequest(`order ${orderId} is ${from} (${ORDER_STATES[from].means}); it cannot become ${to}`)

export const illegalRefundTransition = (refundId: string, from: RefundState, to: RefundState): RefusedRequest =>
  new RefusedRequest(`refund ${echo(refundId)} is ${from} (${REFUND_STATES[from].means}); it cannot become ${to}`)
