import { isBigint } from '../../platform/db/page.ts'
import { type PageAddress, partsOf } from '../../platform/lib/action.ts'
import { cutTo } from '../../platform/lib/storable.ts'
import { isUuid } from '../../platform/lib/uuid.ts'
import { RescodeError } from '../../platform/lib/web/rescode.ts'
import { actionOf, rowsIn, type Values } from '../actions/index.ts'
import { type Explained, explain } from '../explain/index.ts'
import { tableOf } from './action-values.ts'
import type { Cell, PageContext, Table } from './page-model.ts'
import { mayDo } from './permissions.ts'
import { mayGive, perform } from './placed.ts'
import { EXPLAIN, knownRequest } from './sections/requests.ts'
import { at, hrefOf, link } from './texts.ts'

/**
 * Finds requests, orders, partners, micro-apps and people. Operators from support upwards also see what
 * `gatehouse explain` knows, and can search by a passport, a person's name, a phone number or the beginning of a token.
 */

export interface Found {
  readonly query: string
  /** Set if exactly one page matches. */
  readonly href?: string
  readonly found: readonly { readonly kind: string; readonly link: Cell }[]
  readonly tables: readonly Table[]
}

const MAX_FOUND = 5
const MAX_LENGTH = 128

type Finder = (context: PageContext, query: string) => Promise<readonly { kind: string; link: Cell }[]>

interface ById {
  readonly record: string
  readonly kind: string
  /** The record's key in the query; undefined if the query cannot be one. */
  readonly keys: (query: string) => Values | undefined
  readonly page: string
}

const numbered =
  (name: string) =>
  (query: string): Values | undefined =>
    isBigint(query) ? { [name]: query } : undefined

function userKeys(query: string): Values | undefined {
  const [, cid, user_id] = /^(\d{1,9})\/(.+)$/s.exec(query) ?? []
  return user_id === undefined ? undefined : { cid: Number(cid), user_id }
}

/** Records found by their id, as lists and the audit log show it. */
const BY_ID: readonly ById[] = [
  {
    record: 'GET /orders/:order_id',
    kind: 'console.search.order',
    keys: numbered('order_id'),
    page: '/orders/:order_id',
  },
  {
    record: 'GET /partners/:partner_id',
    kind: 'console.search.partner',
    keys: numbered('partner_id'),
    page: '/partners/:partner_id',
  },
  { record: 'GET /users/:cid/:user_id', kind: 'console.search.user', keys: userKeys, page: '/users/user' },
]

const finderById = ({ record, kind, keys, page }: ById): Finder => {
  const action = actionOf(record)
  return async (context, query) => {
    const found = keys(query)
    if (!found) return []
    await perform(action, context, found)
    return [{ kind: context.t(kind), link: link(query, hrefOf([page, found])) }]
  }
}

interface Known {
  readonly list: string
  /** Fields that are searched by prefix. */
  readonly by: readonly string[]
  readonly kind: string
  readonly name: (row: Values) => unknown
  readonly page: (row: Values) => PageAddress
}

/** Lists that are searched through their own filters. */
const KNOWN: readonly Known[] = [
  {
    list: 'GET /orders',
    by: ['partner_order_id'],
    kind: 'console.search.order',
    name: ({ order_id, partner_order_id }) => `${order_id} (${partner_order_id})`,
    page: ({ order_id }) => ['/orders/:order_id', { order_id }],
  },
  {
    list: 'GET /partners',
    by: ['client_id', 'name'],
    kind: 'console.search.partner',
    name: ({ name, client_id }) => `${name} (${client_id})`,
    page: ({ partner_id }) => ['/partners/:partner_id', { partner_id }],
  },
  {
    list: 'GET /apps',
    by: ['app_key', 'name'],
    kind: 'console.search.app',
    name: ({ name, app_key }) => `${name} (${app_key})`,
    page: ({ app_key }) => ['/apps/:app_key', { app_key }],
  },
  {
    list: 'GET /users',
    by: ['passport', 'name'],
    kind: 'console.search.user',
    name: ({ passport }) => passport,
    page: ({ cid, user_id }) => ['/users/user', { cid, user_id }],
  },
]

/** Skips fields that the role may not filter by: whether a person of a certain name exists is personal data. */
const finderOf = ({ list, kind, name, page }: Known, field: string): Finder => {
  const action = actionOf(list)
  return async (context, query) => {
    if (!mayGive(action, field, context.role)) return []
    const { t } = context
    const output = await perform(action, context, { [field]: query, limit: MAX_FOUND })
    const found = rowsIn(output, action.list?.rows ?? '').map((row) => link(String(name(row)), hrefOf(page(row))))
    const all = link(t('console.search.all'), hrefOf([partsOf(list).path, { [field]: query }]))
    return [...found, ...(output.next ? [all] : [])].map((link) => ({ kind: t(kind), link }))
  }
}

const request: Finder = async (context, query) => {
  if (!isUuid(query) || !(await knownRequest(context, query))) return []
  return [{ kind: context.t('console.search.request'), link: link(query, at('requests', query)) }]
}

const ALL: readonly Finder[] = [
  request,
  ...BY_ID.map(finderById),
  ...KNOWN.flatMap((known) => known.by.map((field) => finderOf(known, field))),
]

/** Finds at most five of each kind, by prefix; the rest is in the kind's list. */
export async function searchFor(context: PageContext): Promise<Found> {
  const query = cutTo(context.fields.q ?? '', MAX_LENGTH)
  if (query === '') return { query, found: [], tables: [] }
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
  return { query, found, tables, ...(only?.link.href && isOnly ? { href: only.link.href } : {}) }
}

/** Skipped for request ids, whose own page shows the same. */
async function explainedFor({ deps, role }: PageContext, query: string): Promise<Explained> {
  if (isUuid(query) || !mayDo(role, 'GET /explain')) return {}
  return foundOr(explain(deps, query), {})
}

const people = ({ people = [] }: Explained, { t }: PageContext) =>
  people.map(({ cid, user_id }) => ({
    kind: t('console.search.user'),
    link: link(`${cid}/${user_id}`, hrefOf(['/users/user', { cid, user_id }])),
  }))

function tablesOf({ token, app, partner, people = [] }: Explained, context: PageContext): Table[] {
  const { t } = context
  const table = (
    part: string,
    rows: readonly object[],
    shown: { title: string; none: string; at?: string },
  ): Table => ({
    ...tableOf(EXPLAIN, EXPLAIN.parts?.[part] ?? [], rows as Values[], context),
    ...shown,
  })
  const refusals = (of: string, rows: readonly object[]): Table =>
    table('refusals', rows, { title: t('console.explain.refusals', { of }), none: t('console.explain.no_refusals') })
  return [
    ...(token
      ? [
          table('issued', token.issued, {
            title: t('console.explain.token_of', {
              begins: token.begins,
              kind: t(TOKEN_KINDS[token.kind] ?? token.kind),
              ends: '\n',
            }),
            at: token.expires_at.toISOString(),
            none: t('console.explain.token_unknown'),
          }),
          refusals(token.begins, token.refusals),
        ]
      : []),
    ...(app ? [refusals(app.app_key, app.refusals)] : []),
    ...(partner
      ? [
          table('rejected_calls', partner.rejected_calls, {
            title: t('console.explain.rejected', { of: partner.client_id }),
            none: t('console.explain.no_rejected'),
          }),
        ]
      : []),
    // Only where there are some: otherwise the search leads straight to the person's page.
    ...people.flatMap(({ cid, user_id, refusals: rows }) =>
      rows.length > 0 ? [refusals(`${cid}/${user_id}`, rows)] : [],
    ),
  ]
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
