import { fieldsOf, typedFields, type Values } from '../actions/index.ts'
import type { ServiceDeps } from '../jobs/index.ts'
import { type Action, namesIn, partsOf, routesOf } from '../lib/action.ts'
import { allows } from '../lib/web/admin-auth.ts'
import { given } from './action-values.ts'
import type { ActionLink, PageContext } from './page-model.ts'
import { at } from './texts.ts'

/** Where the pages of a section's actions are, below /console, and which belong to each other. */

export interface Placed extends Action<ServiceDeps> {
  readonly method: ReturnType<typeof partsOf>['method']
  /** The action's own page, else the path of its route. */
  readonly path: string
  /** Fields that say what it is about: those of the path, and with a page of its own others in the query. */
  readonly about: readonly string[]
  /** What its path says, of a route that stands for several. */
  readonly fixed: Readonly<Record<string, string>>
}

export interface Places {
  readonly lists: readonly Placed[]
  /** Pages of one record. */
  readonly details: readonly Placed[]
  /** What a form asks for: changes, and what is read with more than an address. */
  readonly changes: readonly Placed[]
}

/** Whether it only reads, but what a form says, or a file. */
const isAsked = (page: Placed): boolean =>
  page.method === 'GET' &&
  !page.list &&
  (page.respond !== undefined || typedFields(page).some(({ name }) => !page.about.includes(name)))

export function placesOf(actions: readonly Action<ServiceDeps>[]): Places {
  const placed = actions.flatMap((action) =>
    routesOf(action).map(({ route, fixed }): Placed => {
      const { method, path } = partsOf(route)
      const { page = { path, about: namesIn(path) } } = action
      return { ...action, route, method, path: page.path, about: page.about, fixed }
    }),
  )
  return {
    lists: placed.filter(({ method, list }) => method === 'GET' && list),
    details: placed.filter((page) => page.method === 'GET' && !page.list && !isAsked(page)),
    changes: placed.filter((page) => page.method !== 'GET' || isAsked(page)),
  }
}

/** One of several says which by the text of that value. */
export const titleOf = ({ id, fixed }: Placed): string => ['action', id, ...Object.values(fixed)].join('.')
export const aboutOf = ({ id }: Action): string => `action.${id}.about`

const partsIn = (path: string): string[] => path.slice(1).split('/')

/** `/apps` of `/apps/:app_key`. */
const withoutNames = (path: string): string => path.replace(/(?:\/:\w+)+$/, '')

/** The page of one record of this list. */
export const detailOf = ({ details }: Places, list: Placed): Placed | undefined =>
  details.find(({ path }) => withoutNames(path) === list.path)

/** The page that something below a record belongs to. */
export const recordPageOf = ({ details }: Places, { path }: Placed): Placed | undefined =>
  details.filter(isBelow(path)).sort((one, other) => other.path.length - one.path.length)[0]

/** The list that a change adds to, or whose rows it changes. */
export const listOf = ({ lists }: Places, { path }: Placed): Placed | undefined =>
  lists.filter(isBelow(path)).sort((one, other) => other.path.length - one.path.length)[0]

const isBelow = (path: string) => (page: Placed) => path === page.path || path.startsWith(`${page.path}/`)

/** The page, of a record or a list, that offers a change. */
export const homeOf = ({ details, lists }: Places, { path }: Placed): Placed | undefined =>
  [...details, ...lists].filter(isBelow(path)).sort((one, other) => other.path.length - one.path.length)[0]

/** Whether it adds a record to a list. */
export const adds = (change: Placed, list: Placed | undefined): boolean =>
  change.method === 'POST' && change.path === list?.path

/** Whether the page of the list offers it: it adds to the list, or is about no record of it. */
export const belongsToList = (places: Places, change: Placed, list = listOf(places, change)): boolean =>
  list !== undefined &&
  listOf(places, change)?.route === list.route &&
  change.about.every((name) => list.about.includes(name))

/** PATCH has the path of the record itself; its form stands below. */
const FORM_PATHS = { PATCH: '/edit', PUT: '/set', DELETE: '/remove', GET: '', POST: '' } as const
export const formPath = (change: Placed, list: Placed | undefined): string =>
  adds(change, list) ? `${change.path}/new` : change.path + FORM_PATHS[change.method]

/** The address of a page about a record. */
export function addressOf({ about }: Pick<Placed, 'about'>, path: string, record: Values): string {
  const inPath = namesIn(path)
  const text = (name: string): string => String(record[name] ?? '')
  const address = at(...partsIn(path).map((part) => (part.startsWith(':') ? text(part.slice(1)) : part)))
  const query = new URLSearchParams()
  for (const name of about) if (!inPath.includes(name)) query.set(name, text(name))
  return query.size === 0 ? address : `${address}?${query}`
}

/** What the address of a page says of the record that it is about. */
export function keysIn(action: Placed, { params, fields }: PageContext): Values {
  const { about, fixed } = action
  const said = about.flatMap((name): [string, string][] => {
    const text = params[name] ?? fields[name]
    return text === undefined ? [] : [[name, text]]
  })
  return { ...given(fieldsOf(action), Object.fromEntries(said)), ...fixed }
}

/** The changes that the page of a record, or its row in a list without such pages, offers. */
export const offeredFor = (places: Places, page: Placed, record: Values): Placed[] =>
  places.changes.filter(
    (change) =>
      change.about.length > 0 &&
      homeOf(places, change)?.route === page.route &&
      !belongsToList(places, change) &&
      change.about.every((name) => name in record) &&
      (change.offered?.(record) ?? true),
  )

export const linkTo = (places: Places, change: Placed, record: Values, { t }: PageContext): ActionLink => ({
  operation: change.route,
  href: addressOf(change, formPath(change, listOf(places, change)), record),
  text: t(titleOf(change)),
  ...(change.dangerous ? { isDangerous: true } : {}),
})

/** What it gives, as the operator's role may see it. */
export async function perform(
  action: Action<ServiceDeps>,
  { deps, role }: PageContext,
  input: Values,
): Promise<Values> {
  const output = await action.perform(deps, input)
  return { ...(allows(role, 'support') ? output : (action.masked?.(output) ?? output)) }
}
