import { type Run, stepsOf } from '../../certification/run.ts'
import { findPresentRun } from '../../certification/run-store.ts'
import type { Deps } from '../../deps.ts'
import { passedSteps } from './history-store.ts'

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
    const ids = stepsOf(run.choice).map(({ id }) => id)
    return { run, steps: ids.length, passed: (passed.get(run.run_id) ?? []).filter((id) => ids.includes(id)).length }
  })
}

/** The run that the partner is at; undefined when it has none. */
export async function presentRunOf(deps: Deps, partnerId: bigint): Promise<Standing | undefined> {
  const run = await findPresentRun(deps.db, partnerId)
  return run && (await standings(deps, [run]))[0]
}
