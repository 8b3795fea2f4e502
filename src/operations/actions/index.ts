/** What operators may do, a row each, and the loops that make its surfaces. */

export { ACTIONS, ALL_ACTIONS, actionOf, PERMISSIONS, ROUTE_ROLES } from './all.ts'
export { EXPORT_FORMATS, type ExportFormat, exportOf, exportQuery, linesOf, pagesOf } from './export.ts'
export { type Field, fieldsOf, isPaged, pagingOf, typedFields } from './fields.ts'
export { columnsOn, nameOfFact, shownOf, withWarnings } from './shown.ts'
export { choiceOf, hintOf, labelOf, sharedChoice } from './texts.ts'
export {
  isRecord,
  jsonOrText,
  numberOrText,
  pairsOf,
  recordIn,
  rowsIn,
  shownOnce,
  tableRows,
  type Values,
  withCounts,
} from './values.ts'
