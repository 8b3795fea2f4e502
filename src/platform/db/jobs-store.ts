import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { type Db, sql } from './sql.ts'

/**
 * The durable queue, through graphile-worker's SQL functions. The database's clock alone decides when a job is due: a
 * machine whose clock differs must neither delay jobs nor skip pauses.
 */

/** Lower numbers first. What people wait for comes before pulls, of which partners can cause any number. */
const PRIORITIES = {
  purge: 0,
  'purge-often': 0,
  'erase-due': 0,
  'tell-ending-secrets': 0,
  'send-notification': 0,
  'send-member-mail': 0,
  'send-team-mail': 0,
  'send-request-mail': 0,
  'member-password': 0,
  'send-person-mail': 0,
  'forgotten-password': 0,
  'send-contact-code': 0,
  'query-order': 10,
  'send-refunded-message': 10,
  'pull-due': 20,
  // Their receivers may be slow or down: everything else goes first.
  'send-app-events': 30,
} as const

export type TaskName = keyof typeof PRIORITIES

export interface EnqueueOptions {
  /** Of waiting jobs with the same key only the last is kept. Each job has a key: a running one without it was replaced. */
  readonly key?: string
  /** A waiting job with the same key keeps its time, unless it has failed before. */
  readonly keepsTime?: boolean
  /** Jobs of one queue run one after another. */
  readonly queue?: string
  /** Seconds from now. */
  readonly afterS?: number
  readonly maxAttempts?: number
}

// About an hour, with full jitter of up to ten minutes between them.
const MAX_ATTEMPTS = 20

const inSeconds = (seconds: number) => sql.part`now() + make_interval(secs => ${seconds})`

/** Queues a job as part of the caller's transaction: it exists if and only if that commits. */
export const enqueue = (
  db: Db,
  task: TaskName,
  payload: object,
  { key = `${task}:${randomUUID()}`, keepsTime, queue, afterS = 0, maxAttempts = MAX_ATTEMPTS }: EnqueueOptions = {},
): Promise<number> =>
  db.exec(
    sql`select from graphile_worker.add_job(identifier => ${task}, payload => ${JSON.stringify(payload)}::json,
          queue_name => ${queue}, run_at => ${inSeconds(afterS)}, max_attempts => ${maxAttempts}, job_key => ${key},
          priority => ${PRIORITIES[task]}, job_key_mode => ${keepsTime ? 'preserve_run_at' : 'replace'})`,
  )

/** Removes a waiting job; one that is running is finished and not repeated. */
export const dequeue = (db: Db, key: string): Promise<number> =>
  db.exec(sql`select from graphile_worker.remove_job(${key})`)

const job = z.object({
  job_id: z.string(),
  task: z.string(),
  key: z.string().nullable(),
  state: z.enum(['waiting', 'running', 'failed']),
  attempts: z.number(),
  max_attempts: z.number(),
  run_at: z.date(),
  last_error: z.string().nullable(),
  created_at: z.date(),
})
export type Job = z.output<typeof job>

const JOB = sql.part`id as job_id, task_identifier as task, key, attempts, max_attempts, run_at, last_error, created_at,
  case when locked_at is not null then 'running' when attempts >= max_attempts then 'failed' else 'waiting' end as state`

/** Jobs that are not done, newest first; `before` is the id of the last one seen. */
export const listJobs = (
  db: Db,
  filter: { failed: boolean; limit: number; task?: string | undefined; before?: string | undefined },
): Promise<Job[]> =>
  db.listWithCustomPlan(
    job,
    sql`select ${JOB} from graphile_worker.jobs
        where (not ${filter.failed}::boolean or (locked_at is null and attempts >= max_attempts))
          and (${filter.task}::text is null or task_identifier = ${filter.task})
          and (${filter.before}::bigint is null or id < ${filter.before})
        order by id desc limit ${filter.limit}`,
  )

const taskState = z.object({
  task: z.string(),
  waiting: z.coerce.number(),
  running: z.coerce.number(),
  failed: z.coerce.number(),
  /** Seconds for which the oldest waiting job could have run; 0 where none is late. */
  oldest_s: z.coerce.number(),
})

export const queueState = (db: Db): Promise<z.output<typeof taskState>[]> =>
  db.listWithCustomPlan(
    taskState,
    sql`select task_identifier as task,
          count(*) filter (where locked_at is null and attempts < max_attempts) as waiting,
          count(*) filter (where locked_at is not null) as running,
          count(*) filter (where locked_at is null and attempts >= max_attempts) as failed,
          greatest(0, coalesce(extract(epoch from clock_timestamp()
            - min(run_at) filter (where locked_at is null and attempts < max_attempts)), 0)) as oldest_s
        from graphile_worker.jobs group by task_identifier`,
  )

const jobCounts = z.object({
  waiting: z.number(),
  running: z.number(),
  failed: z.number(),
  oldest_due: z.date().nullable(),
  oldest_due_s: z.coerce.number(),
})

/** Jobs by state, among the hundred thousand due first; `oldest_due`: when the oldest waiting one became due. */
export const countJobs = (db: Db) =>
  db.one(
    jobCounts,
    sql`select waiting, running, failed, oldest_due,
          coalesce(extract(epoch from now() - oldest_due), 0) as oldest_due_s
        from (
          select count(1) filter (where j.locked_at is null and j.attempts < j.max_attempts)::int as waiting,
            count(j.locked_at)::int as running,
            count(1) filter (where j.locked_at is null and j.attempts >= j.max_attempts)::int as failed,
            min(j.run_at) filter (where j.locked_at is null and j.attempts < j.max_attempts and j.run_at <= now())
              as oldest_due
          from (select locked_at, attempts, max_attempts, run_at from graphile_worker.jobs order by run_at limit 100000) j
        ) counted`,
  )

export const findJob = (db: Db, jobId: string): Promise<Job | undefined> =>
  db.maybe(job, sql`select ${JOB} from graphile_worker.jobs where id = ${jobId}`)

export const findJobsByKey = (db: Db, keys: readonly string[]): Promise<Job[]> =>
  db.many(job, sql`select ${JOB} from graphile_worker.jobs where key = any(${keys})`)

/** Runs a job after some seconds, with `attempts` as the number of attempts made, if given; not one that is running. */
export const rescheduleJob = (db: Db, jobId: string, afterS: number, attempts?: number): Promise<number> =>
  db.exec(
    sql`select from graphile_worker.reschedule_jobs(array[${jobId}::bigint], run_at => ${inSeconds(afterS)}, attempts => ${attempts})`,
  )

/** Marks a job as permanently failed, for an operator to look at. */
export const failJobPermanently = (db: Db, jobId: string, message: string): Promise<number> =>
  db.exec(sql`select from graphile_worker.permanently_fail_jobs(array[${jobId}::bigint], ${message})`)

/** Returns 0 for a job that has not failed permanently. It is locked first, as somebody may just be retrying it. */
export const removeFailedJob = (db: Db, jobId: string): Promise<number> =>
  db.exec(
    sql`select from graphile_worker.complete_jobs(array(
          select id from graphile_worker._private_jobs
          where id = ${jobId} and locked_at is null and attempts >= max_attempts for update))`,
  )

export const removeJob = (db: Db, jobId: string): Promise<number> =>
  db.exec(sql`select from graphile_worker.complete_jobs(array[${jobId}::bigint])`)
