import { type Db, sql } from './sql.ts'

/** What durable jobs there are; src/jobs has one file for each. */
export type TaskName = 'pull-product' | 'pull-prices' | 'query-order' | 'send-refunded-message' | 'purge-rejected-calls'

export interface EnqueueOptions {
  /** Of several waiting jobs with one key only the last one is kept. */
  readonly key?: string
  readonly runAt?: Date
  readonly maxAttempts?: number
}

const MAX_ATTEMPTS = 10

/** Queues a job with whatever else the caller's transaction does: it is there exactly when that commits. */
export const enqueue = (
  db: Db,
  task: TaskName,
  payload: object,
  { key, runAt, maxAttempts = MAX_ATTEMPTS }: EnqueueOptions = {},
): Promise<number> =>
  db.exec(
    sql`select from graphile_worker.add_job(identifier => ${task}, payload => ${JSON.stringify(payload)}::json,
          run_at => ${runAt}, max_attempts => ${maxAttempts}, job_key => ${key})`,
  )

/** Takes a waiting job back; one that runs already is let run. */
export const dequeue = (db: Db, key: string): Promise<number> =>
  db.exec(sql`select from graphile_worker.remove_job(${key})`)
