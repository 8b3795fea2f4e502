import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Job, TaskList, WorkerEvents } from 'graphile-worker'
import { SEAL_EVERY_MS, sealAudit } from '../../platform/audit/index.ts'
import { connectionSettings, openPool } from '../../platform/db/pool.ts'
import { type JobEnds, NotConnected, openQueuePool, type QueuePool } from '../../platform/db/queue-pool.ts'
import { type Db, dbOf, withShareOf } from '../../platform/db/sql.ts'
import { isAway, isUnanswered } from '../../platform/lib/database-errors.ts'
import type { Log } from '../../platform/lib/log.ts'
import { afterFailure } from './after-failure.ts'
import { forgetLaterRuns, unlockDeadWorkers } from './store.ts'
import type { ServiceDeps } from './task.ts'
import { CRON_TASKS, TASKS } from './tasks.ts'
import { holdLease, type WorkerLease } from './worker-lease.ts'

/** Jobs that run at once; they mostly wait for partners. */
const CONCURRENCY = 5
const UNLOCK_EVERY_MS = 10_000
const RESTART_AFTER_MS = 1_000
const ASK_AGAIN_AFTER_MS = 50
const CLOCK_READ_EVERY_MS = 5_000
/** More than a clock is adjusted by in that time, and less than the least time between two runs of a recurring task. */
const SET_BACK_BY_MS = 60_000

export interface JobWorker {
  /** Takes no more jobs and waits for those that run. */
  stop(): Promise<void>
}

/** Runs durable jobs until stopped, and unlocks those of dead workers. */
export async function startWorker(given: ServiceDeps, log: Log, databaseUrl: string): Promise<JobWorker> {
  const deps = withShareOf(given, 'jobs')
  const connection = { ...connectionSettings(deps.config, databaseUrl), genericPlan: false }
  const queue = openQueuePool(connection, CONCURRENCY + 1, log)
  // The lease has its own connection, so that it is renewed however busy the others are.
  const leasePool = openPool({ ...connection, size: 1 }, log)
  const stopping = new AbortController()
  const unlockDead = () =>
    unlockDeadWorkers(deps.db).catch((error: Error) =>
      log.warn({ err: error }, 'jobs of dead workers could not be released'),
    )
  const seal = () =>
    sealAudit(deps).catch((error: Error) => log.warn({ err: error }, 'the audit log could not be sealed'))
  const begin = () => beginRunner(deps, log, { queue, leaseDb: dbOf(leasePool), stopping: stopping.signal })

  await unlockDead()
  let current = await begin().catch(async (error: Error) => {
    await Promise.all([queue.pool.end(), leasePool.end()])
    throw error
  })
  const unlocking = setInterval(unlockDead, UNLOCK_EVERY_MS).unref()
  const sealing = setInterval(seal, SEAL_EVERY_MS).unref()

  const restart = async (reason: string): Promise<void> => {
    log.error(`${reason}: other workers take over its jobs, and it restarts`)
    await current.end()
    for (;;) {
      await sleep(RESTART_AFTER_MS, undefined, { signal: stopping.signal }).catch(() => {})
      if (stopping.signal.aborted) return
      const begun = await begin().catch((error: Error) => void log.warn({ err: error }, 'the worker could not restart'))
      if (!begun) continue
      current = begun
      return
    }
  }
  const watch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const reason = await current.mustRestart
      if (!stopping.signal.aborted) await restart(reason)
    }
  }
  const watching = watch()
  return {
    stop: async () => {
      clearInterval(unlocking)
      clearInterval(sealing)
      stopping.abort()
      await current.end()
      await watching
      await current.end() // the one that a restart may have begun meanwhile
      await seal()
      await Promise.all([queue.pool.end(), leasePool.end()])
    },
  }
}

interface RunnerParts {
  readonly queue: QueuePool
  readonly leaseDb: Db
  readonly stopping: AbortSignal
}

