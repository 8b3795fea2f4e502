/** The SQL of the purge and of worker leases. Leases use the database's clock, because those of machines differ. */

import { z } from 'zod'
import type { Retention, RetentionBatch } from '../../platform/db/retention.ts'
import { type Db, sql } from '../../platform/db/sql.ts'

const deleted = z.object({ rows: z.number(), last: z.date().nullable() })

/**
 * Deletes the oldest rows by the index on their date: found and locked first, skipping those that others have locked,
 * then deleted by key (by physical position a batch took 2 ms of processor time instead of 6). Without `from`, each
 * batch would walk over what earlier ones have deleted, as long as an old transaction keeps vacuum from removing it.
 * Planned each time, because a table may have grown a lot since the last purge.
 */
export async function deleteBatch(
  db: Db,
  { table, key, column, also, unless }: Pick<Retention, 'table' | 'key' | 'column' | 'also' | 'unless'>,
  { before, from, limit, now }: RetentionBatch,
): Promise<z.infer<typeof deleted>> {
  const [rows, date] = [sql.identifier(table), sql.identifier(column)]
  const keys = key.map((name) => sql.identifier(name))
  const shared = sql.identifier(also?.column ?? column)
  const first = [...key.slice(0, 1), column]
  const without = unless ? sql.part` and not (${unless(now)})` : sql.part``
  const withThem = also
    ? sql.part`, more as (delete from ${sql.identifier(also.table)} where ${shared} = any (array(select shared from gone)))`
    : sql.part``
  const [batch] = await db.listWithIndexPlan(
    deleted,
    sql`with due as (
          select ${sql.join(keys)} from ${rows} where ${date} >= ${from} and ${date} < ${before}${without}
          order by ${date} limit ${limit} for update skip locked
        ), gone as (
          delete from ${rows} t
          using unnest(${sql.join(keys.map((name) => sql.part`array(select ${name} from due)`))}) as due_key (${sql.join(keys)})
          where ${sql.sameKey('t', 'due_key', key, first)}
          returning t.${date} as at, t.${shared} as shared
        )${withThem}
        select count(*)::int as rows, max(at) as last from gone`,
  )
  return batch ?? { rows: 0, last: null }
}

/** Whether this database role may lock and delete rows of the table. */
export const mayDelete = (db: Db, table: string): Promise<boolean> =>
  db.value(
    z.boolean(),
    sql`select has_table_privilege(${table}, 'delete') and has_table_privilege(${table}, 'update') as may`,
  )

/** Seconds by which this time is ahead of the database's; negative if it is behind. */
export const secondsAhead = (db: Db, now: Date): Promise<number> =>
  db.value(z.coerce.number(), sql`select extract(epoch from ${now}::timestamptz - clock_timestamp()) as seconds`)

/** Safe to repeat when the outcome of the first call is unknown: the lease then lasts from the last call on. */
export const takeLease = (db: Db, workerId: string, seconds: number): Promise<number> =>
  db.exec(
    sql`insert into worker_lease (worker_id, ends_at) values (${workerId}, now() + make_interval(secs => ${seconds}))
        on conflict (worker_id) do update set ends_at = excluded.ends_at`,
  )

/** Returns 0 if the lease has ended: another worker may have the jobs by now. */
export const renewLease = (db: Db, workerId: string, seconds: number): Promise<number> =>
  db.exec(
    sql`update worker_lease set ends_at = now() + make_interval(secs => ${seconds})
        where worker_id = ${workerId} and ends_at > now()`,
  )

/** For a worker that has stopped cleanly and holds no job. */
export const returnLease = (db: Db, workerId: string): Promise<number> =>
  db.exec(sql`delete from worker_lease where worker_id = ${workerId}`)

/** Unlocks jobs of workers without a lease, even those locked by a late statement; the queue itself waits 4 hours. */
export const unlockDeadWorkers = (db: Db): Promise<void> =>
  db.tx(async (inside) => {
    const unlocked = await inside.exec(
      sql`with dead as (
          delete from worker_lease where ends_at <= now() returning worker_id
        ), locking as (
          select distinct locked_by as worker_id from graphile_worker.jobs where locked_by is not null
        ), without_lease as (
          select worker_id from locking where worker_id not in (select worker_id from worker_lease)
        )
        select graphile_worker.force_unlock_workers(array_agg(worker_id))
        from (table dead union all table without_lease) as ended having count(*) > 0`,
    )
    if (unlocked > 0) await removeSuperseded(inside)
  })

/** Under a clock that was ahead, recurring tasks were noted as done for times to come, until which they would not run. */
export const forgetLaterRuns = (db: Db): Promise<number> =>
  db.exec(sql`update graphile_worker._private_known_crontabs set last_execution = now() where last_execution > now()`)

/**
 * A job that is queued again while it runs loses its key and its attempts. If its worker dies before removing it, it
 * looks like a job that failed for no reason.
 */
const removeSuperseded = (db: Db): Promise<number> =>
  db.exec(
    sql`select graphile_worker.complete_jobs(array_agg(id)) from graphile_worker.jobs
        where key is null and locked_at is null and last_error is null and attempts >= max_attempts
        having count(*) > 0`,
  )

/** How long a job that has failed for good waits for an operator, and how many are removed at once. */
const [FAILED_DAYS, MAX_REMOVED] = [30, 10_000]

/** Operators may remove them earlier, or just be retrying them, hence the lock. */
export const removeOldFailures = (db: Db): Promise<number> =>
  db.exec(
    sql`select graphile_worker.complete_jobs(array_agg(id))
        from (
          select id from graphile_worker._private_jobs
          where locked_at is null and attempts >= max_attempts
            and updated_at < now() - make_interval(days => ${FAILED_DAYS})
          limit ${MAX_REMOVED} for update
        ) old having count(*) > 0`,
  )
