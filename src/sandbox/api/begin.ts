import { attemptsOf } from '../../certification/attempt-store.ts'
import { type Run, showRun, startRun } from '../../certification/run.ts'
import { findPresentRun, lockRun, lockRunsOf } from '../../certification/run-store.ts'
import type { Deps } from '../../deps.ts'
import { invalidRequest } from '../../lib/web/rescode.ts'
import type { NewRun } from './wire.ts'

/**
 * Starts a run in one call. One that is under way (a step was tried, and it has not passed) is overwritten only when
 * that is said: a person may be sitting at it.
 */
export async function beginRun(deps: Deps, partnerId: bigint, { body: choice, overwrite }: NewRun): Promise<Run> {
  return deps.db.tx(async (db) => {
    const inside: Deps = { ...deps, db }
    await lockRunsOf(db, partnerId)
    if (!overwrite) await refuseOverwriting(inside, partnerId)
    return startRun(inside, partnerId, choice)
  })
}

async function refuseOverwriting(deps: Deps, partnerId: bigint): Promise<void> {
  const present = await findPresentRun(deps.db, partnerId)
  if (!present || present.passed_at !== null) return
  await lockRun(deps.db, partnerId, present.run_id)
  if ((await attemptsOf(deps.db, present.run_id)).length === 0) return
  const { steps } = await showRun(deps, partnerId, present.run_id)
  const passed = steps.filter(({ state }) => state === 'passed').length
  throw invalidRequest(
    `run ${present.run_id} is under way: ${passed} of ${steps.length} steps have passed; send "overwrite": true to start anew`,
  )
}
