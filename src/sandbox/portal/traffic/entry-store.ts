import { z } from 'zod'
import { type Db, sql } from '../../../platform/db/sql.ts'
import { storedDetail } from '../../../platform/lib/localized-text.ts'
import { caused, judged, warnings } from './store.ts'

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
