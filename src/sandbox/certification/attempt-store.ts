import { z } from 'zod'
import { columnsOf } from '../../platform/db/record-fields.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { storedJson } from '../../platform/lib/localized-text.ts'
import { storableJson } from '../../platform/lib/storable.ts'
import { finding } from '../checks/index.ts'
import { type Ending, type LogEntry, OUTCOMES, type RunEvent, runEvent } from './event.ts'

const attempt = z.object({
  attempt_id: z.string(),
  run_id: z.string(),
  step_id: z.string(),
  number: z.number(),
  started_at: z.date(),
  ended_at: z.date().nullable(),
  outcome: z.enum(OUTCOMES).nullable(),
})
export type AttemptRow = z.output<typeof attempt>

const COLUMNS = columnsOf(Object.keys(attempt.shape))

/** Attempts of one step: every page of the run shows them all. */
export const MAX_ATTEMPTS = 500

const ALIVE_S = 12
/** By the database's clock, as the processes' may differ. */
const ALIVE_TILL = sql.part`statement_timestamp() + make_interval(secs => ${ALIVE_S})`

/**
 * Returns the attempt's number. The caller holds the run's lock and has checked that no attempt is open. Undefined if
 * the step has had MAX_ATTEMPTS; the caller must roll back then.
 */
export const insertAttempt = (
  db: Db,
  { attemptId, runId, stepId }: Readonly<Record<'attemptId' | 'runId' | 'stepId', string>>,
  now: Date,
): Promise<number | undefined> =>
  db.maybeValue(
    attempt.shape.number,
    sql`with run as (
          update sandbox_run set open_attempt = ${attemptId} where run_id = ${runId}
        )
        insert into sandbox_attempt (attempt_id, run_id, step_id, number, started_at, alive_till)
        select ${attemptId}, ${runId}, ${stepId}, coalesce(max(number), 0) + 1, ${now}, ${ALIVE_TILL}
        from sandbox_attempt where run_id = ${runId} and step_id = ${stepId}
        having coalesce(max(number), 0) < ${MAX_ATTEMPTS}
        returning number`,
  )

export const attemptsOf = (db: Db, runId: string): Promise<AttemptRow[]> =>
  db.many(attempt, sql`select ${COLUMNS} from sandbox_attempt where run_id = ${runId} order by started_at, number`)

export const findAttempt = (db: Db, attemptId: string): Promise<AttemptRow | undefined> =>
  db.maybe(attempt, sql`select ${COLUMNS} from sandbox_attempt where attempt_id = ${attemptId}`)

/** Extends the lease of the process that runs this attempt; 0 if the attempt has ended meanwhile. */
export const keepAlive = (db: Db, attemptId: string): Promise<number> =>
  db.exec(
    sql`update sandbox_attempt set alive_till = ${ALIVE_TILL} where attempt_id = ${attemptId} and ended_at is null`,
  )

/** The run's open attempt; `onlyDead`: only if the process that ran it has died. */
export const findOpenAttempt = (db: Db, runId: string, { onlyDead = false } = {}): Promise<AttemptRow | undefined> =>
  db.maybe(
    attempt,
    sql`select ${COLUMNS} from sandbox_attempt where run_id = ${runId} and ended_at is null
          and (not ${onlyDead}::boolean or alive_till < statement_timestamp())`,
  )

/**
 * Ends an attempt and writes its last log line, once; false if it had already ended. The run's row says which attempt
 * is open, and a statement that waited for the row's lock rereads it, so no line can be appended after the last one.
 */
export async function endAttempt(db: Db, attemptId: string, ending: Ending, now: Date): Promise<boolean> {
  const lines = await db.exec(
    sql`with run as (
      update sandbox_run set last_seq = last_seq + 1, open_attempt = null where open_attempt = ${attemptId}
      returning run_id, last_seq
    ), ended as (
      update sandbox_attempt a set ended_at = ${now}, outcome = ${ending.outcome}
      from run where a.attempt_id = ${attemptId} and a.run_id = run.run_id and a.ended_at is null
      returning a.run_id
    )
    insert into sandbox_event (run_id, seq, attempt_id, at, kind, data)
    select run.run_id, run.last_seq, ${attemptId}, ${now}, 'ended', ${storableJson(ending)}::jsonb
    from run join ended using (run_id)`,
  )
  return lines === 1
}

