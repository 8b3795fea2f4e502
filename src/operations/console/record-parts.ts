import { prettyLossless } from '../../platform/lib/json/lossless.ts'
import { LocalizedText } from '../../platform/lib/localized-text.ts'
import { labelOf, tableOf, type Values } from '../actions/index.ts'
import { cellFor } from './action-values.ts'
import type { Cell, Fact, PageContext, Table, TextBlock } from './page-model.ts'
import { mayDo } from './permissions.ts'
import { keysIn, linkTo, offeredForRow, type Placed, type Places } from './placed.ts'
import { link, text } from './texts.ts'

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
      cells: [cellFor(name, value, t)],
    }))

/** Columns of what has no field of its own (tableOf of src/operations/actions). */
const NAMED_BY = new Set(['key', 'value'])

/** Lists of objects, with what may be done with their rows. */
export const tablesOf = (places: Places, action: Placed, record: Values, context: PageContext): Table[] =>
  Object.entries(record).flatMap(([name, value]) => {
    const { t } = context
    const table = tableFor(action, name, value)
    if (!table) return []
    const columns = action.tables?.[name] ?? Object.keys(table[0] ?? {})
    const rows = table.map((row) => columns.map((column) => cellFor(column, row[column], t)))
    const head = columns.map((column) => labelOf(t, action, NAMED_BY.has(column) ? `${name}.${column}` : column))
    const about = keysIn(action, context)
    const records = table.map((row) => ({ ...row, ...about }))
    return [withChanges(places, action, records, { title: labelOf(t, action, name), head, rows, none: '' }, context)]
  })

/** What may be done with a row: the page of the first one leads to the others. */
function changeCell(places: Places, offered: readonly Placed[], row: Values, context: PageContext): Cell {
  const [change, ...more] = offered.map((action) => linkTo(places, action, row, context))
  const titles = [change, ...more].map((action) => action?.text).join(' / ')
  return change ? link(titles, change.href) : text('–')
}

/** With a column for what may be done with each row, where there is something. */
export function withChanges(
  places: Places,
  page: Placed,
  rows: readonly Values[],
  table: Table,
  context: PageContext,
): Table {
  const { t, role } = context
  const changes = rows.map((row) => offeredForRow(places, page, row).filter(({ operation }) => mayDo(role, operation)))
  if (changes.every((offered) => offered.length === 0)) return table
  return {
    ...table,
    head: [...table.head, t('console.field.change')],
    rows: table.rows.map((cells, index) => [
      ...cells,
      changeCell(places, changes[index] ?? [], rows[index] ?? {}, context),
    ]),
  }
}

export const textsOf = (action: Placed, record: Values, { t }: PageContext): TextBlock[] =>
  Object.entries(record)
    .filter(([name, value]) => isJson(action, name, value))
    .map(([name, value]) => ({ title: labelOf(t, action, name), text: prettyLossless(value), note: '' }))
