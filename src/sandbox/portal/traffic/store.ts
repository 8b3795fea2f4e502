import { z } from 'zod'
import { type Db, type Fragment, sql } from '../../../platform/db/sql.ts'
import { storedDetail } from '../../../platform/lib/localized-text.ts'
import { CALL_CAUSES, FORGERIES } from '../../../ticketing/partner-calls/index.ts'

/** Conditions by which calls are searched. */

/** What a call can be searched by: orderId, refundId, partnerDealId, path (of the partner's or of ours) and code. */
export const SEARCHES = ['order', 'refund', 'deal', 'path', 'code'] as const

export interface TrafficSearch {
  readonly by: (typeof SEARCHES)[number]
  /** Digits: an order's int64, a code's int32. */
  readonly value: string
}

/** The views of the list: our calls, notices that were accepted, and calls that were refused. */
export type TrafficView = 'sandbox_outgoing' | 'sandbox_accepted' | 'sandbox_refused'

/** Orders and refunds have an index; the other searches look at so many calls at a time, of each view. */
export const WINDOW = 1_000
export const isWindowed = ({ by }: TrafficSearch): boolean => by !== 'order' && by !== 'refund'

/** Characters of a body in which a product is searched. */
const SEARCHED_OF_BODY = 16_384

/** The value as a whole word: `D1` is not found in `D10`. */
const wordPattern = (value: string): string =>
  `(^|[^[:alnum:]_-])${value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}($|[^[:alnum:]_-])`

/** Whether a row of the view is one that is searched for. */
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

/** Calls in both directions of one partner: the views are over tables of partner-calls and mtp. */

/** Names of the warnings with which a notice was accepted. */
export const warnings = z.string().transform((names) => names.split(' ').filter(Boolean))

/** How a test step judged a call of ours, and how it was forged on purpose; null of every other entry. */
export const judged = {
  forged: z.enum(FORGERIES).nullable(),
  verdict: z.enum(['passed', 'warning', 'failed']).nullable(),
}

/** Why a call of ours was made; null of every other entry. */
export const caused = {
  cause: z.enum(CALL_CAUSES).nullable(),
  /** Which notice, step, …: CallCause says what it is. */
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
  /** False for a call that names this partner but may have been sent by anybody. */
  verified: z.boolean(),
  /** How many refused calls this entry stands for that were not stored; null of every other entry. */
  left_out: z.number().nullable(),
  warnings,
  /** Tells calls of one moment apart. */
  arrival: z.coerce.number(),
  ...judged,
  ...caused,
})
export type TrafficSummary = z.output<typeof summary>
export type TrafficKind = TrafficSummary['kind']

const listed = summary.extend({
  /** The order that it names; null of calls about none. */
  order_id: z.string().nullable(),
})
export type ListedTraffic = z.output<typeof listed>

/** Where a page of the list begins: rows are ordered by time, then by id. */
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
  /** The last entry that is looked at (windowEnd); all there are if left out. */
  readonly until?: Cursor | undefined
}

type Order = 'newest-first' | 'oldest-first'

/** How rows are ordered, and what comes beyond a cursor in that order, or up to it. */
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

/** What every entry has, whichever view it comes from. */
export const SUMMARY = sql.part`kind, id, at, name, failure, detail, status, code, duration_ms, verified, left_out, warnings,
  arrival, forged, verdict, cause, cause_ref`

/** One list of the three views; each of them is read no further than the list is long. */
function list(db: Db, filter: TrafficFilter, cursor: Cursor, limit: number, order: Order) {
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

/** The newest rows before a cursor, newest first. */
export const listBefore = (db: Db, filter: TrafficFilter, cursor: Cursor, limit: number) =>
  list(db, filter, cursor, limit, 'newest-first')

/** The oldest rows after a cursor, oldest first. */
export const listAfter = (db: Db, filter: TrafficFilter, cursor: Cursor, limit: number) =>
  list(db, filter, cursor, limit, 'oldest-first')

const placed = z.object({ at: z.date(), id: z.string() })

/** The last of the next `size` calls of a partner beyond a cursor; undefined where there are fewer. */
export async function windowEnd(
  db: Db,
  partnerId: bigint,
  cursor: Cursor,
  size: number,
  order: Order,
): Promise<Cursor | undefined> {
  const { by, beyond } = ORDERS[order]
  const from = (view: TrafficView) =>
    sql.part`(select at, id from ${sql.identifier(view)}
      where partner_id = ${partnerId} and ${beyond(cursor)} order by ${by} limit ${size})`
  const [last] = await db.listWithCustomPlan(
    placed,
    sql`${from('sandbox_outgoing')} union all ${from('sandbox_accepted')} union all ${from('sandbox_refused')}
        order by ${by} offset ${size - 1} limit 1`,
  )
  return last && { at: last.at.toISOString(), id: last.id }
}
