import { z } from 'zod'
import type { Retention } from '../../platform/db/retention.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { DAY_S } from '../../platform/lib/clock.ts'
import { type Detail, storable, storedDetail } from '../../platform/lib/localized-text.ts'

/** Rejected calls are kept for their partner to look at, but not for ever: they hold visitors' data. */
export const REJECTED_CALL_RETENTION: readonly Retention[] = [
  { table: 'rejected_call', key: ['call_id'], column: 'received_at', keptS: () => 30 * DAY_S },
]

export interface RejectedCall {
  readonly callId: string
  readonly partnerId: bigint
  readonly clientId: string
  readonly path: string
  /** POST by default. */
  readonly method?: string
  /** Empty for calls that were not kept. */
  readonly reason: Detail
  readonly headers: object
  readonly body: string
  readonly answer: string
  readonly verified: boolean
  /** The number of calls that were not kept, in an entry that has no other content. */
  readonly leftOut?: number
}

export const insertRejectedCall = (db: Db, call: RejectedCall, now: Date): Promise<number> =>
  db.exec(
    sql`insert into rejected_call (call_id, received_at, partner_id, client_id, path, reason, headers, body, answer, verified, left_out, method)
        values (${call.callId}, ${now}, ${call.partnerId}, ${call.clientId}, ${call.path}, ${storable(call.reason)},
                ${call.headers}, ${call.body}, ${call.answer}, ${call.verified}, ${call.leftOut}, ${call.method})`,
  )

/** Stores the result of analysing a kept call. */
export const explainRejectedCall = (db: Db, callId: string, reason: Detail): Promise<number> =>
  db.exec(sql`update rejected_call set reason = ${storable(reason)} where call_id = ${callId}`)

const summary = z.object({
  id: z.string(),
  received_at: z.date(),
  partner_id: z.coerce.bigint().nullable(),
  client_id: z.string().nullable(),
  path: z.string(),
  reason: storedDetail,
  /** Whether it is known that the partner sent it. */
  verified: z.boolean(),
  answer: z.string(),
})
/** A rejected call without headers and body. */
export type RejectedCallSummary = z.output<typeof summary>

const SUMMARY = sql.part`call_id as id, received_at, partner_id, client_id, path, reason, verified, answer`

/** `id`: that of the request. */
export const findRejectedCall = (db: Db, id: string): Promise<RejectedCallSummary | undefined> =>
  db.maybe(summary, sql`select ${SUMMARY} from rejected_call where call_id = ${id} and left_out is null`)

/** A partner's newest rejected calls. */
export const rejectedCallsOf = (db: Db, partnerId: bigint, limit: number): Promise<RejectedCallSummary[]> =>
  db.listWithCustomPlan(
    summary,
    sql`select ${SUMMARY} from rejected_call where partner_id = ${partnerId} and left_out is null
        order by received_at desc limit ${limit}`,
  )
