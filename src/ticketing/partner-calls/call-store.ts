import { z } from 'zod'
import { columnsOf, valuesOf } from '../../platform/db/record-fields.ts'
import type { Retention } from '../../platform/db/retention.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { DAY_S } from '../../platform/lib/clock.ts'
import { storable, storedDetail } from '../../platform/lib/localized-text.ts'
import { CALL_CAUSES } from './cause.ts'

/** Calls are kept for their partner to look at, but not for ever: they hold visitors' data. */
export const CALL_RETENTION: readonly Retention[] = [
  { table: 'partner_call', key: ['call_id'], column: 'started_at', keptS: () => 30 * DAY_S },
]

/** How a test step forges a call: a wrong signature, a Date of twenty minutes ago, or an unknown clientId. */
export const FORGERIES = ['signature', 'date', 'client'] as const
export type Forgery = (typeof FORGERIES)[number]

/** A test step's verdict on an answer: all checks passed, only checks of level `warning` failed, or others too. */
export type CallVerdict = 'passed' | 'warning' | 'failed'

export const judgeCall = (db: Db, callId: string, verdict: CallVerdict): Promise<number> =>
  db.exec(sql`update partner_call set verdict = ${verdict} where call_id = ${callId}`)

const callSummary = z.object({
  call_id: z.string(),
  interface: z.string(),
  started_at: z.date(),
  duration_ms: z.number(),
  http_status: z.number().nullable(),
  code: z.number().nullable(),
  failure: z.string().nullable(),
  failure_detail: storedDetail.nullable(),
})
export type CallSummary = z.output<typeof callSummary>

const SUMMARY = columnsOf(Object.keys(callSummary.shape))

/** A job may ask about an order for weeks. */
const MOST_CALLS = 1_000

/**
 * The newest calls about an order to its own partner, oldest first: another partner may have written its id into a body
 * by hand.
 */
export const callsOf = (
  db: Db,
  { order_id, partner_id }: { readonly order_id: bigint; readonly partner_id: bigint },
): Promise<CallSummary[]> =>
  db.many(
    callSummary,
    sql`select ${SUMMARY}
        from (select ${SUMMARY}, arrival from partner_call
              where order_id = ${order_id} and partner_id = ${partner_id}
              order by started_at desc, arrival desc limit ${MOST_CALLS}) newest
        order by started_at, arrival`,
  )

/** A call to a partner as stored, with its secrets masked. */
export type CallRecord = Readonly<z.output<typeof callRecord>>

const callRecord = callSummary.extend({
  partner_id: z.coerce.bigint(),
  order_id: z.coerce.bigint().nullable(),
  url: z.string(),
  request_headers: z.record(z.string(), z.string()),
  request_body: z.string(),
  response_headers: z.record(z.string(), z.string()).nullable(),
  response_body: z.string().nullable(),
  forged: z.enum(FORGERIES).nullable(),
  by_hand: z.boolean(),
  cause: z.enum(CALL_CAUSES),
  cause_ref: z.string().nullable(),
})

const COLUMNS = Object.keys(callRecord.shape)

export const insertCall = (db: Db, call: CallRecord): Promise<number> => {
  const row = { ...call, failure_detail: storable(call.failure_detail) }
  return db.exec(sql`insert into partner_call (${columnsOf(COLUMNS)}) values (${valuesOf(row, COLUMNS)})`)
}

/** The newest call of that interface about an order, except calls that a person wrote. */
export const lastCallAbout = (db: Db, orderId: bigint, name: string): Promise<CallRecord | undefined> =>
  db.maybe(
    callRecord,
    sql`select ${columnsOf(COLUMNS)}
        from partner_call where order_id = ${orderId} and interface = ${name} and not by_hand
        order by started_at desc, arrival desc limit 1`,
  )

const span = z.object({ span: z.number(), calls: z.number(), failed: z.number() })

/** Calls to partners in one span of time. Spans are numbered from 0; those without calls are left out. */
export type CallSpan = z.output<typeof span>

export const callsBySpan = (db: Db, since: Date, spanS: number): Promise<CallSpan[]> =>
  db.many(
    span,
    sql`select floor(extract(epoch from started_at - ${since}::timestamptz) / ${spanS}::float8)::int as span,
          count(1)::int as calls, count(failure)::int as failed
        from partner_call where started_at >= ${since} group by 1 order by 1`,
  )
