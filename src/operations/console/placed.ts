import { type Action, elevatedBy, namesIn, partsOf, routesOf } from '../../platform/lib/action.ts'
import { allows, type Role } from '../../platform/lib/web/admin-auth.ts'
import { type Field, fieldsOf, typedFields, type Values } from '../actions/index.ts'
import type { ServiceDeps } from '../jobs/index.ts'
import { readFields } from './action-values.ts'
import type { ActionLink, PageContext } from './page-model.ts'
import { folderOf, hrefOf } from './texts.ts'

/** Where the pages of a section's actions are below /console, and how they belong together. */

export interface Placed extends Action<ServiceDeps> {
  readonly method: ReturnType<typeof partsOf>['method']
  /** The action's `page`, else the path of its route. */
  readonly path: string
  /** Fields that identify the record: those of the path and, for an action with its own `page`, of the query. */
  readonly about: readonly string[]
  /** The value in the path, for an action with `each`. */
  readonly fixed: Readonly<Record<string, string>>
  /** The operation whose role the page requires: its route, or more. */
  readonly operation: string
  /** Fields that the page requires before it shows anything. */
  readonly asks: readonly string[]
}

export interface Places {
  readonly lists: readonly Placed[]
  /** Pages of single records. */
  readonly details: readonly Placed[]
  readonly changes: readonly Placed[]
}

export function placesOf(actions: readonly Action<ServiceDeps>[]): Places {
  const placed = actions.flatMap((action) =>
    routesOf(action).map(({ route, fixed }): Placed => {
      const { method, path } = partsOf(route)
      const { page = { path, about: namesIn(path) } } = action
      return { ...action, route, method, path: page.path, about: page.about, fixed, operation: route, asks: [] }
    }),
  )
  return {
    lists: placed.filter(({ method, list }) => method === 'GET' && list),
    details: placed.filter(isRecord),
    changes: [
      ...placed.filter((page) => page.method !== 'GET' || isAsked(page)),
      ...placed.filter(isRecord).flatMap(askingFor),
    ],
  }
}

/** Whether it reads, but needs a form first: it takes fields, or gives a file. */
const isAsked = (page: Placed): boolean =>
  page.method === 'GET' &&
  !page.list &&
  (page.respond !== undefined ||
    typedFields(page).some(({ name }) => !page.about.includes(name) && !page.elevated?.fields.includes(name)))

const isRecord = (page: Placed): boolean => page.method === 'GET' && !page.list && !isAsked(page)

/** The page that asks for fields that only a higher role may give, and then shows the record once. */
function askingFor(detail: Placed): Placed[] {
  const { elevated } = detail
  if (!elevated?.page) return []
  const empty = Object.fromEntries(elevated.fields.map((name) => [name, '']))
  return [
    {
      ...detail,
      id: `${detail.id}_more`,
      path: elevated.page,
      operation: elevated.what,
      asks: elevated.fields,
      perform: (deps, input) => detail.perform(deps, { ...empty, ...(input as object) }),
    },
  ]
}

/** The key of the title; an action with `each` has a title for every value. */
export const titleOf = ({ id, fixed }: Placed): string => ['action', id, ...Object.values(fixed)].join('.')
export const aboutOf = ({ id }: Action): string => `action.${id}.about`

/** The record's name for titles. */
export const nameIn = ({ name, title, number }: Values): unknown => name ?? title ?? number

/** `/apps` of `/apps/:app_key`. */
const withoutNames = (path: string): string => path.replace(/(?:\/:\w+)+$/, '')

/** The page for the rows of this list; in a list of mixed records, the page of the record that the row identifies. */
export const detailOf = ({ details }: Places, list: Placed, row: Values): Placed | undefined =>
  details.find(
    ({ path, about }) => (about.length > 0 && isInQuery(path) ? folderOf(path) : withoutNames(path)) === list.path,
  ) ??
  (list.about.length === 0 && !list.list?.columns.some(({ page }) => page)
    ? details.find(({ about }) => about.length > 0 && about.every((name) => name in row))
    : undefined)

const isInQuery = (path: string): boolean => namesIn(path).length === 0

/** Whether two pages that identify the record in their query are in one folder, and are about the same record. */
const isBeside = (detail: Placed, { path, about }: Placed): boolean =>
  detail.about.length > 0 &&
  isInQuery(detail.path) &&
  folderOf(detail.path) === folderOf(path) &&
  detail.about.every((name) => about.includes(name))

/** The record page that a page belongs to. */
export const recordPageOf = ({ details }: Places, page: Placed): Placed | undefined =>
  deepest(details, page.path) ?? details.find((detail) => isBeside(detail, page))

/** Another page about the same record, or about one that this record belongs to. */
export function pageAbove({ details }: Places, detail: Placed): Placed | undefined {
  const others = details.filter((other) => other !== detail)
  const beside = details.find((other) => isBeside(other, detail))
  return deepest(others, detail.path) ?? (beside === detail ? undefined : beside)
}

