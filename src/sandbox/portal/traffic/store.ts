import { z } from 'zod'
import { cursorOf, momentKey, withCursor } from '../../../platform/db/page.ts'
import { type Db, type Fragment, sql } from '../../../platform/db/sql.ts'
import { storedDetail } from '../../../platform/lib/localized-text.ts'
import { CALL_CAUSES, FORGERIES } from '../../../ticketing/partner-calls/index.ts'

/** Search by orderId, refundId, partnerDealId, path (or URL of our calls) and code. */
export const SEARCHES = ['order', 'refund', 'deal', 'path', 'code'] as const

export interface TrafficSearch {
  readonly by: (typeof SEARCHES)[number]
  /** Digits: an order's int64, a code's int32. */
  readonly value: string
}

/** Our calls, accepted notices, and refused calls. */
type TrafficView = 'sandbox_outgoing' | 'sandbox_accepted' | 'sandbox_refused'

/** Orders and refunds have an index; other searches read this many calls of each view at a time. */
const WINDOW = 1_000
export const isWindowed = ({ by }: TrafficSearch): boolean => by !== 'order' && by !== 'refund'

/** Characters of a body in which a product is searched. */
const SEARCHED_OF_BODY = 16_384

/** Matches whole words: `D1` is not found in `D10`. */
const wordPattern = (value: string): string =>
  `(^|[^[:alnum:]_-])${value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}($|[^[:alnum:]_-])`

function matches({ by, value }: TrafficSearch, view: TrafficView): Fragment {
  const isOurs = view === 'sandbox_outgoing'
  switch (by) {
    case 'order':
      return isOurs ? sql.part`order_id = ${value}::bigint` : sql.part`order_id = ${value}`
    case 'refund':
      return sql.part`refund_id = ${value}`
    case 'deal': {
      const body = sql.identifier(isOurs ? 'request_body' : 'body')
      const begin = sql.part`left(${body}, ${SEARCHED_OF_BODY}::int)`
      return sql.part`(strpos(${begin}, 'partnerDealId') > 0 and ${begin} ~ ${wordPattern(value)})`
    }
    case 'path':
      return sql.part`strpos(${sql.identifier(isOurs ? 'url' : 'name')}, ${value}) > 0`
    case 'code':
      return sql.part`code = ${value}::int`
  }
}

/** Names of an accepted notice's warnings. */
const warnings = z.string().transform((names) => names.split(' ').filter(Boolean))

/** How our call was forged on purpose, and how a test step judged its response; null for other entries. */
const judged = {
  forged: z.enum(FORGERIES).nullable(),
  verdict: z.enum(['passed', 'warning', 'failed']).nullable(),
}

/** Why our call was made; null for other entries. */
const caused = {
  cause: z.enum(CALL_CAUSES).nullable(),
  /** Which notice, step, …: see CallCause. */
  cause_ref: z.string().nullable(),
}

const trafficRow = withCursor(
  z.object({
    kind: z.enum(['call', 'notice', 'rejected']),
    id: z.string(),
    at: z.date(),
    /** An interface for our calls, a path for the partner's. */
    name: z.string(),
    failure: z.string().nullable(),
    detail: storedDetail.nullable(),
    status: z.number().nullable(),
    code: z.number().nullable(),
    duration_ms: z.number().nullable(),
    /** False if anybody may have sent this call in the partner's name. */
    verified: z.boolean(),
    /** The number of refused calls that were not stored and are represented by this entry; null for other entries. */
    left_out: z.number().nullable(),
    warnings,
    /** Orders calls with the same time. */
    arrival: z.coerce.number(),
    ...judged,
    ...caused,
    partner_id: z.coerce.bigint(),
    /** The order that the call names, if any. */
    order_id: z.string().nullable(),
  }),
)
export type TrafficRow = z.output<typeof trafficRow>
export type TrafficKind = TrafficRow['kind']

/** Time (as PostgreSQL writes it in JSON, to the microsecond, or `infinity`) and id, by which calls are ordered. */
export const cursorKeys = z.tuple([momentKey, z.guid()]).readonly()
export type Cursor = z.output<typeof cursorKeys>

