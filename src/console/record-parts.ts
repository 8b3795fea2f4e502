import { isTable, labelOf, type Values } from '../actions/index.ts'
import { prettyLossless } from '../lib/json/lossless.ts'
import { LocalizedText } from '../lib/localized-text.ts'
import { cellFor, linkedCell } from './action-values.ts'
import type { Fact, PageContext, Table, TextBlock } from './page-model.ts'
import type { Placed } from './placed.ts'

/** What a page shows of a record: its values, its lists as tables, and what has a form of its own as JSON. */

/** Where the row names its tables, other lists of objects are of others, whose fields nobody knows beforehand. */
const isOwnTable = ({ tables }: Placed, name: string, value: unknown): value is Values[] =>
  isTable(value) && (tables === undefined || name in tables)

const isJson = (action: Placed, name: string, value: unknown): boolean =>
  isTable(value)
    ? !isOwnTable(action, name, value)
    : Object(value) === value && !(Array.isArray(value) || value instanceof Date || value instanceof LocalizedText)

export const factsOf = (action: Placed, record: Values, { t }: PageContext): Fact[] =>
  Object.entries(record)
    .filter(([name, value]) => value !== undefined && !isTable(value) && !isJson(action, name, value))
    .map(([name, value]) => ({
      name: labelOf(t, action, name),
      cells: [(action.about.includes(name) ? cellFor : linkedCell)(name, value, t)],
    }))

export const tablesOf = (action: Placed, record: Values, { t }: PageContext): Table[] =>
  Object.entries(record).flatMap(([name, value]) => {
    if (!isOwnTable(action, name, value)) return []
    const columns = action.tables?.[name] ?? Object.keys(value[0] ?? {})
    return [
      {
        title: labelOf(t, action, name),
        head: columns.map((column) => labelOf(t, action, column)),
        rows: value.map((row) => columns.map((column) => cellFor(column, row[column], t))),
        none: '',
      },
    ]
  })

export const textsOf = (action: Placed, record: Values, { t }: PageContext): TextBlock[] =>
  Object.entries(record)
    .filter(([name, value]) => isJson(action, name, value))
    .map(([name, value]) => ({ title: labelOf(t, action, name), text: prettyLossless(value), note: '' }))
