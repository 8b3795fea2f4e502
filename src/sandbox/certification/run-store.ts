import { z } from 'zod'
import { columnsOf } from '../../platform/db/record-fields.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { storableJson } from '../../platform/lib/storable.ts'
import { type Choice, storedChoice } from '../test-plan/index.ts'

const row = z.object({
  run_id: z.string(),
  partner_id: z.coerce.bigint(),
  number: z.number(),
  choice: storedChoice,
  /** Ids of its steps, in order. */
  steps: z.array(z.string()),
  current_step: z.string().nullable(),
  last_seq: z.number(),
  created_at: z.date(),
  superseded_at: z.date().nullable(),
  passed_at: z.date().nullable(),
})
export type RunRow = z.output<typeof row>

const COLUMNS = columnsOf(Object.keys(row.shape))

export const insertRun = (
  db: Db,
  run: { runId: string; partnerId: bigint; choice: Choice; steps: readonly string[] },
  now: Date,
): Promise<number> =>
  db.exec(
    sql`insert into sandbox_run (run_id, partner_id, number, choice, steps, current_step, created_at)
        select ${run.runId}, ${run.partnerId}, coalesce(max(number), 0) + 1, ${storableJson(run.choice)}::jsonb,
          ${run.steps}, ${run.steps[0]}, ${now}
        from sandbox_run where partner_id = ${run.partnerId}`,
  )

/** What a partner keeps, besides its accepted ones. */
const MAX_RUNS = 1_000

/** Deletes the oldest runs beyond MAX_RUNS, some at a time. The caller holds the partner's lock. */
export const deleteOldRuns = (db: Db, partnerId: bigint): Promise<number> =>
  db.exec(
    sql`delete from sandbox_run where run_id in (
          select run_id from sandbox_run
          where partner_id = ${partnerId} and passed_at is null
            and number <= (select max(number) from sandbox_run where partner_id = ${partnerId}) - ${MAX_RUNS}
          order by number limit 10)`,
  )

/** Marks the partner's current run as replaced and returns its id. */
export const supersedeCurrent = (db: Db, partnerId: bigint, now: Date): Promise<{ run_id: string } | undefined> =>
  db.maybe(
    row.pick({ run_id: true }),
    sql`update sandbox_run set superseded_at = ${now}
        where partner_id = ${partnerId} and superseded_at is null returning run_id`,
  )

export const findCurrentRun = (db: Db, partnerId: bigint): Promise<RunRow | undefined> =>
  db.maybe(row, sql`select ${COLUMNS} from sandbox_run where partner_id = ${partnerId} and superseded_at is null`)

export const findAcceptedRun = (db: Db, partnerId: bigint): Promise<RunRow | undefined> =>
  db.maybe(
    row,
    sql`select ${COLUMNS} from sandbox_run where partner_id = ${partnerId} and passed_at is not null order by number desc limit 1`,
  )

/** An earlier run of the partner was accepted. */
export const wasAcceptedBefore = async (db: Db, { partner_id, number }: RunRow): Promise<boolean> =>
  (await db.maybeValue(
    z.number(),
    sql`select number from sandbox_run
        where partner_id = ${partner_id} and passed_at is not null and number < ${number} limit 1`,
  )) !== undefined

/** Another partner's run is not found. */
export const findRun = (db: Db, partnerId: bigint, runId: string): Promise<RunRow | undefined> =>
  db.maybe(row, sql`select ${COLUMNS} from sandbox_run where partner_id = ${partnerId} and run_id = ${runId}`)

/** Locks the run: starting a step, moving to the next and acceptance exclude each other. */
export const lockRun = (db: Db, partnerId: bigint, runId: string): Promise<RunRow | undefined> =>
  db.maybe(
    row,
    sql`select ${COLUMNS} from sandbox_run where partner_id = ${partnerId} and run_id = ${runId} for update`,
  )

/** Those with a number below `before`, newest first. */
export const listRuns = (db: Db, partnerId: bigint, before: number, most: number): Promise<RunRow[]> =>
  db.many(
    row,
    sql`select ${COLUMNS} from sandbox_run where partner_id = ${partnerId} and number < ${before}
        order by number desc limit ${most}`,
  )

export const setCurrentStep = (db: Db, runId: string, step: string | null): Promise<number> =>
  db.exec(sql`update sandbox_run set current_step = ${step} where run_id = ${runId}`)

export const setChoice = (db: Db, runId: string, choice: Choice): Promise<number> =>
  db.exec(sql`update sandbox_run set choice = ${storableJson(choice)}::jsonb where run_id = ${runId}`)

/** The caller holds the run's lock and has checked that it has not passed. No step can be started afterwards. */
export const markPassed = (db: Db, runId: string, now: Date): Promise<number> =>
  db.exec(
    sql`update sandbox_run set passed_at = ${now}, current_step = null where run_id = ${runId} and passed_at is null`,
  )

/** What an order of the run is for. */
export type OrderRole =
  | 'main'
  | 'later'
  | 'large-id'
  | 'consumption'
  | 'refund'
  | 'review'
  | 'refund-twice'
  | 'sold-out'
  | 'close'
  | 'reschedule'
  | 'message'
  | 'price'
  | 'parallel'
  | 'lost'
  | 'partly-used'
  | 'foreign-code'

export const linkOrder = (db: Db, order: { orderId: bigint; runId: string; role: OrderRole }, now: Date) =>
  db.exec(
    sql`insert into sandbox_order (order_id, run_id, role, created_at)
        values (${order.orderId}, ${order.runId}, ${order.role}, ${now})`,
  )

/** Newest first, ten at most. */
export const findLinkedOrders = (db: Db, runId: string, role: OrderRole): Promise<bigint[]> =>
  db.values(
    z.coerce.bigint(),
    sql`select order_id from sandbox_order where run_id = ${runId} and role = ${role}
          order by created_at desc, order_id limit 10`,
  )

export const linkedOrders = (db: Db, runId: string): Promise<bigint[]> =>
  db.values(z.coerce.bigint(), sql`select order_id from sandbox_order where run_id = ${runId}`)
