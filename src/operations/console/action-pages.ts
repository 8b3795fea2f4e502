import { ACTIONS, exportOf, isPaged, recordIn, rowsIn, type Values } from '../actions/index.ts'
import { formField, formPage } from './action-form.ts'
import { readFields, tableOf } from './action-values.ts'
import type { ActionLink, Field, ListPage, PageContext, Section, Table } from './page-model.ts'
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
  nameIn,
  offeredFor,
  type Placed,
  type Places,
  pageAbove,
  perform,
  placesOf,
  recordPageOf,
  titleOf,
} from './placed.ts'
import { partsWithChanges, withChanges } from './record-parts.ts'
import { hrefOf, link, text, titled } from './texts.ts'

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
    forms: places.changes.map((change) => formPage(places, change)),
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
      const filters = fieldsFor(list, context.role).map((filter) => {
        const { initially, required } = filter // a filter with a default has no option for "all"
        return formField(list, { ...filter, required: required || (initially ?? null) !== null }, context, initially)
      })
      const about = list.about.filter((name) => !(name in context.params))
      return filters.length > 0 ? [...about.map((name) => hiddenField(name, context)), ...filters] : []
    },
    ...(isPaged(list)
      ? {
          exportRole: list.list?.exportRole ?? list.role,
          exported: (context, format) =>
            exportOf(list, format, (page) => perform(list, context, { ...inputOf(list, context), ...page }), {
              t: context.t,
              now: context.deps.clock.now(),
            }),
        }
      : {}),
    read: async (context) => {
      const filters = fieldsFor(list, context.role)
      const input = inputOf(list, context)
      // A list with a required filter is not read before the form is filled in.
      if (filters.length > 0 && Object.keys(context.fields).length === 0 && !list.input.safeParse(input).success)
        return { table: { head: [], rows: [], none: context.t('console.choose_filter') }, next: null }
      const output = await perform(list, context, input)
      const next = typeof output.next === 'string' ? output.next : null
      return { table: listTable(places, list, output, context), next }
    },
    actions: (context) => [
      ...own.map((change) => ownLink(places, change, context)),
      ...besideOf(places, list, context),
    ],
  }
}

function inputOf(list: Placed, context: PageContext): Values {
  const allowed = Object.entries(context.fields).filter(([name]) => mayGive(list, name, context.role))
  return { ...readFields(fieldsFor(list, context.role), Object.fromEntries(allowed)), ...keysIn(list, context) }
}

/** Links to files pass on the filters of the list. */
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

const pageLink = (page: Placed, record: Values, { t }: PageContext): ActionLink => ({
  operation: page.operation,
  href: addressOf(page, page.path, record),
  text: t(titleOf(page)),
})

/** A list below a record links to that record, and the first list of a section to the other lists. */
function besideOf(places: Places, list: Placed, context: PageContext): ActionLink[] {
  const above = recordPageOf(places, list)
  const keys = keysIn(list, context)
  const others = places.lists.filter(
    (other) => list === places.lists[0] && other !== list && !recordPageOf(places, other),
  )
  return [
    ...(above
      ? [
          {
            ...pageLink(above, keys, context),
            text: titled(context.t(titleOf(above)), Object.values(keys).join('/'), context.t),
          },
        ]
      : []),
    ...others.map((other) => pageLink(other, {}, context)),
  ].map((shown) => ({ ...shown, isSecond: true }))
}

function listTable(places: Places, page: Placed, output: Values, context: PageContext): Table {
  const { t } = context
  const { rows: name = '', columns = [], opens } = page.list ?? {}
  const about = { ...context.params, ...keysIn(page, context) }
  const records = rowsIn(output, name).map((row) => ({ ...about, ...row }))
  const details = records.map((record) => detailOf(places, page, record))
  const shown = tableOf(page, columns, records, context)
  const cut = page.cut?.(output)
  const table = {
    ...shown,
    ...(cut === undefined ? {} : { note: t(cut) }),
    rows: records.map((record, index) => {
      const [first = text(''), ...others] = shown.rows[index] ?? []
      const detail = (opens?.(record) ?? true) ? details[index] : undefined
      return [detail ? { ...first, href: addressOf(detail, detail.path, record) } : first, ...others]
    }),
    none: t(
      typeof output.next === 'string'
        ? 'console.nothing_yet'
        : isFiltered(page, context)
          ? 'console.nothing_matches'
          : 'console.none_yet',
    ),
  }
  return details.some((detail) => detail) ? table : withChanges(places, page, records, table, context)
}

/** Whether something was looked for. A filter that is set from the start, such as the state of requests, counts too. */
const isFiltered = (list: Placed, { role, fields }: PageContext): boolean =>
  fieldsFor(list, role).some(({ name, initially }) => (fields[name] ?? initially ?? '') !== '')

/** A list that the record's page shows whole. */
async function wholeList(places: Places, list: Placed, keys: Values, context: PageContext): Promise<Table> {
  const { t } = context
  const output = await perform(list, context, keys)
  return { ...listTable(places, list, output, context), title: t(titleOf(list)), none: t('console.home.none') }
}

async function readRecord(places: Places, detail: Placed, context: PageContext) {
  const { t, deps, role } = context
  const keys = keysIn(detail, context)
  const output = await perform(detail, context, keys)
  const [record, rest] = recordIn(detail.record, output)
  const beside = { ...rest, ...(await detail.showBeside?.(deps, keys)) }
  const about = below(places, detail).filter(({ operation }) => mayDo(role, operation))
  const [shown, linked] = [about.filter(({ list }) => list?.onRecord), about.filter(({ list }) => !list?.onRecord)]
  const above = pageAbove(places, detail)
  const seeAlso = [
    ...(above ? [pageLink(above, keys, context)] : []),
    ...linked.map((page) => pageLink(page, record, context)),
    ...(detail.related?.({ ...record, ...beside }) ?? []).map(({ operation, text: key, page }) => ({
      operation,
      text: t(key),
      href: hrefOf(page),
    })),
  ]
    .filter(({ operation }) => mayDo(role, operation))
    .map(({ text: name, href }) => link(name, href))
  const { facts, tables, texts } = partsWithChanges(places, detail, { ...record, ...beside }, context)
  return {
    title: titled(
      t(titleOf(detail)),
      String(detail.called?.(output) ?? nameIn(record) ?? Object.values(keys).join('/')),
      t,
    ),
    ...(detail.elevated?.page ? { notice: t('console.masked') } : {}),
    facts: [...facts, ...(seeAlso.length > 0 ? [{ name: t('console.field.more'), cells: seeAlso }] : [])],
    tables: [...tables, ...(await Promise.all(shown.map((list) => wholeList(places, list, keys, context))))],
    texts,
    actions: offeredFor(places, detail, { ...record, ...beside }).map((change) =>
      linkTo(places, change, record, context),
    ),
  }
}
