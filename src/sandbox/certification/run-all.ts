import { setTimeout as sleep } from 'node:timers/promises'
import type { Deps } from '../../platform/deps.ts'
import type { Log } from '../../platform/lib/log.ts'
import { RescodeError } from '../../platform/lib/web/rescode.ts'
import { ENDPOINTS } from '../../ticketing/mws-wire/index.ts'
import { interruptStaleAttempt, type RunRef, startStep } from './attempt.ts'
import { eventsOfAttempt, findAttempt } from './attempt-store.ts'
import { nextStep, showRun } from './run.ts'
import { RunRefusal, requireOpen } from './run-errors.ts'
import type { RunDeps } from './running-attempts.ts'
import { isDone, STEPS } from './steps/index.ts'

/**
 * Runs the remaining steps one after the other in the background, from the current one on (or from the next, if the
 * current one is done), until a step fails, needs somebody to send a notice, or none is left. Calling it again
 * meanwhile changes nothing. Throws what `startStep` throws for the first step.
 */
export async function startAll(deps: RunDeps, log: Log, run: RunRef): Promise<void> {
  const first = await startNext(deps, log, run)
  if (first === undefined) return
  deps.runningAttempts.runAll(run.runId, () =>
    startRemaining(deps, log, run, first).catch((error: unknown) => {
      // Somebody took over by hand, began another run, or hit the rate limit: the page says so.
      if (!(error instanceof RescodeError))
        log.error({ err: error, run: run.runId }, 'starting the steps one after the other ended with an error')
    }),
  )
}

/** The id of the attempt; undefined once the last step is done. */
const startNext = (...next: Parameters<typeof tryStartNext>): Promise<string | undefined> =>
  tryStartNext(...next).catch((error: unknown) => {
    // Somebody else has moved the run on at the same moment.
    if (error instanceof RunRefusal && error.reason === 'not_current') return tryStartNext(...next)
    throw error
  })

async function tryStartNext(deps: RunDeps, log: Log, { partnerId, runId }: RunRef): Promise<string | undefined> {
  const { run, steps, current } = await showRun(deps, partnerId, runId)
  requireOpen(run)
  if (!current) return undefined
  const start = (stepId: string) => startStep(deps, log, { partnerId, runId, stepId })
  if (!current.done || current.running) return start(current.step.id)
  const next = steps[steps.indexOf(current) + 1]
  if (!next) return undefined
  await nextStep(deps, partnerId, runId, current.step.id)
  return start(next.step.id)
}

async function startRemaining(deps: RunDeps, log: Log, run: RunRef, first: string): Promise<void> {
  const { runningAttempts } = deps
  for (let attempt: string | undefined = first; attempt !== undefined; attempt = await startNext(deps, log, run)) {
    deps.logFollowers.pollNow()
    await endOf(deps, run.runId, attempt)
    if (runningAttempts.isClosed || !(await finishedUnattended(deps, attempt))) return
  }
}

const POLL_MS = 500

/** Resolves when an attempt has ended, even if another process runs it. */
async function endOf(deps: RunDeps, runId: string, attemptId: string): Promise<void> {
  const { runningAttempts, db } = deps
  await runningAttempts.endOf(attemptId)
  while (!runningAttempts.isClosed && (await findAttempt(db, attemptId))?.outcome === null) {
    await sleep(POLL_MS, undefined, { ref: false })
    if (!runningAttempts.isClosed) await interruptStaleAttempt(deps, runId)
  }
}

/** The partner's system sends the pay notice by itself when it issues tickets later. */
const SENT_UNATTENDED = ENDPOINTS.pay

/** Whether the step is done and nobody had to do anything for it. */
async function finishedUnattended({ db }: Deps, attemptId: string): Promise<boolean> {
  const attempt = await findAttempt(db, attemptId)
  const step = STEPS.find(({ id }) => id === attempt?.step_id)
  if (!attempt || !step || !isDone(step, attempt.outcome)) return false
  const events = await eventsOfAttempt(db, attemptId)
  return events.every(({ kind, data }) => kind !== 'waiting' || data.path === SENT_UNATTENDED)
}