interface TrafficFilter {
  /** Undefined: all partners; without calls with an unknown clientId, which have none. */
  readonly partnerId: bigint | undefined
  /** `out`: our calls. Undefined: both; as with the outcome. */
  readonly direction?: 'out' | 'in' | undefined
  readonly outcome?: 'ok' | 'failed' | undefined
  readonly searches?: readonly TrafficSearch[]
  readonly from?: Date | undefined
  readonly to?: Date | undefined
  /** The last call to read (windowEnd); defaults to all. */
  readonly until?: Cursor | undefined
}

type Order = 'newest-first' | 'oldest-first'

/** For each order: its `order by`, and the rows after a cursor or up to it. */
const ORDERS = {
  'newest-first': {
    by: sql.part`at desc, id desc`,
    beyond: ([at, id]: Cursor) => sql.part`at <= ${at}::timestamptz and (at, id) < (${at}::timestamptz, ${id}::uuid)`,
    upTo: ([at, id]: Cursor) => sql.part`(at, id) >= (${at}::timestamptz, ${id}::uuid)`,
  },
  'oldest-first': {
    by: sql.part`at, id`,
    beyond: ([at, id]: Cursor) => sql.part`at >= ${at}::timestamptz and (at, id) > (${at}::timestamptz, ${id}::uuid)`,
    upTo: ([at, id]: Cursor) => sql.part`(at, id) <= (${at}::timestamptz, ${id}::uuid)`,
  },
} as const

/** The columns that all views share. */
const COLUMNS = sql.part`kind, id, at, name, failure, detail, status, code, duration_ms, verified, left_out, warnings,
  arrival, forged, verdict, cause, cause_ref, partner_id`
const CURSOR = cursorOf(sql.part`at, id`)

const all = (conditions: readonly Fragment[]): Fragment =>
  conditions.reduce((before, condition) => sql.part`${before} and ${condition}`)

/** The calls beyond a cursor, searched for or not. */
const within = ({ partnerId, from, to }: TrafficFilter, cursor: Cursor, order: Order): Fragment =>
  all([
    partnerId === undefined ? sql.part`partner_id is not null` : sql.part`partner_id = ${partnerId}`,
    ...(from ? [sql.part`at >= ${from}`] : []),
    ...(to ? [sql.part`at < ${to}`] : []),
    ORDERS[order].beyond(cursor),
  ])

const ofViews = (from: (view: TrafficView) => Fragment): Fragment =>
  sql.part`${from('sandbox_outgoing')} union all ${from('sandbox_accepted')} union all ${from('sandbox_refused')}`

/** The next calls beyond a cursor: merges the three views and reads at most `limit` rows of each. */
export function listRows(db: Db, filter: TrafficFilter, cursor: Cursor, limit: number, order: Order = 'newest-first') {
  const { direction, outcome, searches = [], until } = filter
  const { by, upTo } = ORDERS[order]
  const conditions = [
    within(filter, cursor, order),
    ...(until ? [upTo(until)] : []),
    ...(outcome ? [outcome === 'failed' ? sql.part`failed` : sql.part`not failed`] : []),
  ]
  const rows = ofViews((view) => {
    const isWanted = direction === undefined || (direction === 'out') === (view === 'sandbox_outgoing')
    const where = all([sql.part`${isWanted}`, ...conditions, ...searches.map((search) => matches(search, view))])
    return sql.part`(select ${COLUMNS}, order_id::text as order_id, ${CURSOR} from ${sql.identifier(view)}
      where ${where} order by ${by} limit ${limit})`
  })
  return db.listWithCustomPlan(trafficRow, sql`${rows} order by ${by} limit ${limit}`)
}

/** The last call of the next WINDOW beyond a cursor; undefined if there are fewer. */
export async function windowEnd(
  db: Db,
  filter: TrafficFilter,
  cursor: Cursor,
  order: Order = 'newest-first',
): Promise<Cursor | undefined> {
  const { by } = ORDERS[order]
  const where = within(filter, cursor, order)
  const rows = ofViews(
    (view) => sql.part`(select at, id from ${sql.identifier(view)} where ${where} order by ${by} limit ${WINDOW})`,
  )
  const [last] = await db.listWithCustomPlan(
    z.object({ cursor: z.string() }),
    sql`select ${CURSOR} from (${rows} order by ${by} offset ${WINDOW - 1} limit 1) last_call`,
  )
  return last && cursorKeys.parse(JSON.parse(last.cursor))
}

