import { labelOf, rowsIn, type Values } from '../actions/index.ts'
import { type Column, cellOf } from '../lib/list-columns.ts'
import { linkedCell } from './action-values.ts'
import type { Cell, PageContext, Table } from './page-model.ts'
import { mayDo } from './permissions.ts'
import { addressOf, detailOf, keysIn, linkTo, offeredForRow, type Placed, type Places, partsIn } from './placed.ts'
import { at, link, text } from './texts.ts'

/** What may be done with a row: the page of the first one leads to the others. */
function changeCell(places: Places, offered: readonly Placed[], row: Values, context: PageContext): Cell {
  const [change, ...more] = offered.map((one) => linkTo(places, one, row, context))
  const titles = [change, ...more].map((one) => one?.text).join(' / ')
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

export function listTable(places: Places, page: Placed, output: Values, context: PageContext): Table {
  const { t, deps } = context
  const { columns: all = [], rows: name = '' } = page.list ?? {}
  const columns = all.filter(({ onTerminalOnly }) => !onTerminalOnly)
  const now = deps.clock.now()
  const records = rowsIn(output, name).map((row) => ({ ...context.params, ...keysIn(page, context), ...row }))
  const details = records.map((record) => detailOf(places, page, record))
  const table = {
    head: columns.map((column) => labelOf(t, page, column.name)),
    rows: records.map((record, index) => {
      const [first = text(''), ...others] = columns.map((column) => columnCell(column, record, t, now))
      const detail = (page.list?.opens?.(record) ?? true) ? details[index] : undefined
      return [detail ? { ...first, href: addressOf(detail, detail.path, record) } : first, ...others]
    }),
    none: typeof output.next === 'string' ? t('console.nothing_yet') : t('console.nothing_matches'),
  }
  return details.some((detail) => detail) ? table : withChanges(places, page, records, table, context)
}

function columnCell(column: Column<object>, record: Values, t: PageContext['t'], now: Date): Cell {
  const cell = linkedCell(column.name, cellOf(column, record, t, now), t)
  const tone = column.tone?.(record)
  const page = column.page?.(record)
  return { ...cell, ...(tone ? { tone } : {}), ...(page ? { href: at(...partsIn(page)) } : {}) }
}
