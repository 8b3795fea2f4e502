import { type Deps, inTransaction } from '../../platform/deps.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { invalidRequest } from '../../platform/lib/web/rescode.ts'
import { countUse } from '../../platform/throttle/index.ts'
import { hasPassedSignatureTool } from '../../ticketing/mws/index.ts'
import { lockPartner, updatePartner } from '../../ticketing/partners/index.ts'
import {
  findCurrentRun,
  isFreshRunOf,
  isUntouched,
  lockRun,
  progressOfRun,
  type Run,
  RunRefusal,
  showRun,
  startRun,
} from '../certification/index.ts'
import type { NewRun } from './api/wire.ts'
import { type ContactsGiven, giveContacts } from './contacts.ts'
import type { RunRequest } from './pages/functions-form.ts'
import { isUnlocked } from './seller-progress.ts'

interface RunStart {
  readonly partnerId: bigint
  readonly requested: RunRequest
  readonly contacts: ContactsGiven | undefined
  /** The run that the person agreed to overwrite; empty if there was none. */
  readonly replaces: string
}

/** The started run, or the one that the person has not yet agreed to overwrite. */
type RunStartResult = { readonly started: Run } | { readonly unconfirmed: Run }

/**
 * Starts a run from the form and stores the URLs and contacts. A run is overwritten only if the person has agreed to
 * that; sending the same form again (double click, reload) returns the run that it started. Throws if the signature
 * tool has not been passed, 20003 when rate-limited.
 */
export const startRunFromForm = (
  deps: Deps,
  { partnerId, requested, contacts, replaces }: RunStart,
): Promise<RunStartResult> =>
  inTransaction(deps, async (inside) => {
    const stage = await lockPartner(inside, partnerId)
    const present = await findCurrentRun(inside, partnerId)
    if (!isUnlocked(await hasPassedSignatureTool(inside, partnerId), present))
      throw new RunRefusal('signature_first', localized('signature-first'))
    if (present && present.run_id !== replaces) {
      return (await isFreshRunOf(inside, present, requested.choice)) ? { started: present } : { unconfirmed: present }
    }
    await countUse(inside, 'run', partnerId)
    // A live partner's URLs receive real customers' orders, so they are not changed here.
    if (stage === 'sandbox') await updatePartner(inside, partnerId, requested.urls)
    if (contacts) await giveContacts(inside, partnerId, contacts)
    return { started: await startRun(inside, partnerId, requested.choice) }
  })

/**
 * Starts a run from the headless API. A run under way (a step was tried, and it is not accepted) is overwritten only if
 * the caller says so: somebody may be working on it. Sent again, as after a lost answer, the request gets the same run.
 * Throws 20003 when rate-limited.
 */
export async function startRunFromApi(
  deps: Deps,
  partnerId: bigint,
  { body: choice, overwrite }: NewRun,
): Promise<Run> {
  return inTransaction(deps, async (inside) => {
    await lockPartner(inside, partnerId)
    const present = await findCurrentRun(inside, partnerId)
    if (present) await lockRun(inside, present)
    if (present && (await isFreshRunOf(inside, present, choice))) return present
    if (present && !overwrite) await refuseOverwriting(inside, present)
    await countUse(inside, 'run', partnerId)
    return startRun(inside, partnerId, choice)
  })
}

async function refuseOverwriting(deps: Deps, present: Run): Promise<void> {
  if (await isUntouched(deps, present)) return
  const { state, passed, steps } = progressOfRun(await showRun(deps, present.partner_id, present.run_id))
  if (state === 'accepted') return
  throw invalidRequest(localized('run-in-progress', { run: present.run_id, passed, steps }))
}
