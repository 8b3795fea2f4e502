import type { Deps } from '../../platform/deps.ts'
import { lastOutcomes } from './attempt-store.ts'
import { findCurrentRun, type Run, type RunView } from './run.ts'
import * as store from './run-store.ts'
import { isDone, stepsOf } from './steps/index.ts'

/** Progress of runs. Pages, the headless API and the command line all use this, so that they agree. */

/** `under_way`: steps are left. `all_passed`: only acceptance is left. `accepted` is final. */
export type CurrentState = 'under_way' | 'all_passed' | 'accepted'
/** `replaced`: a newer run replaced it before it was accepted. */
export type RunState = CurrentState | 'replaced'

export interface RunProgress<State extends RunState = RunState> extends PassedSteps {
  readonly state: State
}

interface PassedSteps {
  readonly run: Run
  /** Steps that are done. */
  readonly passed: number
  readonly steps: number
}

/** Ignores whether a newer run has replaced it. */
export function currentState({ run, passed, steps }: PassedSteps): CurrentState {
  if (run.passed_at !== null) return 'accepted'
  return steps > 0 && passed === steps ? 'all_passed' : 'under_way'
}

export function runState(counted: PassedSteps): RunState {
  const state = currentState(counted)
  return state !== 'accepted' && counted.run.superseded_at !== null ? 'replaced' : state
}

/** In the order of `runs`. */
async function countPassedSteps({ db }: Deps, runs: readonly Run[]): Promise<PassedSteps[]> {
  const rows = await lastOutcomes(
    db,
    runs.map(({ run_id }) => run_id),
  )
  const outcomes = new Map(rows.map(({ run_id, step_id, outcome }) => [`${run_id} ${step_id}`, outcome]))
  return runs.map((run) => {
    const steps = stepsOf(run)
    const done = steps.filter((step) => isDone(step, outcomes.get(`${run.run_id} ${step.id}`) ?? null))
    return { run, steps: steps.length, passed: done.length }
  })
}

/** A partner's runs with a number below `before` and their progress, newest first. */
export async function listRuns(
  deps: Deps,
  partnerId: bigint,
  { before = 2_147_483_647, most = 100 } = {},
): Promise<RunProgress[]> {
  const found = await countPassedSteps(deps, await store.listRuns(deps.db, partnerId, before, most))
  return found.map((run) => ({ ...run, state: runState(run) }))
}

/** The progress of the partner's current run; undefined if it has none. */
export async function findCurrentProgress(
  deps: Deps,
  partnerId: bigint,
): Promise<RunProgress<CurrentState> | undefined> {
  const run = await findCurrentRun(deps, partnerId)
  const [found] = run ? await countPassedSteps(deps, [run]) : []
  return found && { ...found, state: currentState(found) }
}

export function progressOfRun({ run, steps }: RunView): RunProgress {
  const passed = steps.filter(({ done }) => done).length
  const found = { run, steps: steps.length, passed }
  return { ...found, state: runState(found) }
}

export const findAcceptedRun = ({ db }: Deps, partnerId: bigint): Promise<Run | undefined> =>
  store.findAcceptedRun(db, partnerId)
