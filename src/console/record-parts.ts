import { labelOf, tableOf, type Values } from '../actions/index.ts'
import { prettyLossless } from '../lib/json/lossless.ts'
import { LocalizedText } from '../lib/localized-text.ts'
import { cellFor, linkedCell } from './action-values.ts'
import type { Fact, PageContext, Table, TextBlock } from './page-model.ts'
import type { Placed } from './placed.ts'

/** What a page shows of a record: its values, its lists as tables, and what has a form of its own as JSON. */

/** Where the row names its tables, other lists of objects are of others, whose fields nobody knows beforehand. */
const tableFor = ({ tables }: Placed, name: string, value: unknown): readonly Values[] | undefined =>
  tables === undefined || name in tables ? tableOf(value) : undefined

function isJson(action: Placed, name: string, value: unknown): boolean {
  if (typeof value !== 'object' || value === null || tableFor(action, name, value)) return false
  if (value instanceof Date || value instanceof LocalizedText || Object.keys(value).length === 0) return false
  return !Array.isArray(value) || tableOf(value) !== undefined
}

export const factsOf = (action: Placed, record: Values, { t }: PageContext): Fact[] =>
  Object.entries(record)
    .filter(([name, value]) => value !== undefined && !tableFor(action, name, value) && !isJson(action, name, value))
    .map(([name, value]) => ({
      name: labelOf(t, action, name),
      cells: [(action.about.includes(name) ? cellFor : linkedCell)(name, value, t)],
    }))

/** Columns of what has no field of its own (tableOf of src/actions). */
const NAMED_BY = new Set(['key', 'value'])

/** Each with the rows that it shows. */
export const tablesOf = (action: Placed, record: Values, { t }: PageContext) =>
  Object.entries(record).flatMap(([name, value]) => {
    const table = tableFor(action, name, value)
    if (!table) return []
    const columns = action.tables?.[name] ?? Object.keys(table[0] ?? {})
    const cells = table.map((row) => columns.map((column) => cellFor(column, row[column], t)))
    const head = columns.map((column) => labelOf(t, action, NAMED_BY.has(column) ? `${name}.${column}` : column))
    const shown: Table = { title: labelOf(t, action, name), head, rows: cells, none: '' }
    return [{ of: table, shown }]
  })

export const textsOf = (action: Placed, record: Values, { t }: PageContext): TextBlock[] =>
  Object.entries(record)
    .filter(([name, value]) => isJson(action, name, value))
    .map(([name, value]) => ({ title: labelOf(t, action, name), text: prettyLossless(value), note: '' }))
