export { type AuditRow, auditBetween } from './between-store.ts'
export { type Cause, type Change, changeOf, type Difference, difference, OPERATOR } from './history.ts'
export {
  countOrderMoves,
  type HistoryRow,
  historyOfOrder,
  historyOfProduct,
  ORDER_CHANGES,
  ORDER_HISTORY,
  PRODUCT_CHANGES,
} from './history-store.ts'
export { type Actor, recordAudit } from './store.ts'