/** Appends a line to the log of an open attempt; false if the attempt has ended. */
export const appendEvent = async (db: Db, attemptId: string, { kind, data }: LogEntry, now: Date): Promise<boolean> =>
  (await db.exec(
    sql`with run as (
      update sandbox_run set last_seq = last_seq + 1 where open_attempt = ${attemptId}
      returning run_id, last_seq
    )
    insert into sandbox_event (run_id, seq, attempt_id, at, kind, data)
    select run_id, last_seq, ${attemptId}, ${now}, ${kind}, ${storedJson(data)}::jsonb from run`,
  )) === 1

const EVENTS = sql.part`select e.seq, e.attempt_id, a.step_id, e.at, e.kind, e.data
  from sandbox_event e join sandbox_attempt a using (attempt_id)`

/** Lines after `seq`, oldest first. */
export const eventsAfter = (db: Db, runId: string, seq: number): Promise<RunEvent[]> =>
  db.many(runEvent, sql`${EVENTS} where e.run_id = ${runId} and e.seq > ${seq} order by e.seq limit 500`)

export const eventsOfAttempt = (db: Db, attemptId: string): Promise<RunEvent[]> =>
  db.many(runEvent, sql`${EVENTS} where e.attempt_id = ${attemptId} order by e.seq`)

/** The latest line number of each of these runs. */
export const lastSeqs = (db: Db, runIds: readonly string[]): Promise<{ run_id: string; last_seq: number }[]> =>
  db.many(
    z.object({ run_id: z.string(), last_seq: z.number() }),
    sql`select run_id, last_seq from sandbox_run where run_id = any(${runIds}::uuid[])`,
  )

/** The outcome of the last ended attempt at each step of these runs. */
export const lastOutcomes = (db: Db, runIds: readonly string[]) =>
  db.many(
    z.object({ run_id: z.string(), step_id: z.string(), outcome: z.enum(OUTCOMES) }),
    sql`select distinct on (run_id, step_id) run_id, step_id, outcome from sandbox_attempt
        where run_id = any(${runIds}::uuid[]) and outcome is not null
        order by run_id, step_id, number desc`,
  )

/** As in the index of failed checks: a run may have very many that passed. */
const IS_FAILED_CHECK = sql.part`kind = 'check' and data->>'passed' = 'false'`

/** A run may have 500 attempts of each step. */
const MAX_FAILED_CHECKS = 5_000

/** The newest failed checks of a run, in log order. */
export const failedChecksOf = async (db: Db, runId: string) => {
  const newestFirst = await db.many(
    z.object({ attempt_id: z.string(), data: finding }),
    sql`select attempt_id, data from sandbox_event
        where run_id = ${runId} and ${IS_FAILED_CHECK}
        order by seq desc limit ${MAX_FAILED_CHECKS}`,
  )
  return newestFirst.reverse()
}

export const warningsOf = (db: Db, runId: string): Promise<{ attempt_id: string; warnings: number }[]> =>
  db.many(
    z.object({ attempt_id: z.string(), warnings: z.number() }),
    sql`select attempt_id, count(*)::int as warnings from sandbox_event
        where run_id = ${runId} and ${IS_FAILED_CHECK} and data->>'level' = 'warning'
        group by attempt_id`,
  )

/** Where a run's log mentions the call or notice with this id. */
const logReference = z.object({
  id: z.string(),
  run_id: z.string(),
  run_number: z.number(),
  step_id: z.string(),
  attempt: z.number(),
  seq: z.number(),
})

/** The log lines about these calls and notices in the run that the order belongs to, if it is one of this partner's. */
export const logReferences = (
  db: Db,
  { partnerId, orderId, ids }: { partnerId: bigint; orderId: bigint; ids: readonly string[] },
) =>
  db.many(
    logReference,
    sql`select coalesce(e.data ->> 'call_id', e.data ->> 'notice_id') as id, r.run_id, r.number as run_number, a.step_id,
          a.number as attempt, e.seq
        from sandbox_order o
        join sandbox_run r on r.run_id = o.run_id and r.partner_id = ${partnerId}
        join sandbox_event e on e.run_id = o.run_id and e.kind in ('call', 'notice', 'rejected', 'unverified', 'wrong-path')
          and coalesce(e.data ->> 'call_id', e.data ->> 'notice_id') = any (${ids}::text[])
        join sandbox_attempt a on a.attempt_id = e.attempt_id
        where o.order_id = ${orderId} order by e.seq limit 1000`,
  )
