import type { Deps } from '../deps.ts'
import { passedSteps } from './attempt-store.ts'
import { findPresentRun, type Run, type RunView, stepsOf } from './run.ts'
import * as store from './run-store.ts'

/** Where runs stand. Pages, the headless API and the command line all ask here, so that none contradicts another. */

/** How far a run has come. */
export interface Standing {
  readonly run: Run
  /** Steps whose last attempt has passed. */
  readonly passed: number
  readonly steps: number
}

/** How far these runs have come, in their order. */
export async function standings({ db }: Deps, runs: readonly Run[]): Promise<Standing[]> {
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

/** How far the run has come that the partner is at; undefined when it has none. */
export async function presentStanding(deps: Deps, partnerId: bigint): Promise<Standing | undefined> {
  const run = await findPresentRun(deps, partnerId)
  return run && (await standings(deps, [run]))[0]
}

/** How far a run has come whose progress is known already. */
export const standingOf = ({ run, steps }: RunView): Standing => ({
  run,
  steps: steps.length,
  passed: steps.filter(({ state }) => state === 'passed').length,
})

/** `under_way`: steps are left. `all_passed`: acceptance is what is left. `accepted`: it has passed, for good. */
export type PresentState = 'under_way' | 'all_passed' | 'accepted'
/** `replaced`: a newer run took its place before it was accepted. */
export type RunState = PresentState | 'replaced'

/** Where a run stands that no other has replaced. */
export function presentState({ run, passed, steps }: Standing): PresentState {
  if (run.passed_at !== null) return 'accepted'
  return steps > 0 && passed === steps ? 'all_passed' : 'under_way'
}

export function runState(standing: Standing): RunState {
  const state = presentState(standing)
  return state !== 'accepted' && standing.run.superseded_at !== null ? 'replaced' : state
}

/** The newest run of the partner that was accepted; undefined when none was. */
export const findAcceptedRun = ({ db }: Deps, partnerId: bigint): Promise<Run | undefined> =>
  store.findAcceptedRun(db, partnerId)
