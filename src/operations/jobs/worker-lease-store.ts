import { type Db, sql } from '../../platform/db/sql.ts'

/** Leases of workers, all by the clock of the database: those of machines differ. */

/** May be repeated when the outcome of the first call is unknown. */
export const takeLease = (db: Db, workerId: string, seconds: number): Promise<number> =>
  db.exec(
    sql`insert into worker_lease (worker_id, ends_at) values (${workerId}, now() + make_interval(secs => ${seconds}))
        on conflict (worker_id) do nothing`,
  )

/** 0 when the lease has ended: another worker may have its jobs by now. */
export const renewLease = (db: Db, workerId: string, seconds: number): Promise<number> =>
  db.exec(
    sql`update worker_lease set ends_at = now() + make_interval(secs => ${seconds})
        where worker_id = ${workerId} and ends_at > now()`,
  )

/** For a worker that has stopped in order and holds no job. */
export const returnLease = (db: Db, workerId: string): Promise<number> =>
  db.exec(sql`delete from worker_lease where worker_id = ${workerId}`)

/**
 * Unlocks the jobs of workers whose lease has ended; also those that such a worker took later, by a statement that was long
 * on its way. The queue itself would wait four hours.
 */
export const unlockDeadWorkers = async (db: Db): Promise<void> => {
  const unlocked = await db.exec(
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
  if (unlocked > 0) await removeSuperseded(db)
}

/**
 * When a job is queued anew while it runs, the queue takes its key away and uses up its attempts, so that only the new one
 * is tried again. Its worker would have removed it; when that has died, it would look like one that failed for no reason.
 */
const removeSuperseded = (db: Db): Promise<number> =>
  db.exec(
    sql`select graphile_worker.complete_jobs(array_agg(id)) from graphile_worker.jobs
        where key is null and locked_at is null and last_error is null and attempts >= max_attempts
        having count(*) > 0`,
  )
