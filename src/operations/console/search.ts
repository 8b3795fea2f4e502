import { isBigint } from '../../platform/db/page.ts'
import { namesIn, partsOf } from '../../platform/lib/action.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import { isUuid } from '../../platform/lib/uuid.ts'
import { RescodeError } from '../../platform/lib/web/rescode.ts'
import { actionOf, rowsIn, type Values } from '../actions/index.ts'
import { type Explained, explain } from '../explain/index.ts'
import { tableOf } from './action-values.ts'
import type { Cell, PageContext, Table } from './page-model.ts'
import { mayDo } from './permissions.ts'
import { addressOf, mayGive, perform } from './placed.ts'
import { EXPLAIN, knownRequest } from './sections/requests.ts'
import { at, hrefOf, link } from './texts.ts'

/**
 * Finds requests, orders, partners, micro-apps, teams, operators and people. Operators from support upwards also see
 * what `gatehouse explain` knows, and can search by a passport, a person's name, a phone number or the beginning of a
 * token.
 */

interface Found {
  readonly kind: string
  readonly link: Cell
}

const MAX_FOUND = 5
const MAX_LENGTH = 128

type Finder = (context: PageContext, query: string) => Promise<readonly Found[]>

/** A kind of record: the text that names it, its action, and the address of a record's page. */
const kindOf = (text: string, route: string) => {
  const action = actionOf(route)
  const { path } = partsOf(route)
  const { page = { path, about: namesIn(path) } } = action
  return { text, action, addressOf: (record: Values) => addressOf(page, page.path, record) }
}
type Kind = ReturnType<typeof kindOf>

const ORDER = kindOf('console.search.order', 'GET /orders/:order_id')
const PARTNER = kindOf('console.search.partner', 'GET /partners/:partner_id')
const APP = kindOf('console.search.app', 'GET /apps/:app_key')
const TEAM = kindOf('console.search.team', 'GET /teams/:team_id')
const USER = kindOf('console.search.user', 'GET /users/:cid/:user_id')
const OPERATOR = kindOf('console.search.operator', 'GET /operators/:name')

const numbered =
  (name: string) =>
  (query: string): Values | undefined =>
    isBigint(query) ? { [name]: query } : undefined

function userKeys(query: string): Values | undefined {
  const [, cid, user_id] = /^(\d{1,9})\/(.+)$/s.exec(query) ?? []
  return user_id === undefined ? undefined : { cid: Number(cid), user_id }
}

/** Finds a record by its id, as lists and the audit log show it. `keysIn`: undefined if the query cannot be an id. */
const byId =
  ({ text, action, addressOf }: Kind, keysIn: (query: string) => Values | undefined): Finder =>
  async (context, query) => {
    const keys = keysIn(query)
    if (!keys) return []
    await perform(action, context, keys)
    return [{ kind: context.t(text), link: link(query, addressOf(keys)) }]
  }

/**
 * Finds records by the beginning of a field, through the filter of their list. Skips lists that the role may not see,
 * and fields that it may not filter by: whether a person of a certain name exists is personal data.
 */
const byField = ({ text, addressOf }: Kind, route: string, nameOf: (row: Values) => unknown, field: string): Finder => {
  const list = actionOf(route)
  return async (context, query) => {
    if (!mayDo(context.role, route) || !mayGive(list, field, context.role)) return []
    const { t } = context
    const output = await perform(list, context, { [field]: query, limit: MAX_FOUND })
    const found = rowsIn(output, list.list?.rows ?? '').map((row) => link(String(nameOf(row)), addressOf(row)))
    const all = link(t('console.search.all'), hrefOf([partsOf(route).path, { [field]: query }]))
    return [...found, ...(output.next ? [all] : [])].map((link) => ({ kind: t(text), link }))
  }
}

const request: Finder = async (context, query) => {
  if (!isUuid(query) || !(await knownRequest(context, query))) return []
  return [{ kind: context.t('console.search.request'), link: link(query, at('requests', query)) }]
}

const partnerName = ({ name, client_id }: Values) => `${name} (${client_id})`
const appName = ({ name, app_key }: Values) => `${name} (${app_key})`
const teamName = ({ name, team_id }: Values) => `${name} (${team_id})`
const ownName = ({ name }: Values) => name
const orderName = ({ order_id, partner_order_id }: Values) => `${order_id} (${partner_order_id})`
const passport = ({ passport }: Values) => passport

