import type { Action, Verdict } from '../../platform/lib/action.ts'
import { prettyLossless } from '../../platform/lib/json/lossless.ts'
import { shownProblems } from '../../platform/lib/web/worded.ts'
import { labelOf, nameOfFact, shownOf, shownOnce, tableRows, type Values, withCounts } from '../actions/index.ts'
import { cellFor, cellIn, tableOf } from './action-values.ts'
import type { Cell, Fact, OneTimeResult, PageContext, Table, TextBlock } from './page-model.ts'
import { mayDo } from './permissions.ts'
import { keysIn, linkTo, offeredOn, type Placed, type Places } from './placed.ts'
import { code, count, link, text } from './texts.ts'

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

/** The page after a change, for what no later page shows: new secrets, a receipt, warnings, a verdict. */
export function resultOf(
  places: Places,
  change: Placed,
  output: Values,
  context: PageContext,
): OneTimeResult | undefined {
  const { t } = context
  const once = change.method === 'GET' ? Object.keys(output) : shownOnce(change.once, output)
  const warnings = change.warnings?.of(output) ?? []
  const verdict = change.verdict?.(output)
  if (once.length + warnings.length === 0) return verdict && verdictOf(places, change, output, verdict, context)
  const own = `action.${change.id}.once`
  return {
    ...(change.after ? { tone: 'good' as const } : {}),
    ...(verdict ? { tone: verdict.tone } : {}),
    note: t(verdict?.text ?? (once.length === 0 ? 'console.warned' : t.has(own) ? own : 'console.once.note')),
    values: [
      ...shownProblems(warnings, t, (name) => labelOf(t, change, name)).map(({ label, problem }) => ({
        name: label,
        cells: [text(problem)],
      })),
      ...withCounts([...(once.length > 0 ? (change.onceWith ?? []) : []), ...once].map((name) => [name, output[name]]))
        .filter(({ value }) => value !== 0)
        .map((fact) => ({
          name: nameOfFact({ id: change.id }, fact, t),
          cells: cellsOf(fact.name, fact.value, change, context),
        })),
    ],
  }
}

function verdictOf(
  places: Places,
  change: Placed,
  output: Values,
  { tone, text: key }: Verdict,
  context: PageContext,
): OneTimeResult {
  const { facts, tables } = partsWithChanges(places, change, { ...(change.told?.(output) ?? output) }, context)
  return { tone, note: context.t(key), values: facts, tables }
}

function cellsOf(name: string, value: unknown, change: Placed, { t }: PageContext): Cell[] {
  const table = tableRows(value)
  if (table) {
    return table.map((row) => {
      const key = `field.${name}.${String(Object.values(row)[0]).replaceAll(/[ -]/g, '_')}`
      return t.has(key) ? text(t(key)) : { text: Object.values(row).join(': '), isEnglish: true }
    })
  }
  if (typeof value === 'string' && [...(change.onceWith ?? []), ...(change.once ?? [])].includes(name))
    return [code(value)] // no link: who follows it loses the page
  return [typeof value === 'number' && !change.about.includes(name) ? text(count(value)) : cellFor(name, value, t)]
}
