import { listUsers, userFilter } from '../account/index.ts'
import { auditPage, listAudit } from '../audit/index.ts'
import { parseInput } from '../lib/json/input.ts'
import { RescodeError } from '../lib/web/rescode.ts'
import { listOrders, orderFilter, showOrder } from '../orders/index.ts'
import { listPartners, partnerFilter } from '../partners/index.ts'
import { listMicroApps, microAppFilter } from '../registry/index.ts'
import type { Asking, Cell } from './shown.ts'
import { at, link } from './texts.ts'

/** What one text may mean: a request id, an order, a partner, a micro-app or a person. */

export interface Found {
  readonly query: string
  /** The only page that fits. */
  readonly href?: string
  readonly found: readonly { readonly kind: string; readonly link: Cell }[]
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const MOST = 5
const LONGEST = 128

type Finds = (asking: Asking, query: string) => Promise<readonly { kind: string; link: Cell }[]>

const orderById: Finds = async ({ deps, t }, query) => {
  if (!/^\d{1,19}$/.test(query)) return []
  const found = await showOrder(deps, BigInt(query)).catch((error: unknown) => {
    if (error instanceof RescodeError) return undefined
    throw error
  })
  return found ? [{ kind: t('console.search.order'), link: link(query, at('orders', query)) }] : []
}

const orderOfPartner: Finds = async ({ deps, t }, query) => {
  const { orders } = await listOrders(deps, parseInput(orderFilter, { partner_order_id: query, limit: MOST }))
  return orders.map(({ order_id, partner_order_id }) => ({
    kind: t('console.search.order'),
    link: link(`${order_id} (${partner_order_id})`, at('orders', String(order_id))),
  }))
}

const partner: Finds = async ({ deps, t }, query) => {
  const { partners } = await listPartners(deps, parseInput(partnerFilter, { client_id: query, limit: MOST }))
  return partners.map(({ partner_id, name, client_id }) => ({
    kind: t('console.search.partner'),
    link: link(`${name} (${client_id})`, at('partners', String(partner_id))),
  }))
}

const microApp: Finds = async ({ deps, t }, query) => {
  const { apps } = await listMicroApps(deps, parseInput(microAppFilter, { app_key: query, limit: MOST }))
  return apps.map(({ app_key, name }) => ({
    kind: t('console.search.app'),
    link: link(`${name} (${app_key})`, at('apps', app_key)),
  }))
}

const person: Finds = async ({ deps, t }, query) => {
  const { users } = await listUsers(deps, parseInput(userFilter, { passport: query, limit: MOST }))
  return users.map(({ cid, user_id, passport }) => ({
    kind: t('console.search.user'),
    link: link(passport, `${at('users', 'user')}?${new URLSearchParams({ cid: String(cid), user_id })}`),
  }))
}

const request: Finds = async ({ deps, t }, query) => {
  if (!UUID.test(query)) return []
  const { events } = await listAudit(deps, parseInput(auditPage, { request_id: query, limit: 1 }))
  const href = `${at('audit')}?${new URLSearchParams({ request_id: query })}`
  return events.map(() => ({ kind: t('console.search.request'), link: link(query, href) }))
}

const ALL: readonly Finds[] = [request, orderById, orderOfPartner, partner, microApp, person]

/** At most five of a kind, by the beginning of what each is known by. */
export async function searchFor(asking: Asking): Promise<Found> {
  const query = (asking.fields.q ?? '').slice(0, LONGEST)
  if (query === '') return { query, found: [] }
  const found = (await Promise.all(ALL.map((finds) => quiet(finds(asking, query))))).flat()
  const [only, ...others] = found
  return { query, found, ...(only?.link.href && others.length === 0 ? { href: only.link.href } : {}) }
}

/** What cannot be an id of this kind finds nothing of it. */
const quiet = async <T>(finding: Promise<readonly T[]>): Promise<readonly T[]> =>
  finding.catch((error: unknown) => {
    if (error instanceof RescodeError) return []
    throw error
  })
