import { ACTIONS, isTable, labelOf, rowsIn, type Values } from '../actions/index.ts'
import { cellOf } from '../lib/action.ts'
import { formField, formPage } from './action-form.ts'
import { cellFor, given } from './action-values.ts'
import type { ActionLink, Cell, Field, ListPage, PageContext, Section, Table } from './page-model.ts'
import { mayDo } from './permissions.ts'
import {
  aboutOf,
  addressOf,
  adds,
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

/** The pages of a section: its lists, the page of each record, and a form for each change. */
export function sectionOf(id: keyof typeof ACTIONS): Section {
  const places = placesOf(ACTIONS[id])
  const [first] = places.lists
  if (!first) throw new Error(`${id} has no list`)
  return {
    id,
    title: titleOf(first),
    operation: first.route,
    lists: places.lists.map((list) => listPage(places, list)),
    details: places.details.map((detail) => ({
      path: detail.path,
      operation: detail.route,
      read: (context) => readRecord(places, detail, context),
    })),
    actions: places.changes.map((change) => formPage(places, change)),
  }
}

function listPage(places: Places, list: Placed): ListPage {
  const adding = places.changes.filter((change) => adds(change, list))
  const others = places.lists.filter((other) => other !== list && other.about.length === 0)
  const record = recordPageOf(places, list)
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
      ...adding.map((change) => linkTo(places, change, context.params, context)),
      ...(list.about.length > 0 ? [] : others.map((other) => listLink(other, {}, context))),
      ...(record ? [listLink(record, keysIn(list, context), context)] : []),
    ],
  }
}

const hiddenField = (name: string, { fields }: PageContext): Field => ({
  ...{ name, label: '', kind: 'hidden', value: fields[name] ?? '' },
})

/** A link to a list, or to the page of a record. */
const listLink = (list: Placed, record: Values, { t }: PageContext): ActionLink => ({
  operation: list.operation,
  href: addressOf(list, list.path, record),
  text: t(titleOf(list)),
})

/** What may be done with a row: the page of the first one leads to the others. */
function changeCell(places: Places, offered: readonly Placed[], row: Values, context: PageContext): Cell {
  const [change, ...more] = offered
    .filter(({ operation }) => mayDo(context.role, operation))
    .map((one) => linkTo(places, one, row, context))
  const titles = [change, ...more].map((one) => one?.text).join(' / ')
  return change ? link(titles, change.href) : text('–')
}

function tableOf(places: Places, page: Placed, output: Values, context: PageContext): Table {
  const { t, deps } = context
  const { columns = [], rows: name = '' } = page.list ?? {}
  const rows = rowsIn(output, name).map((row) => ({ ...keysIn(page, context), ...row }))
  const details = rows.map((row) => detailOf(places, page, row))
  const changes = rows.map((row, index) => (details[index] ? [] : offeredForRow(places, page, row)))
  const hasChanges = changes.some((offered) => offered.length > 0)
  const now = deps.clock.now()
  return {
    head: [
      ...columns.map((column) => labelOf(t, page, column.name)),
      ...(hasChanges ? [t('console.field.change')] : []),
    ],
    rows: rows.map((row, index) => {
      const [first = text(''), ...others] = columns.map((column) => cellFor(column.name, cellOf(column, row, now), t))
      const detail = details[index]
      if (detail) return [{ ...first, href: addressOf(detail, detail.path, { ...context.params, ...row }) }, ...others]
      return [first, ...others, ...(hasChanges ? [changeCell(places, changes[index] ?? [], row, context)] : [])]
    }),
    none: t('console.nothing_matches'),
  }
}

async function readRecord(places: Places, detail: Placed, context: PageContext) {
  const { t, deps, role } = context
  const keys = keysIn(detail, context)
  const record = await perform(detail, context, keys)
  const beside = await detail.showBeside?.(deps, keys)
  const seeAlso = [
    ...below(places, detail).map((page) => listLink(page, record, context)),
    ...(detail.related?.(record) ?? []).map(({ operation, text: key, path, query }) => ({
      operation,
      text: t(key),
      href: `${at(path.slice(1))}?${queryText(query)}`,
    })),
  ].filter(({ operation }) => mayDo(role, operation))
  const shown = { ...record, ...beside }
  return {
    title: `${t(titleOf(detail))}: ${String(record.name ?? Object.values(keys).join('/'))}`,
    ...(detail.elevated?.page ? { notice: t('console.masked') } : {}),
    facts: [
      ...factsOf(detail, shown, context),
      ...(seeAlso.length > 0
        ? [{ name: t('console.field.more'), cells: seeAlso.map(({ text: name, href }) => link(name, href)) }]
        : []),
    ],
    tables: tablesOf(places, detail, shown, context),
    actions: offeredFor(places, detail, record).map((change) => linkTo(places, change, record, context)),
  }
}

const factsOf = (detail: Placed, record: Values, { t }: PageContext) =>
  Object.entries(record)
    .filter(([, value]) => !isTable(value))
    .map(([name, value]) => ({ name: labelOf(t, detail, name), cells: [cellFor(name, value, t)] }))

/** A table of each list of objects, with what may be done with its rows. */
const tablesOf = (places: Places, detail: Placed, record: Values, context: PageContext): Table[] =>
  Object.entries(record).flatMap(([name, value]) => {
    const { t } = context
    if (!isTable(value)) return []
    const columns = Object.keys(value[0] ?? {})
    const rows = value.map((row) => ({ ...row, ...keysIn(detail, context) }))
    const changes = rows.map((row) => offeredForRow(places, detail, row))
    const hasChanges = changes.some((offered) => offered.length > 0)
    return [
      {
        title: labelOf(t, detail, name),
        head: [
          ...columns.map((column) => labelOf(t, detail, column)),
          ...(hasChanges ? [t('console.field.change')] : []),
        ],
        rows: value.map((row, index) => [
          ...columns.map((column) => cellFor(column, row[column], t)),
          ...(hasChanges ? [changeCell(places, changes[index] ?? [], rows[index] ?? {}, context)] : []),
        ]),
        none: '',
      },
    ]
  })

function queryText(query: Values): string {
  const written = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) written.set(name, String(value))
  return written.toString()
}