/** Single entries of the traffic. */

const headers = z.record(z.string(), z.string())

const call = z.object({
  id: z.string(),
  at: z.date(),
  interface: z.string(),
  order_id: z.string().nullable(),
  duration_ms: z.number(),
  url: z.string(),
  request_headers: headers,
  request_body: z.string(),
  http_status: z.number().nullable(),
  response_headers: headers.nullable(),
  response_body: z.string().nullable(),
  code: z.number().nullable(),
  failure: z.string().nullable(),
  failure_detail: storedDetail.nullable(),
  ...judged,
  ...caused,
  cause: caused.cause.unwrap(),
})
export type KeptCall = z.output<typeof call>

export const findCalls = (db: Db, partnerId: bigint, ids: readonly string[]): Promise<KeptCall[]> =>
  db.many(
    call,
    sql`select id, at, name as interface, order_id, duration_ms, url, request_headers, request_body, status as http_status,
          response_headers, response_body, code, failure, detail as failure_detail, forged, verdict, cause, cause_ref
        from sandbox_outgoing where partner_id = ${partnerId} and id = any(${ids}::uuid[])`,
  )

export const findCall = async (db: Db, partnerId: bigint, id: string): Promise<KeptCall | undefined> =>
  (await findCalls(db, partnerId, [id]))[0]

const received = z.object({
  id: z.string(),
  at: z.date(),
  path: z.string(),
  /** Null for accepted notices, whose headers are not stored. */
  headers: headers.nullable(),
  body: z.string(),
  answer: z.string(),
  code: z.number(),
  /** Null means 200. */
  status: z.number().nullable(),
  /** As named in the body. */
  order_id: z.string().nullable(),
  reason: storedDetail.nullable(),
  /** This partner is known to have sent it. */
  verified: z.boolean(),
  left_out: z.number().nullable(),
  warnings,
  /** Null means POST. */
  method: z.string().nullable(),
})
export type KeptReceived = z.output<typeof received>

const RECEIVED = sql.part`id, at, name as path, headers, body, answer, code, status, order_id, reason, verified, left_out, warnings, method`

/** Accepted notices from this partner, or refused calls that name it. */
export function findReceived(db: Db, kind: 'notice' | 'rejected', partnerId: bigint, ids: readonly string[]) {
  const view = sql.identifier(kind === 'notice' ? 'sandbox_accepted' : 'sandbox_refused')
  const isWanted = sql.part`partner_id = ${partnerId} and id = any(${ids}::uuid[])`
  return db.many(received, sql`select ${RECEIVED} from ${view} where ${isWanted}`)
}

const entryOwner = z.object({ partner_id: z.coerce.bigint(), kind: z.enum(['call', 'notice', 'rejected']) })

/** Whose entry this is, and its kind; each view uses a unique index. */
export const findEntryOwner = (db: Db, id: string): Promise<z.output<typeof entryOwner> | undefined> =>
  db.maybe(
    entryOwner,
    sql`select partner_id, kind from sandbox_outgoing where id = ${id}::uuid
        union all select partner_id, kind from sandbox_accepted where id = ${id}::uuid
        union all select partner_id, kind from sandbox_refused where id = ${id}::uuid and partner_id is not null
        limit 1`,
  )

/** Calls searched for the last body. */
const SEARCHED_CALLS = 1_000

const sent = z.object({ request_body: z.string() })

/** The body last sent to an interface, if among the partner's newest calls. */
export const lastBodySent = async (db: Db, partnerId: bigint, name: string): Promise<string | undefined> => {
  const row = await db.maybe(
    sent,
    sql`select request_body from (
          select id, at, name, request_body from sandbox_outgoing
          where partner_id = ${partnerId} order by at desc, id desc limit ${SEARCHED_CALLS}) newest
        where name = ${name} order by at desc, id desc limit 1`,
  )
  return row?.request_body
}
