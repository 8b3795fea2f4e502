export { applyRefundResult } from './change-refund.ts'
export { closeOrder } from './close-order.ts'
export { type ConsumptionReport, type LockedOrders, lockReported } from './consumption.ts'
export { createOrder, newOrderId } from './create-order.ts'
export { ORDER_ACTIONS, ORDER_PARTS } from './operator.ts'
export { ASK_AGAIN_IN_S } from './order-jobs.ts'
export { payOrder } from './pay-order.ts'
export { applyPayResult } from './pay-result.ts'
export { pollOrder } from './poll-order.ts'
export { queryOrder } from './query-order.ts'
export { refundByPlatform, refundOrder, sendRefundedMessage } from './refund-order.ts'
export { codesIn, issuedCodes, promisedCodes } from './reported-codes.ts'
export { ORDER_RETENTION } from './retention-store.ts'
export { showOrder } from './show-order.ts'
export { outcomesOf, partnersWithOrders, storedOrders } from './show-store.ts'
export { isOrderTransition, ORDER_STATES, type OrderState, REFUND_STATES, type RefundState } from './states.ts'
export {
  findNamedOrder,
  findTrialOrder,
  hasSold,
  type NamedOrder,
  trialOrders,
} from './trial-store.ts'
export { oneOrder } from './wire.ts'
