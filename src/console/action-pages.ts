import { ACTIONS, rowsIn, typedFields, type Values } from '../actions/index.ts'
import { formField, formPage } from './action-form.ts'
import { factsOf, given, listTable, tablesOf } from './action-values.ts'
import type { ActionLink, DetailPage, ListPage, PageContext, Section, Table } from './page-model.ts'
import { mayDo } from './permissions.ts'
import {
  aboutOf,
  addressOf,
  belongsToList,
  detailOf,
  keysIn,
  linkTo,
  offeredFor,
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
    if (!typedFields(change).some((field) => field.name === name)) query.delete(name)
  return query.size > 0 ? { ...made, href: `${made.href}?${query}` } : made
}

/** The first list of a section leads to those of no record. */
const besideOf = (places: Places, list: Placed, { t }: PageContext): ActionLink[] =>
  places.lists
    .filter((other) => list === places.lists[0] && other !== list && !recordPageOf(places, other))
    .map((other) => ({ operation: other.route, href: addressOf(other, other.path, {}), text: t(titleOf(other)) }))

function tableOf(places: Places, page: Placed, output: Values, context: PageContext): Table {
  const { t } = context
  const { rows: name = '', first: isFirst = () => false } = page.list ?? {}
  const rows = rowsIn(output, name)
  const found = [...rows.filter((row) => isFirst(row)), ...rows.filter((row) => !isFirst(row))]
  const detail = detailOf(places, page)
  const records = found.map((row) => ({ ...context.params, ...row }))
  const changes = records.map((record) =>
    detail ? [] : offeredFor(places, page, record).filter(({ route }) => mayDo(context.role, route)),
  )
  const hasChanges = changes.some((offered) => offered.length > 0)
  const shown = listTable(page, found, t, context.params)
  return {
    ...shown,
    head: [...shown.head, ...(hasChanges ? [t('console.field.change')] : [])],
    rows: found.map((row, index) => {
      const record = records[index] ?? row
      const [first = text(''), ...others] = shown.rows[index] ?? []
      if (detail) return [{ ...first, href: addressOf(detail, detail.path, record) }, ...others]
      if (!hasChanges) return [first, ...others]
      // The page of the first one leads to the others.
      const [change, ...more] = (changes[index] ?? []).map((one) => linkTo(places, one, record, context))
      const titles = [change, ...more].map((one) => one?.text).join(' / ')
      return [first, ...others, change ? link(titles, change.href) : text('–')]
    }),
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
      ...factsOf(detail, record, t, Object.keys(keys)),
      ...(seeAlso.length > 0 ? [{ name: t('console.field.more'), cells: seeAlso }] : []),
    ],
    tables: tablesOf(detail, record, t),
    actions: offeredFor(places, detail, record).map((change) => linkTo(places, change, record, context)),
  }
}

function queryText(query: Values): string {
  const written = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) written.set(name, String(value))
  return written.toString()
}
