import { ACTIONS, exportOf, isPaged, labelOf, rowsIn, typedFields, type Values } from '../actions/index.ts'
import { type Column, cellOf } from '../lib/action.ts'
import { formField, formPage } from './action-form.ts'
import { given, linkedCell } from './action-values.ts'
import type { ActionLink, Cell, DetailPage, ListPage, PageContext, Section, Table } from './page-model.ts'
import { mayDo } from './permissions.ts'
import {
  aboutOf,
  addressOf,
  detailOf,
  isOfList,
  keysIn,
  linkTo,
  offeredFor,
  type Placed,
  type Places,
  partsIn,
  perform,
  placesOf,
  recordIn,
  recordPageOf,
  titleOf,
} from './placed.ts'
import { factsOf, tablesOf, textsOf } from './record-parts.ts'
import { at, link, text } from './texts.ts'

/** What a section shows that follows from no action. */
interface Own {
  /** Below the record of the page that has this path. */
  readonly tables?: Readonly<Record<string, (context: PageContext, record: Values) => Promise<readonly Table[]>>>
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
        read: (context: PageContext) => readRecord(places, detail, context, own.tables?.[detail.path]),
      })),
      ...(own.details ?? []),
    ],
    actions: places.changes.map((change) => formPage(places, change)),
  }
}

function listPage(places: Places, list: Placed): ListPage {
  const ofAll = places.changes.filter((change) => isOfList(change, list))
  return {
    path: list.path,
    operation: list.route,
    title: titleOf(list),
    lead: aboutOf(list),
    ...(list.recordsLook ? { recordsLook: true } : {}),
    filters: (context) => typedFields(list).map((filter) => formField(list, filter, context, undefined)),
    ...(isPaged(list)
      ? {
          exported: (context, format) =>
            exportOf(list, format, context.t, (page) => perform(list, context, { ...askedOf(list, context), ...page })),
        }
      : {}),
    read: async (context) => {
      const filters = typedFields(list)
      const asked = askedOf(list, context)
      // A list that must be asked for something is not asked before the form is filled in.
      if (filters.length > 0 && Object.keys(context.fields).length === 0 && !list.input.safeParse(asked).success)
        return { table: { head: [], rows: [], none: context.t('console.choose_filter') }, next: null }
      const output = await perform(list, context, asked)
      const next = typeof output.next === 'string' ? output.next : null
      return { table: tableOf(places, list, output, context), next }
    },
    actions: (context) => [
      ...ofAll.map((change) => linkTo(places, change, context.params, context)),
      ...besideOf(places, list, context),
    ],
  }
}

/** What the address of a list asks for. */
const askedOf = (list: Placed, context: PageContext): Values => ({
  ...given(typedFields(list), context.fields),
  ...keysIn(list, context),
})

/** The first list of a section leads to those of no record. */
const besideOf = (places: Places, list: Placed, { t }: PageContext): ActionLink[] =>
  places.lists
    .filter((other) => list === places.lists[0] && other !== list && !recordPageOf(places, other))
    .map((other) => ({ operation: other.route, href: addressOf(other, other.path, {}), text: t(titleOf(other)) }))

function tableOf(places: Places, page: Placed, output: Values, context: PageContext): Table {
  const { t } = context
  const { columns: all = [], rows: name = '' } = page.list ?? {}
  const columns = all.filter(({ onTerminalOnly }) => !onTerminalOnly)
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
      const [first = text(''), ...others] = columns.map((column) => columnCell(column, row, record, t))
      if (detail && (page.list?.opens?.(row) ?? true))
        return [{ ...first, href: addressOf(detail, detail.path, record) }, ...others]
      if (!hasChanges) return [first, ...others]
      // The page of the first one leads to the others.
      const [change, ...more] = (changes[index] ?? []).map((one) => linkTo(places, one, record, context))
      const titles = [change, ...more].map((one) => one?.text).join(' / ')
      return [first, ...others, change ? link(titles, change.href) : text('–')]
    }),
    none: typeof output.next === 'string' ? t('console.nothing_yet') : t('console.nothing_matches'),
  }
}

function columnCell(column: Column<object>, row: Values, record: Values, t: PageContext['t']): Cell {
  const cell = linkedCell(column.name, cellOf(column, row, t), t)
  const tone = column.tone?.(row)
  const page = column.page?.(record)
  return { ...cell, ...(tone ? { tone } : {}), ...(page ? { href: at(...partsIn(page)) } : {}) }
}

async function readRecord(
  places: Places,
  detail: Placed,
  context: PageContext,
  moreTables: NonNullable<Own['tables']>[string] = async () => [],
) {
  const { t } = context
  const keys = keysIn(detail, context)
  const [record, beside] = recordIn(detail, await perform(detail, context, keys))
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
    title: `${t(titleOf(detail))}: ${nameOf(record, keys)}`,
    facts: [
      ...factsOf(detail, record, context),
      ...(seeAlso.length > 0 ? [{ name: t('console.field.more'), cells: seeAlso }] : []),
    ],
    tables: [
      ...tablesOf(detail, record, context),
      ...tablesOf(detail, beside, context),
      ...(await moreTables(context, record)),
    ],
    texts: textsOf(detail, record, context),
    actions: offeredFor(places, detail, record).map((change) => linkTo(places, change, record, context)),
  }
}

const nameOf = ({ name, title }: Values, keys: Values): string => String(name ?? title ?? Object.values(keys).join('/'))

function queryText(query: Values): string {
  const written = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) written.set(name, String(value))
  return written.toString()
}
