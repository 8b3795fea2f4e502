import { isDeepStrictEqual } from 'node:util'
import type { Deps } from '../../../platform/deps.ts'
import { hasPassedSignatureTool } from '../../../ticketing/mws/index.ts'
import { lockPartner, updatePartner } from '../../../ticketing/partners/index.ts'
import { findCurrentRun, isUntouched, type Run, startRun } from '../../certification/index.ts'
import type { Choice } from '../../test-plan/index.ts'
import { type ContactsGiven, giveContacts } from '../contacts.ts'
import { signatureFirst } from '../errors.ts'
import { isUnlocked } from '../seller-progress.ts'
import type { RunRequest } from './functions-form.ts'

export interface RunStart {
  readonly partnerId: bigint
  readonly requested: RunRequest
  readonly contacts: ContactsGiven | undefined
  /** The run that the page said would be overwritten; empty when there was none. */
  readonly replaces: string
}

/** The run that has begun, or the one that the person has not yet agreed to overwrite. */
export type RunStartResult = { readonly begun: Run } | { readonly unconfirmed: Run }

/**
 * Starts a run as the form asks for, and stores the URLs and contacts. A run is overwritten only if the person was told about it;
 * the same form again (a double click, a reload) returns the run that it has begun. Throws when the signature tool has
 * not been passed; a run that is there shows that the signature is right (`isUnlocked`).
 */
export const startRunFromForm = (
  deps: Deps,
  { partnerId, requested, contacts, replaces }: RunStart,
): Promise<RunStartResult> =>
  deps.db.tx(async (db) => {
    const inside: Deps = { ...deps, db }
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
