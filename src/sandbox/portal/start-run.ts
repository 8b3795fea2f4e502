import { isDeepStrictEqual } from 'node:util'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { invalidRequest } from '../../platform/lib/web/rescode.ts'
import { hasPassedSignatureTool } from '../../ticketing/mws/index.ts'
import { lockPartner, updatePartner } from '../../ticketing/partners/index.ts'
import {
  findCurrentRun,
  isUntouched,
  lockRun,
  progressOfRun,
  type Run,
  showRun,
  startRun,
} from '../certification/index.ts'
import type { Choice } from '../test-plan/index.ts'
import type { NewRun } from './api/wire.ts'
import { type ContactsGiven, giveContacts } from './contacts.ts'
import { signatureFirst } from './errors.ts'
import type { RunRequest } from './pages/functions-form.ts'
import { isUnlocked } from './seller-progress.ts'

export interface RunStart {
  readonly partnerId: bigint
  readonly requested: RunRequest
  readonly contacts: ContactsGiven | undefined
  /** The run that the page said would be overwritten; empty when there was none. */
  readonly replaces: string
}

/** The run that has begun, or the one that the person has not yet agreed to overwrite. */
type RunStartResult = { readonly begun: Run } | { readonly unconfirmed: Run }

/**
 * Starts a run as the form asks for, and stores the URLs and contacts. A run is overwritten only if the person was told about it;
 * the same form again (a double click, a reload) returns the run that it has begun. Throws when the signature tool has
 * not been passed; a run that is there shows that the signature is right (`isUnlocked`).
 */
export const startRunFromForm = (
  deps: Deps,
  { partnerId, requested, contacts, replaces }: RunStart,
): Promise<RunStartResult> =>
  inTransaction(deps, async (inside) => {
    const stage = await lockPartner(inside, partnerId)
    const present = await findCurrentRun(inside, partnerId)
    if (!isUnlocked(await hasPassedSignatureTool(inside, partnerId), present)) throw signatureFirst()
    if (present && present.run_id !== replaces) {
      return (await isSameStart(inside, present, requested.choice)) ? { begun: present } : { unconfirmed: present }
    }
    // Orders of real customers go to the URLs of a live partner.
    if (stage === 'sandbox') await updatePartner(inside, partnerId, requested.urls)
    if (contacts) await giveContacts(inside, partnerId, contacts)
    return { begun: await startRun(inside, partnerId, requested.choice) }
  })

const isSameStart = async (deps: Deps, run: Run, wanted: Choice): Promise<boolean> =>
  isDeepStrictEqual(run.choice, JSON.parse(JSON.stringify(wanted))) && (await isUntouched(deps, run))

/**
 * Starts a run in one call. One under way (a step was tried, and it has not passed) is overwritten only if the caller
 * says so: somebody may work on it.
 */
export async function startRunFromApi(
  deps: Deps,
  partnerId: bigint,
  { body: choice, overwrite }: NewRun,
): Promise<Run> {
  return inTransaction(deps, async (inside) => {
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
  const { passed, steps } = standing
  throw invalidRequest(localized('run-in-progress', { run: present.run_id, passed, steps }))
}
