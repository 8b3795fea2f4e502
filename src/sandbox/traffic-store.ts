import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

/** Calls in both directions of one partner: rows of three tables that other rooms write. */

/** Names of the warnings with which a notice was accepted. */
const warnings = z.string().transform((names) => names.split(' ').filter(Boolean))

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

/** The newest rows before a place, newest first. */
export const listBefore = (db: Db, filter: TrafficFilter, { at, id }: Place, limit: number) =>
  db.listWithCustomPlan(
    summary,
    sql`
    (select 'call' as kind, call_id as id, started_at as at, interface as name, failure, failure_detail as detail,
        http_status as status, code, duration_ms, true as verified,
        null::int as left_out, '' as warnings
      from partner_call
      where partner_id = ${filter.partnerId} and ${filter.outgoing}
        and (${filter.succeeded} or failure is not null) and (${filter.failed} or failure is null)
        and (started_at, call_id) < (${at}::timestamptz, ${id}::uuid)
      order by started_at desc, call_id desc limit ${limit})
    union all
    (select 'notice', notice_id, received_at, path, null, null, null, 200, null, true, null, warnings
      from notice
      where partner_id = ${filter.partnerId} and ${filter.incoming} and ${filter.succeeded}
        and (received_at, notice_id) < (${at}::timestamptz, ${id}::uuid)
      order by received_at desc, notice_id desc limit ${limit})
    union all
    (select 'rejected', call_id, received_at, path, 'rejected', reason, null, case when answer like '{"code":400,%' then 400 else 300 end, null, verified, left_out, ''
      from rejected_call
      where partner_id = ${filter.partnerId} and ${filter.incoming} and ${filter.failed}
        and (received_at, call_id) < (${at}::timestamptz, ${id}::uuid)
      order by received_at desc, call_id desc limit ${limit})
    order by at desc, id desc limit ${limit}`,
  )

/** The oldest rows after a place, oldest first. */
export const listAfter = (db: Db, filter: TrafficFilter, { at, id }: Place, limit: number) =>
  db.listWithCustomPlan(
    summary,
    sql`
    (select 'call' as kind, call_id as id, started_at as at, interface as name, failure, failure_detail as detail,
        http_status as status, code, duration_ms, true as verified,
        null::int as left_out, '' as warnings
      from partner_call
      where partner_id = ${filter.partnerId} and ${filter.outgoing}
        and (${filter.succeeded} or failure is not null) and (${filter.failed} or failure is null)
        and (started_at, call_id) > (${at}::timestamptz, ${id}::uuid)
      order by started_at, call_id limit ${limit})
    union all
    (select 'notice', notice_id, received_at, path, null, null, null, 200, null, true, null, warnings
      from notice
      where partner_id = ${filter.partnerId} and ${filter.incoming} and ${filter.succeeded}
        and (received_at, notice_id) > (${at}::timestamptz, ${id}::uuid)
      order by received_at, notice_id limit ${limit})
    union all
    (select 'rejected', call_id, received_at, path, 'rejected', reason, null, case when answer like '{"code":400,%' then 400 else 300 end, null, verified, left_out, ''
      from rejected_call
      where partner_id = ${filter.partnerId} and ${filter.incoming} and ${filter.failed}
        and (received_at, call_id) > (${at}::timestamptz, ${id}::uuid)
      order by received_at, call_id limit ${limit})
    order by at, id limit ${limit}`,
  )

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
})
export type KeptCall = z.output<typeof call>

/** One of our calls to this partner. */
export const findCall = (db: Db, partnerId: bigint, id: string): Promise<KeptCall | undefined> =>
  db.maybe(
    call,
    sql`select call_id as id, started_at as at, interface, order_id, duration_ms, url,
          request_headers, request_body, http_status, response_headers, response_body, code, failure, failure_detail
        from partner_call where partner_id = ${partnerId} and call_id = ${id}`,
  )

const received = z.object({
  id: z.string(),
  at: z.date(),
  path: z.string(),
  /** Null for a notice that was accepted, of which no headers are kept. */
  headers: headers.nullable(),
  body: z.string(),
  answer: z.string(),
  reason: z.string().nullable(),
  /** Whether it is known that this partner sent it. */
  verified: z.boolean(),
  left_out: z.number().nullable(),
  warnings,
})
export type KeptReceived = z.output<typeof received>

/** A notice of this partner that was accepted. */
export const findNotice = (db: Db, partnerId: bigint, id: string): Promise<KeptReceived | undefined> =>
  db.maybe(
    received,
    sql`select notice_id as id, received_at as at, path, null as headers, body, answer, null as reason, true as verified, null::int as left_out,
          warnings
        from notice where partner_id = ${partnerId} and notice_id = ${id}`,
  )

/** A call that names this partner and was refused. */
export const findRejected = (db: Db, partnerId: bigint, id: string): Promise<KeptReceived | undefined> =>
  db.maybe(
    received,
    sql`select call_id as id, received_at as at, path, headers, body, answer, reason, verified, left_out, '' as warnings
        from rejected_call where partner_id = ${partnerId} and call_id = ${id}`,
  )
