import { ACTIONS, exportOf, isPaged, type Values } from '../actions/index.ts'
import { formPage } from './action-form.ts'
import { listTable, withChanges } from './action-tables.ts'
import { given } from './action-values.ts'
import { formField } from './form-field.ts'
import type { ActionLink, DetailPage, Field, ListPage, PageContext, Section, Table } from './page-model.ts'
import { mayDo } from './permissions.ts'
import {
  aboutOf,
  addressOf,
  below,
  fieldsFor,
  isOfList,
  keysIn,
  linkTo,
  mayGive,
  offeredFor,
  type Placed,
  type Places,
  perform,
  placesOf,
  recordIn,
  recordPageOf,
  titleOf,
} from './placed.ts'
import { factsOf, tablesOf, textsOf } from './record-parts.ts'
import { at, link } from './texts.ts'

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
    filters: (context) => {
      const filters = fieldsFor(list, context.role).map((filter) => formField(list, filter, context, undefined))
      const about = list.about.filter((name) => !(name in context.params))
      return filters.length > 0 ? [...about.map((name) => hiddenField(name, context)), ...filters] : []
    },
    ...(isPaged(list)
      ? {
          exported: (context, format) =>
            exportOf(list, format, context, (page) => perform(list, context, { ...askedOf(list, context), ...page })),
        }
      : {}),
    read: async (context) => {
      const filters = fieldsFor(list, context.role)
      const asked = askedOf(list, context)
      // A list that must be asked for something is not asked before the form is filled in.
      if (filters.length > 0 && Object.keys(context.fields).length === 0 && !list.input.safeParse(asked).success)
        return { table: { head: [], rows: [], none: context.t('console.choose_filter') }, next: null }
      const output = await perform(list, context, asked)
      const next = typeof output.next === 'string' ? output.next : null
      return { table: listTable(places, list, output, context), next }
    },
    actions: (context) => [
      ...ofAll.map((change) => linkTo(places, change, context.params, context)),
      ...besideOf(places, list, context),
    ],
  }
}

/** What the address of a list asks for. */
function askedOf(list: Placed, context: PageContext): Values {
  const said = Object.entries(context.fields).filter(([name]) => mayGive(list, name, context.role))
  return { ...given(fieldsFor(list, context.role), Object.fromEntries(said)), ...keysIn(list, context) }
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

async function readRecord(
  places: Places,
  detail: Placed,
  context: PageContext,
  moreTables: NonNullable<Own['tables']>[string] = async () => [],
) {
  const { t, deps, role } = context
  const keys = keysIn(detail, context)
  const [record, rest] = recordIn(detail, await perform(detail, context, keys))
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
  const tables = [...tablesOf(detail, shown, context), ...tablesOf(detail, rest, context)].map(({ of, shown: table }) =>
    withChanges(
      places,
      detail,
      of.map((row) => ({ ...row, ...keys })),
      table,
      context,
    ),
  )
  return {
    title: `${t(titleOf(detail))}: ${nameOf(record, keys)}`,
    ...(detail.elevated?.page ? { notice: t('console.masked') } : {}),
    facts: [
      ...factsOf(detail, shown, context),
      ...(seeAlso.length > 0 ? [{ name: t('console.field.more'), cells: seeAlso }] : []),
    ],
    tables: [...tables, ...(await moreTables(context, record))],
    texts: textsOf(detail, shown, context),
    actions: offeredFor(places, detail, record).map((change) => linkTo(places, change, record, context)),
  }
}

const nameOf = ({ name, title }: Values, keys: Values): string => String(name ?? title ?? Object.values(keys).join('/'))

function queryText(query: Values): string {
  const written = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) written.set(name, String(value))
  return written.toString()
}
