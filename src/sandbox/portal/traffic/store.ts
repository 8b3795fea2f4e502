import { z } from 'zod'
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
export type TrafficView = 'sandbox_outgoing' | 'sandbox_accepted' | 'sandbox_refused'

/** Orders and refunds have an index; other searches read this many calls of each view at a time. */
export const WINDOW = 1_000
export const isWindowed = ({ by }: TrafficSearch): boolean => by !== 'order' && by !== 'refund'

/** Characters of a body in which a product is searched. */
const SEARCHED_OF_BODY = 16_384

/** Matches whole words: `D1` is not found in `D10`. */
const wordPattern = (value: string): string =>
  `(^|[^[:alnum:]_-])${value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}($|[^[:alnum:]_-])`

export function matches({ by, value }: TrafficSearch, view: TrafficView): Fragment {
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
export const warnings = z.string().transform((names) => names.split(' ').filter(Boolean))

/** How our call was forged on purpose, and how a test step judged its response; null for other entries. */
export const judged = {
  forged: z.enum(FORGERIES).nullable(),
  verdict: z.enum(['passed', 'warning', 'failed']).nullable(),
}

/** Why our call was made; null for other entries. */
export const caused = {
  cause: z.enum(CALL_CAUSES).nullable(),
  /** Which notice, step, …: see CallCause. */
  cause_ref: z.string().nullable(),
}

export const summary = z.object({
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
})
export type TrafficSummary = z.output<typeof summary>
export type TrafficKind = TrafficSummary['kind']

const listed = summary.extend({
  /** The order that the call names, if any. */
  order_id: z.string().nullable(),
})
export type ListedTraffic = z.output<typeof listed>

/** Rows are ordered by time, then by id. */
export interface Cursor {
  /** An ISO time, or `infinity`. */
  readonly at: string
  readonly id: string
}

interface TrafficFilter {
  readonly partnerId: bigint
  /** Our calls. */
  readonly outgoing: boolean
  /** The partner's. */
  readonly incoming: boolean
  readonly succeeded: boolean
  readonly failed: boolean
  readonly search?: TrafficSearch | undefined
  /** The last entry to read (windowEnd); defaults to all. */
  readonly until?: Cursor | undefined
}

type Order = 'newest-first' | 'oldest-first'

/** For each order: its `order by`, and the rows after a cursor or up to it. */
const ORDERS = {
  'newest-first': {
    by: sql.part`at desc, id desc`,
    beyond: ({ at, id }: Cursor) => sql.part`(at, id) < (${at}::timestamptz, ${id}::uuid)`,
    upTo: ({ at, id }: Cursor) => sql.part`(at, id) >= (${at}::timestamptz, ${id}::uuid)`,
  },
  'oldest-first': {
    by: sql.part`at, id`,
    beyond: ({ at, id }: Cursor) => sql.part`(at, id) > (${at}::timestamptz, ${id}::uuid)`,
    upTo: ({ at, id }: Cursor) => sql.part`(at, id) <= (${at}::timestamptz, ${id}::uuid)`,
  },
} as const

/** The columns that all views share. */
export const SUMMARY = sql.part`kind, id, at, name, failure, detail, status, code, duration_ms, verified, left_out, warnings,
  arrival, forged, verdict, cause, cause_ref`

/** The next rows after a cursor: merges the three views and reads at most `limit` rows of each. */
export function listRows(db: Db, filter: TrafficFilter, cursor: Cursor, limit: number, order: Order = 'newest-first') {
  const { partnerId, outgoing, incoming, succeeded, failed, search, until } = filter
  const { by, beyond, upTo } = ORDERS[order]
  const within = until ? sql.part`${beyond(cursor)} and ${upTo(until)}` : beyond(cursor)
  const from = (view: TrafficView, wanted: Fragment) =>
    sql.part`(select ${SUMMARY}, order_id::text as order_id from ${sql.identifier(view)}
      where partner_id = ${partnerId} and ${wanted} and ${search ? matches(search, view) : sql.part`true`} and ${within}
      order by ${by} limit ${limit})`
  const calls = sql.part`${outgoing} and (${succeeded} or failed) and (${failed} or not failed)`
  return db.listWithCustomPlan(
    listed,
    sql`${from('sandbox_outgoing', calls)}
        union all ${from('sandbox_accepted', sql.part`${incoming} and ${succeeded}`)}
        union all ${from('sandbox_refused', sql.part`${incoming} and ${failed}`)}
        order by ${by} limit ${limit}`,
  )
}

const placed = z.object({ at: z.date(), id: z.string() })

/** The last call of the next WINDOW after a cursor; undefined if there are fewer. */
export async function windowEnd(db: Db, partnerId: bigint, cursor: Cursor, order: Order): Promise<Cursor | undefined> {
  const { by, beyond } = ORDERS[order]
  const from = (view: TrafficView) =>
    sql.part`(select at, id from ${sql.identifier(view)}
      where partner_id = ${partnerId} and ${beyond(cursor)} order by ${by} limit ${WINDOW})`
  const [last] = await db.listWithCustomPlan(
    placed,
    sql`${from('sandbox_outgoing')} union all ${from('sandbox_accepted')} union all ${from('sandbox_refused')}
        order by ${by} offset ${WINDOW - 1} limit 1`,
  )
  return last && { at: last.at.toISOString(), id: last.id }
}
