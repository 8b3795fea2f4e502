import { randomUUID } from 'node:crypto'
import type { Deps } from '../deps.ts'
import { type AttemptRow, attemptsOf } from './attempt-store.ts'
import type { Choice } from './choice.ts'
import { endDeserted, endOpenAttempt } from './ending.ts'
import { noRunYet, noSuchRun, notTheCurrentStep, runIsOver, stepNotPassed, stepRunning } from './errors.ts'
import * as store from './run-store.ts'
import { STEPS } from './steps/index.ts'
import type { Step } from './steps/step.ts'

export type Run = store.RunRow

/** A step as it stands in a run. `state` is that of its last attempt that has ended. */
export interface Progress {
  readonly step: Step
  readonly state: 'passed' | 'failed' | 'interrupted' | 'open'
  readonly running: boolean
  readonly current: boolean
  /** Oldest first. */
  readonly attempts: readonly AttemptRow[]
}

export interface RunView {
  readonly run: Run
  readonly steps: readonly Progress[]
  /** Undefined once the last step was left. */
  readonly current: Progress | undefined
}

/** The steps of a choice, in order. */
export const stepsOf = (choice: Choice): Step[] => STEPS.filter(({ needs }) => needs(choice))

/**
 * Starts a run with this choice. A run that is there already is overwritten: it stays readable in the history, and a
 * step that is being made in it ends as interrupted.
 */
export async function startRun(deps: Deps, partnerId: bigint, choice: Choice): Promise<Run> {
  const runId = randomUUID()
  const [first] = stepsOf(choice)
  if (!first) throw new Error('no step fits the choice')
  return deps.db.tx(async (db) => {
    const now = deps.clock.now()
    await store.lockRunsOf(db, partnerId)
    const former = await store.supersedePresent(db, partnerId, now)
    if (former) await endOpenAttempt({ ...deps, db }, former.run_id)
    await store.insertRun(db, { runId, partnerId, choice, firstStep: first.id }, now)
    return existing(await store.findRun(db, partnerId, runId))
  })
}

/** The partner's run with its progress, which is derived from the attempts; throws 404 for any other. */
export async function showRun(deps: Deps, partnerId: bigint, runId: string): Promise<RunView> {
  const run = existing(await store.findRun(deps.db, partnerId, runId))
  await endDeserted(deps, runId)
  const attempts = await attemptsOf(deps.db, runId)
  const steps = stepsOf(run.choice).map((step) => progressOf(step, run, attempts))
  return { run, steps, current: steps.find(({ current }) => current) }
}

/** The run that the partner is at; throws when it has none. */
export async function presentRun(deps: Deps, partnerId: bigint): Promise<Run> {
  const run = await store.findPresentRun(deps.db, partnerId)
  if (!run) throw noRunYet()
  return run
}

export const listRuns = (deps: Deps, partnerId: bigint): Promise<Run[]> => store.listRuns(deps.db, partnerId)

function progressOf(step: Step, run: Run, all: readonly AttemptRow[]): Progress {
  const attempts = all.filter(({ step_id }) => step_id === step.id)
  const last = attempts.findLast(({ outcome }) => outcome !== null)
  return {
    step,
    state: last?.outcome ?? 'open',
    running: attempts.some(({ outcome }) => outcome === null),
    current: run.superseded_at === null && run.current_step === step.id,
    attempts,
  }
}

/** Goes on from `stepId` to the next step; only when it is the current one and has passed, whoever asks. */
export async function nextStep(deps: Deps, partnerId: bigint, runId: string, stepId: string): Promise<void> {
  await deps.db.tx(async (db) => {
    const run = existing(await store.lockRun(db, partnerId, runId))
    if (run.superseded_at !== null) throw runIsOver()
    if (run.current_step !== stepId) throw notTheCurrentStep()
    const { steps, current } = await showRun({ ...deps, db }, partnerId, runId)
    if (current?.running) throw stepRunning()
    if (current?.state !== 'passed') throw stepNotPassed()
    const next = steps[steps.indexOf(current) + 1]
    await store.setCurrentStep(db, runId, next?.step.id ?? null)
  })
}

function existing(run: Run | undefined): Run {
  if (!run) throw noSuchRun()
  return run
}
