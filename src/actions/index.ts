/** What operators may do, a row each, and the loops that make its surfaces. */

export { ACTIONS, ALL_ACTIONS, actionOf } from './all.ts'
export { type Field, fieldsOf, pagingOf, typedFields } from './fields.ts'
export { PERMISSIONS, ROUTE_ROLES } from './permissions.ts'
export { hintOf, labelOf } from './texts.ts'
export { numberIfOne, pairsOf, rowsIn, shownOnce, tableOf, type Values, withCounts } from './values.ts'