const ALL: readonly Finder[] = [
  request,
  byId(ORDER, numbered('order_id')),
  byId(PARTNER, numbered('partner_id')),
  byId(USER, userKeys),
  byId(TEAM, (query) => (isUuid(query) ? { team_id: query } : undefined)),
  byField(ORDER, 'GET /orders', orderName, 'partner_order_id'),
  byField(PARTNER, 'GET /partners', partnerName, 'client_id'),
  byField(PARTNER, 'GET /partners', partnerName, 'name'),
  byField(APP, 'GET /apps', appName, 'app_key'),
  byField(APP, 'GET /apps', appName, 'name'),
  byField(TEAM, 'GET /teams', teamName, 'name'),
  byField(OPERATOR, 'GET /operators', ownName, 'name'),
  byField(USER, 'GET /users', passport, 'passport'),
  byField(USER, 'GET /users', passport, 'name'),
]

/** Finds at most five of each kind, by prefix; the rest is in the kind's list. */
export async function searchFor(context: PageContext) {
  const query = cutTo(context.fields.q ?? '', MAX_LENGTH)
  if (query === '') return { query, found: [], tables: [], href: undefined }
  const [explained, ...byKind] = await Promise.all([
    explainedFor(context, query),
    ...ALL.map((find) => foundOr(find(context, query), [])),
  ])
  const found = [
    ...new Map([...byKind.flat(), ...people(explained, context)].map((hit) => [hit.link.href, hit])).values(),
  ]
  const tables = tablesOf(explained, context)
  const [only, ...others] = found
  const isOnly = others.length === 0 && tables.length === 0
  /** `href`: set if exactly one page matches. */
  return { query, found, tables, href: isOnly ? only?.link.href : undefined }
}

/** Skipped for request ids, whose own page shows the same. */
async function explainedFor({ deps, role }: PageContext, query: string): Promise<Explained> {
  if (isUuid(query) || !mayDo(role, 'GET /explain')) return {}
  return foundOr(explain(deps, query), {})
}

const people = ({ people = [] }: Explained, { t }: PageContext) =>
  people.map(({ cid, user_id }) => ({
    kind: t(USER.text),
    link: link(`${cid}/${user_id}`, USER.addressOf({ cid, user_id })),
  }))

function tablesOf({ token, app, partner, people = [] }: Explained, context: PageContext): Table[] {
  const { t } = context
  const tables: Table[] = []
  const add = (part: string, rows: readonly object[], shown: Pick<Table, 'title' | 'none' | 'at'>) =>
    tables.push({ ...tableOf(EXPLAIN, EXPLAIN.parts?.[part] ?? [], rows as Values[], context), ...shown })
  const addRefusals = (of: string, rows: readonly object[]) =>
    add('refusals', rows, { title: t('console.explain.refusals', { of }), none: t('console.explain.no_refusals') })
  if (token) {
    const { begins, kind, expires_at: ends, issued, refusals } = token
    const title = t('console.explain.token_of', { begins, kind: t(TOKEN_KINDS[kind] ?? kind), ends: '\n' })
    add('issued', issued, { title, at: ends.toISOString(), none: t('console.explain.token_unknown') })
    addRefusals(begins, refusals)
  }
  if (app) addRefusals(app.app_key, app.refusals)
  if (partner) {
    const title = t('console.explain.rejected', { of: partner.client_id })
    add('rejected_calls', partner.rejected_calls, { title, none: t('console.explain.no_rejected') })
  }
  for (const { cid, user_id, refusals } of people) {
    // Only where there are some: otherwise the search leads straight to the person's page.
    if (refusals.length > 0) addRefusals(`${cid}/${user_id}`, refusals)
  }
  return tables
}

const TOKEN_KINDS: Readonly<Record<string, string>> = {
  'access token': 'console.explain.kind_access',
  'refresh token': 'console.explain.kind_refresh',
  code: 'console.explain.kind_code',
}

/** A query that is invalid for one kind of record, or unknown there, finds nothing of that kind. */
const foundOr = <Found>(finding: Promise<Found>, fallback: Found): Promise<Found> =>
  finding.catch((error: unknown) => {
    if (error instanceof RescodeError) return fallback
    throw error
  })
