import { listUsers } from '../../authorization/account/index.ts'
import { listMicroApps } from '../../authorization/registry/index.ts'
import { isBigint } from '../../platform/db/page.ts'
import { parseInput } from '../../platform/lib/json/input.ts'
import { isUuid } from '../../platform/lib/uuid.ts'
import { RescodeError } from '../../platform/lib/web/rescode.ts'
import { listOrders, showOrder } from '../../ticketing/orders/index.ts'
import { listPartners } from '../../ticketing/partners/index.ts'
import { type Explained, explain } from '../explain/index.ts'
import { refusalTable, rejectedTable, userLink } from './explained.ts'
import type { Cell, PageContext, Table } from './page-model.ts'
import { mayDo, PERSONAL_DATA } from './permissions.ts'
import { knownRequest } from './sections/requests.ts'
import { at, link, stateCell, text, time } from './texts.ts'

/**
 * Finds a request id, an order, a partner, a micro-app or a person. The role support and those above also see what
 * `gatehouse explain` knows, and can search by a person's name, by phone number and by the beginning of a token.
 */

export interface Found {
  readonly query: string
  /** The only page that fits. */
  readonly href?: string
  readonly found: readonly { readonly kind: string; readonly link: Cell }[]
  readonly tables: readonly Table[]
}

const MAX_FOUND = 5
const LONGEST = 128

type Finder = (context: PageContext, query: string) => Promise<readonly { kind: string; link: Cell }[]>

const orderById: Finder = async ({ deps, t }, query) => {
  if (!isBigint(query)) return []
  const found = await showOrder(deps, BigInt(query)).catch((error: unknown) => {
    if (error instanceof RescodeError) return undefined
    throw error
  })
  return found ? [{ kind: t('console.search.order'), link: link(query, at('orders', query)) }] : []
}

const orderOfPartner: Finder = async ({ deps, t }, query) => {
  const { orders } = await listOrders(deps, parseInput(listOrders.input, { partner_order_id: query, limit: MAX_FOUND }))
  return orders.map(({ order_id, partner_order_id }) => ({
    kind: t('console.search.order'),
    link: link(`${order_id} (${partner_order_id})`, at('orders', String(order_id))),
  }))
}

/** By the beginning of each of these fields. */
const partnersBy =
  (field: 'client_id' | 'name'): Finder =>
  async ({ deps, t }, query) => {
    const { partners } = await listPartners(deps, parseInput(listPartners.input, { [field]: query, limit: MAX_FOUND }))
    return partners.map(({ partner_id, name, client_id }) => ({
      kind: t('console.search.partner'),
      link: link(`${name} (${client_id})`, at('partners', String(partner_id))),
    }))
  }

const appsBy =
  (field: 'app_key' | 'name'): Finder =>
  async ({ deps, t }, query) => {
    const { apps } = await listMicroApps(deps, parseInput(listMicroApps.input, { [field]: query, limit: MAX_FOUND }))
    return apps.map(({ app_key, name }) => ({
      kind: t('console.search.app'),
      link: link(`${name} (${app_key})`, at('apps', app_key)),
    }))
  }

/** Whether somebody of a name is there is personal data, as in the list of users. */
const peopleBy =
  (field: 'passport' | 'name'): Finder =>
  async ({ deps, t, role }, query) => {
    if (field === 'name' && !mayDo(role, PERSONAL_DATA)) return []
    const { users } = await listUsers(deps, parseInput(listUsers.input, { [field]: query, limit: MAX_FOUND }))
    return users.map(({ cid, user_id, passport }) => ({
      kind: t('console.search.user'),
      link: link(passport, `${at('users', 'user')}?${new URLSearchParams({ cid: String(cid), user_id })}`),
    }))
  }

const request: Finder = async (context, query) => {
  if (!isUuid(query) || !(await knownRequest(context, query))) return []
  return [{ kind: context.t('console.search.request'), link: link(query, at('requests', query)) }]
}

const ALL: readonly Finder[] = [
  request,
  orderById,
  orderOfPartner,
  partnersBy('client_id'),
  partnersBy('name'),
  appsBy('app_key'),
  appsBy('name'),
  peopleBy('passport'),
  peopleBy('name'),
]

/** At most five of a kind, by the beginning of what each is known by. */
export async function searchFor(context: PageContext): Promise<Found> {
  const query = (context.fields.q ?? '').slice(0, LONGEST)
  if (query === '') return { query, found: [], tables: [] }
  const [explained, ...byKind] = await Promise.all([
    explainedFor(context, query),
    ...ALL.map((find) => quiet(find(context, query))),
  ])
  const found = [
    ...new Map([...byKind.flat(), ...people(explained, context)].map((one) => [one.link.href, one])).values(),
  ]
  const tables = tablesOf(explained, context)
  const [only, ...others] = found
  const isOnly = others.length === 0 && tables.length === 0
  return { query, found, tables, ...(only?.link.href && isOnly ? { href: only.link.href } : {}) }
}

/** Not for a request or an order: their own pages show the same. */
async function explainedFor({ deps, role }: PageContext, query: string): Promise<Explained> {
  if (isUuid(query) || !mayDo(role, 'GET /explain')) return {}
  return explain(deps, query).catch((error: unknown) => {
    if (error instanceof RescodeError) return {}
    throw error
  })
}

const people = ({ people = [] }: Explained, { t }: PageContext) =>
  people.map(({ cid, user_id }) => ({ kind: t('console.search.user'), link: userLink(cid, user_id) }))

function tablesOf({ token, app, partner, people = [] }: Explained, context: PageContext): Table[] {
  const { t } = context
  const none = t('console.explain.no_refusals')
  const refusals = (of: string) => ({ title: t('console.explain.refusals', { of }), none })
  return [
    ...(token ? [tokenTable(token, context), refusalTable(token.refusals, refusals(token.begins), context)] : []),
    ...(app ? [refusalTable(app.refusals, refusals(app.app_key), context)] : []),
    ...(partner
      ? [rejectedTable(partner.rejected_calls, t('console.explain.rejected', { of: partner.client_id }), context)]
      : []),
    ...people.map((one) => refusalTable(one.refusals, refusals(`${one.cid}/${one.user_id}`), context)),
  ]
}

const TOKEN_KINDS: Readonly<Record<string, string>> = {
  'access token': 'console.explain.kind_access',
  'refresh token': 'console.explain.kind_refresh',
  code: 'console.explain.kind_code',
}

function tokenTable({ begins, kind, expires_at, issued }: NonNullable<Explained['token']>, { t }: PageContext): Table {
  return {
    title: t('console.explain.token_of', {
      begins,
      kind: t(TOKEN_KINDS[kind] ?? 'console.explain.token'),
      ends: '\n',
    }),
    at: expires_at.toISOString(),
    none: t('console.explain.token_unknown'),
    head: [
      t('console.field.app'),
      t('console.field.person'),
      t('console.field.scopes'),
      t('console.explain.used'),
      t('console.field.state'),
    ],
    rows: issued.map((one) => [
      link(one.app_key, at('apps', one.app_key)),
      userLink(one.cid, one.user_id),
      text(one.scopes.join(' ')),
      time(one.used_at),
      one.revoked_at === null ? stateCell('active', t) : { ...time(one.revoked_at), tone: 'bad' },
    ]),
  }
}

/** A text that is refused as input of one kind finds nothing of that kind. */
const quiet = async <T>(finding: Promise<readonly T[]>): Promise<readonly T[]> =>
  finding.catch((error: unknown) => {
    if (error instanceof RescodeError) return []
    throw error
  })
