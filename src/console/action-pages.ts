import { ACTIONS, labelOf, rowsIn, tableOf as tableIn, type Values } from '../actions/index.ts'
import { formField, formPage } from './action-form.ts'
import { cellFor, given, listTable } from './action-values.ts'
import type { ActionLink, Cell, DetailPage, Field, ListPage, PageContext, Section, Table } from './page-model.ts'
import { mayDo } from './permissions.ts'
import {
  aboutOf,
  addressOf,
  belongsToList,
  below,
  detailOf,
  fieldsFor,
  keysIn,
  linkTo,
  mayGive,
  offeredFor,
  offeredForRow,
  type Placed,
  type Places,
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
  const own = places.changes.filter((change) => belongsToList(places, change, list))
  return {
    path: list.path,
    operation: list.route,
    title: titleOf(list),
    lead: aboutOf(list),
    ...(list.recordsLook ? { recordsLook: true } : {}),
    filters: (context) => {
      const filters = fieldsFor(list, context.role).map((filter) => formField(list, filter, context, undefined))
      const about = list.about.filter((name) => !(name in context.params))
      return filters.length > 0 ? [...about.map((name) => hiddenField(name, context)), ...filters] : []
    },
    read: async (context) => {
      const filters = fieldsFor(list, context.role)
      const said = Object.entries(context.fields).filter(([name]) => mayGive(list, name, context.role))
      const asked = { ...given(filters, Object.fromEntries(said)), ...keysIn(list, context) }
      // A list that must be asked for something is not asked before the form is filled in.
      if (filters.length > 0 && Object.keys(context.fields).length === 0 && !list.input.safeParse(asked).success)
        return { table: { head: [], rows: [], none: context.t('console.choose_filter') }, next: null }
      const output = await perform(list, context, asked)
      const next = typeof output.next === 'string' ? output.next : null
      return { table: tableOf(places, list, output, context), next }
    },
    actions: (context) => [
      ...own.map((change) => ownLink(places, change, context)),
      ...besideOf(places, list, context),
    ],
  }
}

/** A file has what the filters of the list choose. */
function ownLink(places: Places, change: Placed, context: PageContext): ActionLink {
  const made = linkTo(places, change, context.params, context)
  if (!change.respond) return made
  const query = new URLSearchParams(context.fields)
  for (const name of [...query.keys()])
    if (!fieldsFor(change, context.role).some((field) => field.name === name)) query.delete(name)
  return query.size > 0 ? { ...made, href: `${made.href}?${query}` } : made
}

const hiddenField = (name: string, { fields }: PageContext): Field => ({
  ...{ name, label: '', kind: 'hidden', value: fields[name] ?? '' },
})

/** A link to a list, or to the page of a record. */
const pageLink = (page: Placed, record: Values, { t }: PageContext): ActionLink => ({
  operation: page.operation,
  href: addressOf(page, page.path, record),
  text: t(titleOf(page)),
})

/** A list below a record leads to that, and the first list of a section to the others. */
function besideOf(places: Places, list: Placed, context: PageContext): ActionLink[] {
  const above = recordPageOf(places, list)
  const keys = keysIn(list, context)
  const others = places.lists.filter(
    (other) => list === places.lists[0] && other !== list && !recordPageOf(places, other),
  )
  return [
    ...(above
      ? [{ ...pageLink(above, keys, context), text: `${context.t(titleOf(above))}: ${Object.values(keys).join('/')}` }]
      : []),
    ...others.map((other) => pageLink(other, {}, context)),
  ].map((shown) => ({ ...shown, isSecond: true }))
}

/** What may be done with a row: the page of the first one leads to the others. */
function changeCell(places: Places, offered: readonly Placed[], row: Values, context: PageContext): Cell {
  const [change, ...more] = offered.map((one) => linkTo(places, one, row, context))
  const titles = [change, ...more].map((one) => one?.text).join(' / ')
  return change ? link(titles, change.href) : text('–')
}

/** With a column for what may be done with each row, where there is something. */
function withChanges(places: Places, page: Placed, rows: readonly Values[], table: Table, context: PageContext): Table {
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

function tableOf(places: Places, page: Placed, output: Values, context: PageContext): Table {
  const { t, deps } = context
  const { rows: name = '', first: isFirst = () => false } = page.list ?? {}
  const rows = rowsIn(output, name)
  const found = [...rows.filter((row) => isFirst(row)), ...rows.filter((row) => !isFirst(row))]
  const records = found.map((row) => ({ ...context.params, ...keysIn(page, context), ...row }))
  const details = records.map((record) => detailOf(places, page, record))
  const shown = listTable(page, records, t, deps.clock.now())
  const table = {
    ...shown,
    rows: records.map((record, index) => {
      const [first = text(''), ...others] = shown.rows[index] ?? []
      const detail = details[index]
      return [detail ? { ...first, href: addressOf(detail, detail.path, record) } : first, ...others]
    }),
  }
  return details.some((detail) => detail) ? table : withChanges(places, page, records, table, context)
}

async function readRecord(places: Places, detail: Placed, context: PageContext) {
  const { t, deps, role } = context
  const keys = keysIn(detail, context)
  const record = await perform(detail, context, keys)
  const beside = await detail.showBeside?.(deps, keys)
  const seeAlso = [
    ...below(places, detail).map((page) => pageLink(page, record, context)),
    ...(detail.related?.(record) ?? []).map(({ operation, text: key, path, query }) => ({
      operation,
      text: t(key),
      href: `${at(path.slice(1))}?${queryText(query)}`,
    })),
  ]
    .filter(({ operation }) => mayDo(role, operation))
    .map(({ text: name, href }) => link(name, href))
  const shown = { ...record, ...beside }
  return {
    title: `${t(titleOf(detail))}: ${String(record.name ?? Object.values(keys).join('/'))}`,
    ...(detail.elevated?.page ? { notice: t('console.masked') } : {}),
    facts: [
      ...factsOf(detail, shown, context),
      ...(seeAlso.length > 0 ? [{ name: t('console.field.more'), cells: seeAlso }] : []),
    ],
    tables: tablesOf(places, detail, shown, context),
    actions: offeredFor(places, detail, record).map((change) => linkTo(places, change, record, context)),
  }
}

/** Columns of what has no field of its own (tableOf of src/actions). */
const NAMED_BY = new Set(['key', 'value'])

const factsOf = (detail: Placed, record: Values, { t }: PageContext) =>
  Object.entries(record)
    .filter(([, value]) => !tableIn(value))
    .map(([name, value]) => ({ name: labelOf(t, detail, name), cells: [cellFor(name, value, t)] }))

const tablesOf = (places: Places, detail: Placed, record: Values, context: PageContext): Table[] =>
  Object.entries(record).flatMap(([name, value]) => {
    const { t } = context
    const table = tableIn(value)
    if (!table) return []
    const columns = Object.keys(table[0] ?? {})
    const rows = table.map((row) => columns.map((column) => cellFor(column, row[column], t)))
    const head = columns.map((column) => labelOf(t, detail, NAMED_BY.has(column) ? `${name}.${column}` : column))
    const shown = { title: labelOf(t, detail, name), head, rows, none: '' }
    const about = keysIn(detail, context)
    return [
      withChanges(
        places,
        detail,
        table.map((row) => ({ ...row, ...about })),
        shown,
        context,
      ),
    ]
  })

function queryText(query: Values): string {
  const written = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) written.set(name, String(value))
  return written.toString()
}
