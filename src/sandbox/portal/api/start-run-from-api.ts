import type { Deps } from '../../../platform/deps.ts'
import { invalidRequest } from '../../../platform/lib/web/rescode.ts'
import { lockPartner } from '../../../ticketing/partners/index.ts'
import {
  findCurrentRun,
  isUntouched,
  lockRun,
  progressOfRun,
  type Run,
  showRun,
  startRun,
} from '../../certification/index.ts'
import type { NewRun } from './wire.ts'

/**
 * Starts a run in one call. A run that is under way (a step was tried, and it has not passed) is overwritten only if
 * the caller says so: a person may be working on it.
 */
export async function startRunFromApi(
  deps: Deps,
  partnerId: bigint,
  { body: choice, overwrite }: NewRun,
): Promise<Run> {
  return deps.db.tx(async (db) => {
    const inside: Deps = { ...deps, db }
    await lockPartner(inside, partnerId)
    if (!overwrite) await refuseOverwriting(inside, partnerId)
    return startRun(inside, partnerId, choice)
  })
}

async function refuseOverwriting(deps: Deps, partnerId: bigint): Promise<void> {
  const present = await findCurrentRun(deps, partnerId)
  if (!present) return
  await lockRun(deps, present)
  if (await isUntouched(deps, present)) return
  const standing = progressOfRun(await showRun(deps, partnerId, present.run_id))
  if (standing.state === 'accepted') return
  throw invalidRequest(
    `run ${present.run_id} is in progress: ${standing.passed} of ${standing.steps} steps passed; send "overwrite": true to replace it`,
  )
}
