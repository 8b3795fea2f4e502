import { EventEmitter } from 'node:events'
import { type Job, Logger, parseCronItems, run, type TaskList, type WorkerEvents } from 'graphile-worker'
import { freeJobsOfTheDead } from '../db/jobs-store.ts'
import { openPool } from '../db/pool.ts'
import { giveSignOfLife, type SignOfLife } from '../db/sign-of-life.ts'
import type { Deps } from '../deps.ts'
import type { Log } from '../lib/log.ts'
import { afterFailure } from './after-failure.ts'
import { TASKS, TIMETABLE } from './tasks.ts'

/** Jobs that run at once; they mostly wait for partners. */
const CONCURRENCY = 5
const RESCUE_EVERY_MS = 60_000

export interface JobWorker {
  /** Rejects when the worker ends without having been stopped. */
  readonly ended: Promise<void>
  /** Takes no more jobs and waits for those that run. */
  stop(): Promise<void>
}

/** Runs durable jobs until it is stopped, and frees those that a dead worker has left behind. */
export async function startWorker(deps: Deps, log: Log, databaseUrl: string): Promise<JobWorker> {
  const pool = openPool({ connectionString: databaseUrl, size: CONCURRENCY + 1 }, log)
  const events: WorkerEvents = new EventEmitter()
  let life: SignOfLife | undefined
  events.on('pool:create', ({ workerPool }) => {
    life = giveSignOfLife(databaseUrl, workerPool.id)
  })
  const stopping = new AbortController()
  const settling = settleFailures(deps, log, events)
  const rescue = () =>
    freeJobsOfTheDead(deps.db).catch((error: Error) => log.warn({ err: error }, 'jobs were not freed'))
  await rescue()
  const runner = await run({
    pgPool: pool,
    taskList: taskList(deps, log, stopping.signal),
    parsedCronItems: parseCronItems(
      TIMETABLE.map(({ task, match }) => ({ task, match, options: { backfillPeriod: 86_400_000, jobKey: task } })),
    ),
    concurrency: CONCURRENCY,
    noHandleSignals: true,
    events,
    logger: quietLogger(log),
  })
  const rescuing = setInterval(rescue, RESCUE_EVERY_MS).unref()
  return {
    ended: runner.promise,
    stop: async () => {
      clearInterval(rescuing)
      stopping.abort()
      await runner.stop().catch(() => {})
      await settling()
      await life?.stop()
      await pool.end()
    },
  }
}

const taskList = (deps: Deps, log: Log, signal: AbortSignal): TaskList =>
  Object.fromEntries(
    Object.entries(TASKS).map(([name, task]) => [
      name,
      (payload: unknown, { job }: { job: Job }) =>
        task(deps, payload, { id: job.id, log: log.child({ job: job.id, task: name }), signal }),
    ]),
  )

/** Decides about each job that has failed; the function returned waits until all are decided. */
function settleFailures(deps: Deps, log: Log, events: WorkerEvents): () => Promise<unknown> {
  const deciding = new Set<Promise<void>>()
  events.on('job:complete', ({ job, error }) => {
    if (!error) return
    const { id, key, task_identifier: task, attempts } = job
    const decided = afterFailure(deps, { id, key }, error)
      .then((verdict) => {
        const note = { job: id, task, attempts, reason: String((error as Error).message) }
        if (verdict === 'failed') log.error(note, 'a job failed for good; see: gatehouse job list --failed')
        else
          log.info(
            note,
            verdict === 'again' ? 'a job failed and is tried again' : 'a job failed, and a newer one counts',
          )
      })
      .catch((failure: Error) => log.warn({ err: failure, job: id }, 'nothing was decided about a failed job'))
      .finally(() => deciding.delete(decided))
    deciding.add(decided)
  })
  return () => Promise.all(deciding)
}

/** The queue's own log is for debugging it; messages only, since what comes beside them are whole jobs. */
const quietLogger = (log: Log): Logger => new Logger(() => (_level, message) => log.debug({ queue: true }, message))
