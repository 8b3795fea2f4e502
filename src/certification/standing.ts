import type { Deps } from '../deps.ts'
import { passedSteps } from './attempt-store.ts'
import { findPresentRun, type Run, type RunView } from './run.ts'
import * as store from './run-store.ts'
import { stepsOf } from './steps/index.ts'

/** Where runs stand. Pages, the headless API and the command line all ask here, so that none contradicts another. */

/** `under_way`: steps are left. `all_passed`: acceptance is what is left. `accepted`: it has passed, for good. */
export type PresentState = 'under_way' | 'all_passed' | 'accepted'
/** `replaced`: a newer run took its place before it was accepted. */
export type RunState = PresentState | 'replaced'

/** How far a run has come. */
export interface Standing<State extends RunState = RunState> extends Progressed {
  readonly state: State
}

interface Progressed {
  readonly run: Run
  /** Steps whose last attempt has passed. */
  readonly passed: number
  readonly steps: number
}

/** Where a run stands that no other has replaced. */
export function presentState({ run, passed, steps }: Progressed): PresentState {
  if (run.passed_at !== null) return 'accepted'
  return steps > 0 && passed === steps ? 'all_passed' : 'under_way'
}

export function runState(progressed: Progressed): RunState {
  const state = presentState(progressed)
  return state !== 'accepted' && progressed.run.superseded_at !== null ? 'replaced' : state
}

/** How far these runs have come, in their order. */
async function progressed({ db }: Deps, runs: readonly Run[]): Promise<Progressed[]> {
  const counted = await passedSteps(
    db,
    runs.map(({ run_id }) => run_id),
  )
  const passed = new Map(counted.map((one) => [one.run_id, one.steps]))
  return runs.map((run) => {
    const ids = stepsOf(run).map(({ id }) => id)
    return { run, steps: ids.length, passed: (passed.get(run.run_id) ?? []).filter((id) => ids.includes(id)).length }
  })
}

/** The runs of a partner and how far they have come, newest first; a hundred at most. */
export async function listRuns(deps: Deps, partnerId: bigint): Promise<Standing[]> {
  const found = await progressed(deps, await store.listRuns(deps.db, partnerId))
  return found.map((one) => ({ ...one, state: runState(one) }))
}

/** How far the run has come that the partner is at; undefined when it has none. */
export async function presentStanding(deps: Deps, partnerId: bigint): Promise<Standing<PresentState> | undefined> {
  const run = await findPresentRun(deps, partnerId)
  const [found] = run ? await progressed(deps, [run]) : []
  return found && { ...found, state: presentState(found) }
}

/** How far a run has come that is shown with its steps. */
export function standingOf({ run, steps }: RunView): Standing {
  const passed = steps.filter(({ state }) => state === 'passed').length
  const found = { run, steps: steps.length, passed }
  return { ...found, state: runState(found) }
}

/** The newest run of the partner that was accepted; undefined when none was. */
export const findAcceptedRun = ({ db }: Deps, partnerId: bigint): Promise<Run | undefined> =>
  store.findAcceptedRun(db, partnerId)
