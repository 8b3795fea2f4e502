import { randomUUID } from 'node:crypto'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import type { Log } from '../../platform/lib/log.ts'
import { RefusedRequest, RescodeError, unavailable } from '../../platform/lib/web/rescode.ts'
import { countUse } from '../../platform/throttle/index.ts'
import { findPartner } from '../../ticketing/partners/index.ts'
import { callFaultsFor, conditionLogLines } from '../test-plan/index.ts'
import { AttemptInterrupted, NothingTested, StepFailed } from './attempt-log.ts'
import { appendEvent, endAttempt, findOpenAttempt, insertAttempt, keepAlive, MAX_ATTEMPTS } from './attempt-store.ts'
import type { Outcome } from './event.ts'
import { noSuchRun, notTheCurrentStep, RunRefusal, requireOpen } from './run-errors.ts'
import { lockRun, type RunRow } from './run-store.ts'
import type { RunDeps } from './running-attempts.ts'
import { stepContext } from './step-context.ts'
import { STEPS, stepsOf } from './steps/index.ts'
import type { Step } from './steps/step.ts'

const ALIVE_EVERY_MS = 3_000

export interface RunRef {
  readonly partnerId: bigint
  readonly runId: string
}

export interface StepRef extends RunRef {
  readonly stepId: string
}

/**
 * Starts the step. While an attempt is open that one is returned, so a double click is harmless. Throws 20003 when
 * rate-limited.
 */
export async function startStep(deps: RunDeps, log: Log, { partnerId, runId, stepId }: StepRef): Promise<string> {
  const attempt = await inTransaction(deps, async (inside, db) => {
    const run = await lockRun(db, partnerId, runId)
    if (!run) throw noSuchRun()
    requireOpen(run)
    const step = run.current_step === stepId ? STEPS.find(({ id }) => id === stepId) : undefined
    if (!step) throw notTheCurrentStep()
    await interruptStaleAttempt(inside, runId)
    const open = await findOpenAttempt(db, runId)
    if (open) return { attemptId: open.attempt_id }
    if (deps.runningAttempts.isClosed) throw unavailable('the process stops')
    // Each attempt stores its requests and responses, up to a megabyte per call.
    await countUse(inside, 'start', partnerId)
    return begin(inside, run, step)
  })
  if ('step' in attempt) {
    // The process may have begun to stop meanwhile: then nobody would interrupt it.
    if (deps.runningAttempts.isClosed) await interrupt(deps, attempt.attemptId)
    else runInBackground(deps, log, attempt)
  }
  return attempt.attemptId
}

/** Interrupts the step's running attempt; does nothing if none is running, so a double click is harmless. */
export async function stopStep(deps: RunDeps, { partnerId, runId, stepId }: StepRef): Promise<void> {
  const stopped = await deps.db.tx(async (db) => {
    const run = await lockRun(db, partnerId, runId)
    if (!run) throw noSuchRun()
    if (!stepsOf(run).some(({ id }) => id === stepId)) throw notTheCurrentStep()
    const open = await findOpenAttempt(db, runId)
    if (open?.step_id !== stepId) return undefined
    await endAttempt(db, open.attempt_id, { outcome: 'interrupted', stopped: true }, deps.clock.now())
    return open.attempt_id
  })
  // If another process runs it, that process notices within seconds.
  if (stopped !== undefined) deps.runningAttempts.abort(stopped)
}

type StartedAttempt = Awaited<ReturnType<typeof begin>>

async function begin({ db, clock }: RunDeps, run: RunRow, step: Step) {
  const [attemptId, startedAt] = [randomUUID(), clock.now()]
  const attempt = { attemptId, runId: run.run_id, stepId: step.id }
  const number = await insertAttempt(db, attempt, startedAt)
  if (number === undefined)
    throw new RunRefusal('too_many_attempts', localized('too-many-attempts', { most: MAX_ATTEMPTS }))
  await appendEvent(db, attemptId, { kind: 'started', data: { step_id: step.id, number } }, startedAt)
  return { attemptId, number, run, step, startedAt }
}