/** Pages and lists that belong to this record page. */
export const below = (places: Places, detail: Placed): Placed[] => [
  ...places.lists.filter((list) => recordPageOf(places, list)?.route === detail.route),
  ...places.details.filter(
    (other) => other !== detail && places.details.find((page) => isBeside(page, other)) === detail,
  ),
]

/** The list that a change adds to, or whose rows it changes. */
export const listOf = ({ lists }: Places, { path }: Placed): Placed | undefined => deepest(lists, path)

/** The page at this path or at its longest prefix. */
const deepest = (pages: readonly Placed[], path: string): Placed | undefined =>
  pages
    .filter((page) => path === page.path || path.startsWith(`${page.path}/`))
    .sort((one, other) => other.path.length - one.path.length)[0]

/** The record page or list that offers a change. */
export const homeOf = ({ details, lists }: Places, page: Placed): Placed | undefined =>
  details.find((detail) => isBeside(detail, page)) ?? deepest([...details, ...lists], page.path)

export const adds = (change: Placed, list: Placed | undefined): boolean =>
  change.method === 'POST' && change.path === list?.path

/** Whether the list's page offers the change, since it creates a record or is about the list as a whole. */
export const belongsToList = (places: Places, change: Placed, list = listOf(places, change)): boolean =>
  list !== undefined &&
  listOf(places, change)?.route === list.route &&
  change.about.every((name) => list.about.includes(name))

/** A route shares its path with the record's page, so forms have paths below it. */
const FORM_PATHS = { PATCH: '/edit', PUT: '/set', DELETE: '/remove', GET: '', POST: '' } as const
export function formPath({ details }: Places, change: Placed, list: Placed | undefined): string {
  const path = adds(change, list) ? `${change.path}/new` : change.path + FORM_PATHS[change.method]
  const isOf = (record: Placed) => new RegExp(`^${record.path.replace(/:\w+/g, '[^/]+')}$`).test(path)
  // `/apps/new` is the page of an app with that key.
  return details.some((record) => record.path !== path && isOf(record)) ? path.replace(/[^/]+\/[^/]+$/, '-/$&') : path
}

export const addressOf = ({ about }: Pick<Placed, 'about'>, path: string, record: Values): string =>
  hrefOf([path, Object.fromEntries([...namesIn(path), ...about].map((name) => [name, record[name]]))])

/** The fields in a page's address that identify its record. */
export function keysIn(action: Placed, { params, fields }: PageContext): Values {
  const { about, fixed } = action
  const keys = about.flatMap((name): [string, string][] => {
    const text = params[name] ?? fields[name]
    return text === undefined ? [] : [[name, text]]
  })
  return { ...readFields(fieldsOf(action), Object.fromEntries(keys)), ...fixed }
}

/** The changes offered on a record's page, or on its row if the list has no such pages. */
export const offeredFor = (places: Places, page: Placed, record: Values): Placed[] =>
  changesAt(places, page).filter((change) => isOffered(change, record))

const changesAt = (places: Places, page: Placed): Placed[] =>
  places.changes.filter((change) => homeOf(places, change)?.route === page.route && !belongsToList(places, change))

const isOffered = (change: Placed, record: Values): boolean =>
  change.about.length > 0 &&
  change.about.every((name) => name in record) &&
  (change.offered?.({ ...record, ...change.fixed }) ?? true)

/** The changes offered for a row of this list, or of a table on this page: for an operator's token, for example. */
export function offeredOn(places: Places, page: Placed): (row: Values) => Placed[] {
  const record = page.list ? recordPageOf(places, page) : page
  const ofRecord = record
    ? changesAt(places, record).filter(({ about }) => !about.every((name) => record.about.includes(name)))
    : []
  const changes = [...(page.list ? changesAt(places, page) : []), ...ofRecord]
  return (row) => changes.filter((change) => isOffered(change, row))
}

export const linkTo = (places: Places, change: Placed, record: Values, { t }: PageContext): ActionLink => ({
  operation: change.operation,
  href: addressOf(change, formPath(places, change, listOf(places, change)), record),
  text: t(titleOf(change)),
  ...(change.dangerous ? { isDangerous: true } : {}),
})

/** Performs the action. Throws if a field requires a higher role. */
export async function carryOut(
  action: Action<ServiceDeps>,
  { deps, admit }: PageContext,
  input: Values,
): Promise<object> {
  const elevated = elevatedBy(action, input)
  if (elevated) await admit(elevated.role, elevated.what)
  return action.perform(deps, input)
}

/** Performs the action; the output is masked if the role requires it. */
export async function perform(action: Action<ServiceDeps>, context: PageContext, input: Values): Promise<Values> {
  const { role } = context
  const output = await carryOut(action, context, input)
  return { ...(allows(role, 'support') ? output : (action.masked?.(output) ?? output)) }
}

/** The fields that this role may fill in, without those of the page's address. */
export const fieldsFor = (action: Placed, role: Role): Field[] =>
  typedFields(action).filter(
    ({ name }) => !action.about.includes(name) && !(name in action.fixed) && mayGive(action, name, role),
  )

export const mayGive = ({ elevated }: Pick<Placed, 'elevated'>, name: string, role: Role): boolean =>
  !elevated?.fields.includes(name) || allows(role, elevated.role)
