import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { findPartner, lockPartner } from '../../ticketing/partners/index.ts'
import { type Choice, type Conditions, isDayOver, requireDayAhead } from '../test-plan/index.ts'
import { interruptOpenAttempt, interruptStaleAttempt } from './attempt.ts'
import { type AttemptRow, attemptsOf, warningsOf } from './attempt-store.ts'
import type { Outcome } from './event.ts'
import { noSuchRun, notTheCurrentStep, RunRefusal, requireOpen, stepRunning } from './run-errors.ts'
import * as store from './run-store.ts'
import { isDone, stepsFor, stepsOf } from './steps/index.ts'
import type { Step } from './steps/step.ts'

export type Run = store.RunRow

/** A step of a run. `state` is the outcome of its last ended attempt. */
interface StepProgress {
  readonly step: Step
  readonly state: Outcome | 'open'
  /** The next step may begin: this one passed, or it is advisory and could not test anything. */
  readonly done: boolean
  /** Warnings of that attempt. */
  readonly warnings: number
  readonly running: boolean
  readonly current: boolean
  /** Oldest first. */
  readonly attempts: readonly AttemptWithWarnings[]
}

type AttemptWithWarnings = AttemptRow & { readonly warnings: number }

export interface RunView {
  readonly run: Run
  readonly steps: readonly StepProgress[]
  /** Undefined once the last step was left, and for a run that is over. */
  readonly current: StepProgress | undefined
}

/**
 * Starts a run. The previous one stays readable in the history; its running step is interrupted. The oldest may go.
 * Throws RefusedRequest if the travel day is over.
 */
export async function startRun(deps: Deps, partnerId: bigint, choice: Choice): Promise<Run> {
  if (choice.travel_date) requireDayAhead(choice.travel_date, deps.clock.now())
  const runId = randomUUID()
  const steps = stepsFor(choice).map(({ id }) => id)
  return inTransaction(deps, async (inside, db) => {
    const now = deps.clock.now()
    await lockPartner(inside, partnerId)
    const former = await store.supersedeCurrent(db, partnerId, now)
    if (former) await interruptOpenAttempt(inside, former.run_id)
    await store.insertRun(db, { runId, partnerId, choice, steps }, now)
    await store.deleteOldRuns(db, partnerId)
    return existing(await store.findRun(db, partnerId, runId))
  })
}

/** A run of this partner; throws 404 for any other. Its attempt is interrupted if the process that ran it has died. */
export async function requireRun(deps: Deps, partnerId: bigint, runId: string): Promise<Run> {
  const run = existing(await store.findRun(deps.db, partnerId, runId))
  await interruptStaleAttempt(deps, runId)
  return run
}

/** The same with its progress, which is derived from the attempts. */
export async function showRun(deps: Deps, partnerId: bigint, runId: string): Promise<RunView> {
  const run = await requireRun(deps, partnerId, runId)
  const [rows, warned] = await Promise.all([attemptsOf(deps.db, runId), warningsOf(deps.db, runId)])
  const warnings = new Map(warned.map((attempt) => [attempt.attempt_id, attempt.warnings]))
  const attempts = rows.map((row) => ({ ...row, warnings: warnings.get(row.attempt_id) ?? 0 }))
  const steps = stepsOf(run).map((step) => progressOf(step, run, attempts))
  return { run, steps, current: steps.find(({ current }) => current) }
}

export const findCurrentRun = ({ db }: Deps, partnerId: bigint): Promise<Run | undefined> =>
  store.findCurrentRun(db, partnerId)

/** The partner's current run; throws when it has none. */
export async function currentRun(deps: Deps, partnerId: bigint): Promise<Run> {
  const run = await findCurrentRun(deps, partnerId)
  if (!run) throw new RunRefusal('no_run', localized('no-run-yet'))
  return run
}

/**
 * The functions chosen for the current run and for the accepted one; undefined for a live partner that never had a run.
 */
export async function chosenFunctions(deps: Deps, partnerId: bigint): Promise<ReadonlySet<string> | undefined> {
  const runs = [await store.findCurrentRun(deps.db, partnerId), await store.findAcceptedRun(deps.db, partnerId)]
  const chosen = runs.flatMap((run) => run?.choice.functions ?? [])
  if (chosen.length === 0 && (await findPartner(deps, partnerId))?.stage === 'live') return undefined
  return new Set(chosen)
}

function progressOf(step: Step, run: Run, all: readonly AttemptWithWarnings[]): StepProgress {
  const attempts = all.filter(({ step_id }) => step_id === step.id)
  const last = attempts.findLast(({ outcome }) => outcome !== null)
  return {
    step,
    state: last?.outcome ?? 'open',
    done: isDone(step, last?.outcome ?? null),
    warnings: last?.warnings ?? 0,
    running: attempts.some(({ outcome }) => outcome === null),
    current: run.superseded_at === null && run.passed_at === null && run.current_step === step.id,
    attempts,
  }
}

/** Moves on from `stepId` to the next step; throws unless it is the current step and done. */
export async function nextStep(deps: Deps, partnerId: bigint, runId: string, stepId: string): Promise<void> {
  await inTransaction(deps, async (inside, db) => {
    const run = existing(await store.lockRun(db, partnerId, runId))
    requireOpen(run)
    if (run.current_step !== stepId) throw notTheCurrentStep()
    const { steps, current } = await showRun(inside, partnerId, runId)
    if (current?.running) throw stepRunning()
    if (!current?.done) throw new RunRefusal('not_passed', localized('step-not-passed'))
    const next = steps[steps.indexOf(current) + 1]
    await store.setCurrentStep(db, runId, next?.step.id ?? null)
  })
}

/** Changes the run's conditions, effective from the next start of a step; a running attempt keeps its own. */
export async function changeConditions(
  deps: Deps,
  partnerId: bigint,
  runId: string,
  conditions: Conditions,
): Promise<void> {
  await deps.db.tx(async (db) => {
    const run = existing(await store.lockRun(db, partnerId, runId))
    requireOpen(run)
    await store.setChoice(db, runId, { ...run.choice, conditions })
  })
}

function existing(run: Run | undefined): Run {
  if (!run) throw noSuchRun()
  return run
}

/** Until the caller's transaction ends no step can be started or left, and the run cannot be accepted. */
export const lockRun = async ({ db }: Deps, { partner_id, run_id }: Run): Promise<void> => {
  await store.lockRun(db, partner_id, run_id)
}

/** Whether the run is what this choice would start now, because no step of it has been tried. */
export const isFreshRunOf = async (deps: Deps, run: Run, choice: Choice): Promise<boolean> =>
  isDeepStrictEqual(run.choice, JSON.parse(JSON.stringify(choice))) &&
  isDeepStrictEqual(
    run.steps,
    stepsFor(choice).map(({ id }) => id),
  ) &&
  !isDayOver(choice, deps.clock.now()) &&
  (await isUntouched(deps, run))

/** No step of the run has been tried. */
export const isUntouched = async ({ db }: Deps, { run_id }: Run): Promise<boolean> =>
  (await attemptsOf(db, run_id)).length === 0