/** Runs the attempt in the background and renews its lease every few seconds. */
function runInBackground(deps: RunDeps, log: Log, attempt: StartedAttempt): void {
  const { attemptId } = attempt
  const abort = new AbortController()
  const timer = setInterval(() => {
    keepAlive(deps.db, attemptId).then(
      (alive) => alive === 0 && abort.abort(),
      // The database is unreachable. If that lasts, the lease runs out and the attempt counts as interrupted.
      () => {},
    )
  }, ALIVE_EVERY_MS)
  const done = perform(deps, attempt, abort.signal)
    .catch((error: unknown) => {
      // Failures after the attempt was ended from outside do not matter.
      if (!abort.signal.aborted) log.error({ err: error, attempt: attemptId }, 'a sandbox step could not be run')
    })
    .finally(() => clearInterval(timer))
  deps.runningAttempts.add(attemptId, { abort, done, interrupt: () => interrupt(deps, attemptId) })
}

async function perform(real: RunDeps, attempt: StartedAttempt, signal: AbortSignal): Promise<void> {
  const { attemptId, number, run, step, startedAt } = attempt
  const { conditions } = run.choice
  const deps: RunDeps = conditions ? { ...real, calls: { ...real.calls, faults: callFaultsFor(conditions) } } : real
  const partner = await findPartner(deps, run.partner_id)
  if (!partner) return
  const { choice, run_id: runId } = run
  const noticeTimeoutS = conditions?.wait_minutes ? conditions.wait_minutes * 60 : deps.config.SANDBOX_WAIT_S
  const { expects, advisory = false } = step
  const cause = { kind: 'step', ref: step.id } as const
  const context = stepContext({
    ...{ deps, partner, runId, attemptId, number, choice, expects, advisory, startedAt, cause, noticeTimeoutS, signal },
  })
  let outcome: Outcome | undefined
  try {
    for (const fault of conditions ? conditionLogLines(conditions) : [])
      await context.append({ kind: 'fault', data: { fault } })
    await step.perform(context)
  } catch (error) {
    if (error instanceof AttemptInterrupted) return interrupt(deps, attemptId)
    // The person can act on the platform's own refusals: no known price, an order in the wrong state.
    if (error instanceof RescodeError) {
      await context
        .check('platform', false, { actual: error instanceof RefusedRequest ? error.describe : error.message })
        .catch(() => {
          // Without this line the checks before it could make the attempt pass.
          outcome = 'interrupted'
        })
    } else if (!(error instanceof StepFailed)) {
      await interrupt(deps, attemptId)
      throw error
    }
    // In an advisory step failed checks only warn, so one that stopped early would pass without testing anything.
    if (error instanceof NothingTested || (advisory && !context.hasBegunTest())) outcome = 'not_tested'
  }
  outcome ??= context.hasPassed() ? 'passed' : 'failed'
  await endAttempt(deps.db, attemptId, { outcome }, deps.clock.now())
}

async function interrupt({ db, clock }: Deps, attemptId: string): Promise<void> {
  await endAttempt(db, attemptId, { outcome: 'interrupted' }, clock.now())
}

/** Interrupts the run's attempt if its process has died. No job does this, so whoever reads or follows a run does. */
export async function interruptStaleAttempt(deps: Deps, runId: string): Promise<void> {
  const stale = await findOpenAttempt(deps.db, runId, { onlyDead: true })
  if (stale) await interrupt(deps, stale.attempt_id)
}

/** Interrupts the run's open attempt; its process notices when it writes the next log line. */
export async function interruptOpenAttempt(deps: Deps, runId: string): Promise<void> {
  const open = await findOpenAttempt(deps.db, runId)
  if (open) await interrupt(deps, open.attempt_id)
}
