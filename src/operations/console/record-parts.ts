import type { Action } from '../../platform/lib/action.ts'
import { prettyLossless } from '../../platform/lib/json/lossless.ts'
import { labelOf, nameOfFact, shownOf, type Values } from '../actions/index.ts'
import { cellFor, cellIn, tableOf } from './action-values.ts'
import type { Cell, Fact, PageContext, Table, TextBlock } from './page-model.ts'
import { mayDo } from './permissions.ts'
import { keysIn, linkTo, offeredOn, type Placed, type Places } from './placed.ts'
import { link, text } from './texts.ts'

/** A record on a page: its values, its lists as tables, and values of unknown structure as JSON. */
interface RecordParts {
  readonly facts: readonly Fact[]
  readonly tables: readonly Table[]
  readonly texts: readonly TextBlock[]
}

/** Generic columns (tableRows in src/operations/actions), labelled with the field that they are in. */
const NAMED_BY = new Set(['key', 'value'])

/** `completed` adds to a table of these rows. */
export function recordParts(
  action: Action & Partial<Pick<Placed, 'about'>>,
  record: Values,
  context: PageContext,
  completed: (rows: readonly Values[], table: Table) => Table = (_, table) => table,
): RecordParts {
  const { t, deps } = context
  const now = deps.clock.now()
  const { facts, tables, texts } = shownOf(action, record, { on: 'page', t, now })
  return {
    facts: facts.map((fact) => ({
      name: nameOfFact(action, fact, t),
      cells: [
        fact.column ? cellIn(fact.column, fact.row, t, now) : cellFor(fact.name, fact.value, t, action.about?.at(-1)),
      ],
    })),
    tables: tables.map(({ name, columns, rows }) => {
      const head = columns.map((of) => labelOf(t, action, NAMED_BY.has(of.name) ? `${name}.${of.name}` : of.name))
      const table = { ...tableOf(action, columns, rows, context), title: labelOf(t, action, name), head, none: '' }
      return completed(rows, table)
    }),
    texts: texts.map(([name, value]) => ({ title: labelOf(t, action, name), text: prettyLossless(value), note: '' })),
  }
}

/** Like `recordParts`, with the changes offered for the rows of its tables. */
export function partsWithChanges(places: Places, action: Placed, record: Values, context: PageContext): RecordParts {
  const about = keysIn(action, context)
  return recordParts(action, record, context, (rows, table) =>
    withChanges(
      places,
      action,
      rows.map((row) => ({ ...row, ...about })),
      table,
      context,
    ),
  )
}

/** The changes offered for a row: links to the first, whose page links to the others. */
function changeCell(places: Places, offered: readonly Placed[], row: Values, context: PageContext): Cell {
  const [change, ...more] = offered.map((action) => linkTo(places, action, row, context))
  const titles = [change, ...more].map((action) => action?.text).join(' / ')
  return change ? link(titles, change.href) : text('–')
}

/** Adds a column with the changes offered for each row, unless there are none. */
export function withChanges(
  places: Places,
  page: Placed,
  rows: readonly Values[],
  table: Table,
  context: PageContext,
): Table {
  const { t, role } = context
  const offered = offeredOn(places, page)
  const changes = rows.map((row) => offered(row).filter(({ operation }) => mayDo(role, operation)))
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
