export { closeOrder } from './close-order.ts'
export {
  type ConsumptionReport,
  decideConsumption,
  isWithoutVoucherList,
  type LockedOrders,
  lockReported,
  saveConsumptions,
} from './consumption.ts'
export { createOrder, newOrderId } from './create-order.ts'
export { followOrder } from './follow-order.ts'
export { ASK_AGAIN_IN_S } from './in-flight.ts'
export type { OrderAnswer, ShownOrder } from './order-answer.ts'
export { payOrder } from './pay-order.ts'
export { applyPayResult } from './pay-result.ts'
export { ORDER_DATA_RETENTION } from './personal-data-store.ts'
export { queryOrder } from './query-order.ts'
export { type RefundAnswer, refundOrder } from './refund-order.ts'
export { applyRefundResult } from './refund-result.ts'
export { sendRefundedMessage, tellRefunded } from './refunded-message.ts'
export { codesIn, issuedCodes, promisedCodes } from './reported-codes.ts'
export { listOrders, type OrderStory, showOrder } from './show-order.ts'
export { type OrderOutcomes, type OrderSummary, outcomesOf, partnersWithOrders, storedOrders } from './show-store.ts'
export { ORDER_STATES, type OrderState, orderMayMove, REFUND_STATES, type RefundState } from './states.ts'
export { findTrialOrder, isSold, ORDER_RETENTION, type TrialOrder, trialOrders } from './trial-store.ts'
export { type NewOrder, newOrder, newRefund, newRefundedMessage, oneOrder, orderFilter } from './wire.ts'
