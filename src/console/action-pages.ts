import { ACTIONS, labelOf, rowsIn, tableOf as tableIn, typedFields, type Values } from '../actions/index.ts'
import { cellOf } from '../lib/action.ts'
import { formField, formPage } from './action-form.ts'
import { cellFor, given } from './action-values.ts'
import type { ActionLink, Cell, DetailPage, ListPage, PageContext, Section, Table } from './page-model.ts'
import { mayDo } from './permissions.ts'
import {
  aboutOf,
  addressOf,
  adds,
  detailOf,
  keysIn,
  linkTo,
  offeredFor,
  type Placed,
  type Places,
  partsIn,
  perform,
  placesOf,
  recordPageOf,
  titleOf,
} from './placed.ts'
import { at, link, text } from './texts.ts'

/** What a section shows that follows from no action. */
interface Own {
  /** Below the record of its page. */
  readonly tables?: (context: PageContext) => Promise<readonly Table[]>
  readonly details?: readonly DetailPage[]
}

/** The pages of a section: its lists, the page of each record, and a form for each change. */
export function sectionOf(id: keyof typeof ACTIONS, own: Own = {}): Section {
  const places = placesOf(ACTIONS[id])
  const [first] = places.lists
  if (!first) throw new Error(`${id} has no list`)
  return {
    id,
    title: titleOf(first),
    operation: first.route,
    lists: places.lists.map((list) => listPage(places, list)),
    details: [
      ...places.details.map((detail) => ({
        path: detail.path,
        operation: detail.route,
        read: async (context: PageContext) => {
          const { tables, ...record } = await readRecord(places, detail, context)
          return { ...record, tables: [...tables, ...((await own.tables?.(context)) ?? [])] }
        },
      })),
      ...(own.details ?? []),
    ],
    actions: places.changes.map((change) => formPage(places, change)),
  }
}

function listPage(places: Places, list: Placed): ListPage {
  const adding = places.changes.filter((change) => adds(change, list))
  return {
    path: list.path,
    operation: list.route,
    title: titleOf(list),
    lead: aboutOf(list),
    ...(list.recordsLook ? { recordsLook: true } : {}),
    filters: (context) => typedFields(list).map((filter) => formField(list, filter, context, undefined)),
    read: async (context) => {
      const filters = typedFields(list)
      const asked = { ...given(filters, context.fields), ...keysIn(list, context) }
      // A list that must be asked for something is not asked before the form is filled in.
      if (filters.length > 0 && Object.keys(context.fields).length === 0 && !list.input.safeParse(asked).success)
        return { table: { head: [], rows: [], none: context.t('console.choose_filter') }, next: null }
      const output = await perform(list, context, asked)
      const next = typeof output.next === 'string' ? output.next : null
      return { table: tableOf(places, list, output, context), next }
    },
    actions: (context) => [
      ...adding.map((change) => linkTo(places, change, context.params, context)),
      ...besideOf(places, list, context),
    ],
  }
}

/** The first list of a section leads to those of no record. */
const besideOf = (places: Places, list: Placed, { t }: PageContext): ActionLink[] =>
  places.lists
    .filter((other) => list === places.lists[0] && other !== list && !recordPageOf(places, other))
    .map((other) => ({ operation: other.route, href: addressOf(other, other.path, {}), text: t(titleOf(other)) }))

function tableOf(places: Places, page: Placed, output: Values, context: PageContext): Table {
  const { t } = context
  const { columns = [], rows: name = '' } = page.list ?? {}
  const found = rowsIn(output, name)
  const detail = detailOf(places, page)
  const records = found.map((row) => ({ ...context.params, ...row }))
  const changes = records.map((record) =>
    detail ? [] : offeredFor(places, page, record).filter(({ route }) => mayDo(context.role, route)),
  )
  const hasChanges = changes.some((offered) => offered.length > 0)
  return {
    head: [
      ...columns.map((column) => labelOf(t, page, column.name)),
      ...(hasChanges ? [t('console.field.change')] : []),
    ],
    rows: found.map((row, index) => {
      const record = records[index] ?? row
      const [first = text(''), ...others] = columns.map((column): Cell => {
        const cell = cellFor(column.name, cellOf(column, row, t), t)
        const tone = column.tone?.(row)
        const page = column.page?.(record)
        return { ...cell, ...(tone ? { tone } : {}), ...(page ? { href: at(...partsIn(page)) } : {}) }
      })
      if (detail) return [{ ...first, href: addressOf(detail, detail.path, record) }, ...others]
      if (!hasChanges) return [first, ...others]
      // The page of the first one leads to the others.
      const [change, ...more] = (changes[index] ?? []).map((one) => linkTo(places, one, record, context))
      const titles = [change, ...more].map((one) => one?.text).join(' / ')
      return [first, ...others, change ? link(titles, change.href) : text('–')]
    }),
    none: t('console.nothing_matches'),
  }
}

async function readRecord(places: Places, detail: Placed, context: PageContext) {
  const { t } = context
  const keys = keysIn(detail, context)
  const record = await perform(detail, context, keys)
  const below = places.lists.filter((list) => recordPageOf(places, list)?.route === detail.route)
  const seeAlso = [
    ...below
      .filter(({ route }) => mayDo(context.role, route))
      .map((list) => link(t(titleOf(list)), addressOf(list, list.path, record))),
    ...(detail.related?.(record) ?? [])
      .filter(({ operation }) => mayDo(context.role, operation))
      .map(({ text: key, path, query }) => link(t(key), `${at(path.slice(1))}?${queryText(query)}`)),
  ]
  return {
    title: `${t(titleOf(detail))}: ${String(record.name ?? Object.values(keys).join('/'))}`,
    facts: [
      ...factsOf(detail, record, context),
      ...(seeAlso.length > 0 ? [{ name: t('console.field.more'), cells: seeAlso }] : []),
    ],
    tables: tablesOf(detail, record, context),
    actions: offeredFor(places, detail, record).map((change) => linkTo(places, change, record, context)),
  }
}

/** Columns of what has no field of its own (tableOf of src/actions). */
const NAMED_BY = new Set(['key', 'value'])

const factsOf = (detail: Placed, record: Values, { t }: PageContext) =>
  Object.entries(record)
    .filter(([, value]) => !tableIn(value))
    .map(([name, value]) => ({ name: labelOf(t, detail, name), cells: [cellFor(name, value, t)] }))

const tablesOf = (detail: Placed, record: Values, { t }: PageContext): Table[] =>
  Object.entries(record).flatMap(([name, value]) => {
    const table = tableIn(value)
    if (!table) return []
    const columns = Object.keys(table[0] ?? {})
    const rows = table.map((row) => columns.map((column) => cellFor(column, row[column], t)))
    const head = columns.map((column) => labelOf(t, detail, NAMED_BY.has(column) ? `${name}.${column}` : column))
    return [{ title: labelOf(t, detail, name), head, rows, none: '' }]
  })

function queryText(query: Values): string {
  const written = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) written.set(name, String(value))
  return written.toString()
}
