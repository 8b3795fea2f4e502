import type { Deps } from '../deps.ts'
import type { Log } from '../lib/log.ts'
import { RescodeError } from '../lib/web/rescode.ts'
import { startStep } from './attempt.ts'
import { eventsOfAttempt, findAttempt } from './attempt-store.ts'
import { nextStep, showRun } from './run.ts'
import { passedAlready, runIsOver } from './run-errors.ts'

interface OwnRun {
  readonly partnerId: bigint
  readonly runId: string
}

/**
 * Starts the steps that are left, one after the other in the background, beginning with the current one (or the one
 * after it, if that has passed), until one does not pass or waits for a notice of the partner, or none is left. While
 * it goes on, asking again changes nothing. Throws what `startStep` throws for the first.
 */
export async function startAll(deps: Deps, log: Log, run: OwnRun): Promise<void> {
  const first = await startNext(deps, log, run)
  if (first === undefined) return
  deps.runningAttempts.runAll(run.runId, () =>
    startRemaining(deps, log, run, first).catch((error: unknown) => {
      // A person has gone on, begun another run, or starts too many steps: the page says so to whoever looks.
      if (!(error instanceof RescodeError))
        log.error({ err: error, run: run.runId }, 'starting the steps one after the other ended with an error')
    }),
  )
}

/** The id of the attempt; undefined once the last step has passed. */
async function startNext(deps: Deps, log: Log, { partnerId, runId }: OwnRun): Promise<string | undefined> {
  const { run, steps, current } = await showRun(deps, partnerId, runId)
  if (run.superseded_at !== null) throw runIsOver()
  if (run.passed_at !== null) throw passedAlready()
  if (!current) return undefined
  const start = (stepId: string) => startStep(deps, log, { partnerId, runId, stepId })
  if (current.state !== 'passed' || current.running) return start(current.step.id)
  const next = steps[steps.indexOf(current) + 1]
  if (!next) return undefined
  await nextStep(deps, partnerId, runId, current.step.id)
  return start(next.step.id)
}

async function startRemaining(deps: Deps, log: Log, run: OwnRun, first: string): Promise<void> {
  const { runningAttempts } = deps
  for (let attempt: string | undefined = first; attempt !== undefined; attempt = await startNext(deps, log, run)) {
    deps.logFollowers.lookNow()
    await runningAttempts.endOf(attempt)
    if (runningAttempts.isClosed || !(await passedByItself(deps, attempt))) return
  }
}

/** Whether it has passed and nobody had to do anything for it. */
async function passedByItself({ db }: Deps, attemptId: string): Promise<boolean> {
  if ((await findAttempt(db, attemptId))?.outcome !== 'passed') return false
  return (await eventsOfAttempt(db, attemptId)).every(({ kind }) => kind !== 'waiting')
}
