import { z } from 'zod'
import { type Db, type Fragment, sql } from '../db/sql.ts'
import { FORGERIES } from '../partner-calls/index.ts'

/** Calls in both directions of one partner: the views are over tables of partner-calls and mtp. */

/** Names of the warnings with which a notice was accepted. */
const warnings = z.string().transform((names) => names.split(' ').filter(Boolean))

/** How a test step judged a call of ours, and how it was forged on purpose; null of every other entry. */
const judged = {
  forged: z.enum(FORGERIES).nullable(),
  verdict: z.enum(['passed', 'warning', 'failed']).nullable(),
}

const summary = z.object({
  kind: z.enum(['call', 'notice', 'rejected']),
  id: z.string(),
  at: z.date(),
  /** An interface for our calls, a path for the partner's. */
  name: z.string(),
  failure: z.string().nullable(),
  detail: z.string().nullable(),
  status: z.number().nullable(),
  code: z.number().nullable(),
  duration_ms: z.number().nullable(),
  /** False for a call that names this partner but may have been sent by anybody. */
  verified: z.boolean(),
  /** How many refused calls this entry stands for that were not stored; null of every other entry. */
  left_out: z.number().nullable(),
  warnings,
  ...judged,
})
export type TrafficSummary = z.output<typeof summary>
export type TrafficKind = TrafficSummary['kind']

/** A place in the list: rows are ordered by time, then by id. */
export interface Place {
  /** An ISO time, or `infinity`. */
  readonly at: string
  readonly id: string
}

export interface TrafficFilter {
  readonly partnerId: bigint
  /** Our calls. */
  readonly outgoing: boolean
  /** The partner's. */
  readonly incoming: boolean
  readonly succeeded: boolean
  readonly failed: boolean
}

/** What every entry has, whichever view it comes from. */
const SUMMARY = sql.part`kind, id, at, name, failure, detail, status, code, duration_ms, verified, left_out, warnings,
  forged, verdict`

/** One list of the three views; each of them is read no further than the list is long. */
function list(db: Db, filter: TrafficFilter, limit: number, beyond: Fragment, order: Fragment) {
  const { partnerId, outgoing, incoming, succeeded, failed } = filter
  const from = (view: string, wanted: Fragment) =>
    sql.part`(select ${SUMMARY} from ${sql.identifier(view)}
      where partner_id = ${partnerId} and ${wanted} and ${beyond} order by ${order} limit ${limit})`
  const calls = sql.part`${outgoing} and (${succeeded} or failed) and (${failed} or not failed)`
  return db.listWithCustomPlan(
    summary,
    sql`${from('sandbox_outgoing', calls)}
        union all ${from('sandbox_accepted', sql.part`${incoming} and ${succeeded}`)}
        union all ${from('sandbox_refused', sql.part`${incoming} and ${failed}`)}
        order by ${order} limit ${limit}`,
  )
}

/** The newest rows before a place, newest first. */
export const listBefore = (db: Db, filter: TrafficFilter, { at, id }: Place, limit: number) =>
  list(db, filter, limit, sql.part`(at, id) < (${at}::timestamptz, ${id}::uuid)`, sql.part`at desc, id desc`)

/** The oldest rows after a place, oldest first. */
export const listAfter = (db: Db, filter: TrafficFilter, { at, id }: Place, limit: number) =>
  list(db, filter, limit, sql.part`(at, id) > (${at}::timestamptz, ${id}::uuid)`, sql.part`at, id`)

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
  failure_detail: z.string().nullable(),
  ...judged,
})
export type KeptCall = z.output<typeof call>

/** One of our calls to this partner. */
export const findCall = (db: Db, partnerId: bigint, id: string): Promise<KeptCall | undefined> =>
  db.maybe(
    call,
    sql`select id, at, name as interface, order_id, duration_ms, url, request_headers, request_body, status as http_status,
          response_headers, response_body, code, failure, detail as failure_detail, forged, verdict
        from sandbox_outgoing where partner_id = ${partnerId} and id = ${id}`,
  )

const received = z.object({
  id: z.string(),
  at: z.date(),
  path: z.string(),
  /** Null for a notice that was accepted, of which no headers are kept. */
  headers: headers.nullable(),
  body: z.string(),
  answer: z.string(),
  code: z.number(),
  /** Null means 200. */
  status: z.number().nullable(),
  reason: z.string().nullable(),
  /** Whether it is known that this partner sent it. */
  verified: z.boolean(),
  left_out: z.number().nullable(),
  warnings,
})
export type KeptReceived = z.output<typeof received>

const RECEIVED = sql.part`id, at, name as path, headers, body, answer, code, status, reason, verified, left_out, warnings`

/** A notice of this partner that was accepted. */
export const findNotice = (db: Db, partnerId: bigint, id: string): Promise<KeptReceived | undefined> =>
  db.maybe(received, sql`select ${RECEIVED} from sandbox_accepted where partner_id = ${partnerId} and id = ${id}`)

/** A call that names this partner and was refused. */
export const findRejected = (db: Db, partnerId: bigint, id: string): Promise<KeptReceived | undefined> =>
  db.maybe(received, sql`select ${RECEIVED} from sandbox_refused where partner_id = ${partnerId} and id = ${id}`)

const recorded = z.object({
  id: z.string(),
  at: z.date(),
  speaker: z.enum(['platform', 'partner']),
  url: z.string(),
  request: z.string(),
  answer: z.string().nullable(),
  failure: z.string().nullable(),
})
/** One call in either direction, as the service has recorded it. */
export type RecordedCall = z.output<typeof recorded>

/** What a partner and the platform have said to each other from a time on, in order. */
export const exchangesSince = (db: Db, partnerId: bigint, since: Date): Promise<RecordedCall[]> =>
  db.many(
    recorded,
    sql`select id::text, at, 'platform' as speaker, url, request_body as request, response_body as answer, detail as failure
        from sandbox_outgoing where partner_id = ${partnerId} and at >= ${since}
        union all
        select id::text, at, 'partner', name, body, answer, null
        from sandbox_accepted where partner_id = ${partnerId} and at >= ${since}
        union all
        select id::text, at, 'partner', name, body, answer, reason
        from sandbox_refused where partner_id = ${partnerId} and at >= ${since} and left_out is null
        order by at, id`,
  )
