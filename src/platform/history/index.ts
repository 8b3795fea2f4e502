/** History of products, orders, vouchers and refunds: what changed, and why. */

export { type Cause, type Change, changeOf, type Difference, difference, HISTORY_COLUMNS, OPERATOR } from './history.ts'
export {
  countOrderMoves,
  forgetOldChanges,
  historyOfOrder,
  historyOfProduct,
  ORDER_CHANGES,
  ORDER_HISTORY,
  PRICES,
  PRODUCT_CHANGES,
  refundedBefore,
  wasSentForPayment,
} from './store.ts'