/** The queue's runner under one name, and the lease in that name. */
async function beginRunner(deps: ServiceDeps, log: Log, { queue, leaseDb, stopping }: RunnerParts) {
  await forgetLaterRuns(deps.db)
  const events: WorkerEvents = new EventEmitter()
  const over = new AbortController()
  const signal = AbortSignal.any([stopping, over.signal])
  const ends = queue.endsOf(events, over.signal)
  const settling = settleFailures(deps, log, events, ends)
  let holdsJobs = false
  const mustRestart = new Promise<string>((resolve) => {
    let former: unknown
    events.on('worker:getJob:error', ({ error }) => {
      const mayBeTaken = !(error instanceof NotConnected) && (isAway(error) || isUnanswered(error))
      holdsJobs ||= mayBeTaken
      if (mayBeTaken) resolve('the database went away or did not answer while this worker took a job')
      // The queue caches the failure of its first look-up of the tasks, and never repeats it.
      if (error === former) resolve('the queue could not look up its tasks')
      former = error
    })
    events.on('job:complete', async ({ job }) => {
      if (!(await ends.written(job.id))) resolve('the end of a job was not written')
    })
  })
  let lease: WorkerLease | undefined
  events.on('pool:create', ({ workerPool }) => {
    lease = holdLease(leaseDb, workerPool.id, log)
    void lease.lost.then(() => over.abort())
  })
  /** The queue calls this before it takes a job: none is taken without a lease. */
  const onceSafe = async (): Promise<null> => {
    while (!lease?.isSafe()) {
      if (signal.aborted) throw new Error('this worker ends before it has a lease')
      await sleep(ASK_AGAIN_AFTER_MS)
    }
    return null
  }
  // Loaded only where jobs run: processes without jobs and the command line do not need all of it.
  const { Logger, parseCronItems, run } = await import('graphile-worker')
  // It prints the stack when one of its workers ends, beside the log; `mustRestart` and `lease` say what happened.
  console.trace = (error) => log.debug({ err: error }, 'a worker of the queue has ended')
  const runner = await run({
    pgPool: queue.pool,
    taskList: taskList({ ...deps, assertLeaseHeld: () => lease?.assertSafe() }, log, signal),
    parsedCronItems: parseCronItems(
      CRON_TASKS.map(({ task, match }) => ({ task, match, options: { backfillPeriod: 86_400_000, jobKey: task } })),
    ),
    concurrency: CONCURRENCY,
    forbiddenFlags: onceSafe,
    noHandleSignals: true,
    events,
    // Messages only, since their metadata holds whole jobs.
    logger: new Logger(() => (_level, message) => log.debug({ queue: true }, message)),
  })
  if (!lease) throw new Error('the job queue has started without a worker')
  const held = lease
  let ending: Promise<void> | undefined
  const end = async () => {
    over.abort()
    await runner.stop().catch(() => {})
    await settling()
    const allWritten = await ends.allWritten()
    await held.stop(holdsJobs || !allWritten)
  }
  return {
    /** Resolves with the reason why it has to restart under another name. */
    mustRestart: Promise.race([
      held.lost.then(() => 'the lease of this worker has expired'),
      mustRestart,
      onceSetBack(deps, signal),
      // It resolves even if one of the queue's own parts has failed.
      runner.promise.then(() => 'the job queue has ended by itself'),
    ]),
    /** Takes no more jobs, waits for those that run, and returns the lease. */
    end: () => {
      ending ??= end()
      return ending
    },
  }
}

/** Resolves when the machine's clock was set back: the queue would wait with recurring tasks for as long as that. */
async function onceSetBack({ clock }: ServiceDeps, signal: AbortSignal): Promise<string> {
  const ahead = () => clock.now().getTime() - performance.now()
  for (let before = ahead(); ; before = ahead()) {
    await sleep(CLOCK_READ_EVERY_MS, undefined, { signal, ref: false }).catch(() => {})
    if (signal.aborted) return new Promise(() => {})
    if (ahead() < before - SET_BACK_BY_MS) return "this machine's clock was set back"
  }
}

function taskList(deps: ServiceDeps, log: Log, signal: AbortSignal): TaskList {
  const named = Object.entries(TASKS).map(([name, task]) => {
    const perform = (payload: unknown, { job: { id } }: { job: Job }) => {
      const work = () => task(deps, payload, { id, log: log.child({ job: id, task: name }), signal })
      return deps.tracing ? deps.tracing.job(`job ${name}`, work) : work()
    }
    return [name, perform] as const
  })
  return Object.fromEntries(named)
}

/** Handles every job that fails; the returned function waits until all are handled. */
function settleFailures(deps: ServiceDeps, log: Log, events: WorkerEvents, ends: JobEnds): () => Promise<unknown> {
  const pending = new Set<Promise<void>>()
  events.on('job:complete', ({ job, error }) => {
    const { id, key, task_identifier: task, attempts } = job
    if (!error) return deps.metrics.jobsFinished.inc({ task, outcome: 'done' })
    const handled = ends
      .written(id)
      .then((written) => (written ? afterFailure(deps, { id, key, attempts }, error) : 'again'))
      .then((verdict) => {
        deps.metrics.jobsFinished.inc({ task, outcome: verdict })
        const note = { job: id, task, attempts, reason: String((error as Error).message) }
        if (verdict === 'failed') log.error(note, 'a job failed permanently; see: gatehouse job list --failed')
        else if (verdict === 'again') log.info(note, 'a job failed and will be retried')
        else log.info(note, 'a job failed; a newer one replaces it')
      })
      .catch((failure: Error) => log.warn({ err: failure, job: id }, 'a failed job could not be rescheduled'))
      .finally(() => pending.delete(handled))
    pending.add(handled)
  })
  return () => Promise.all(pending)
}
