import { isDeepStrictEqual } from 'node:util'
import { attemptsOf } from '../../certification/attempt-store.ts'
import type { Choice } from '../../certification/choice.ts'
import { signatureFirst } from '../../certification/errors.ts'
import { type Run, startRun } from '../../certification/run.ts'
import { findPresentRun, lockRunsOf } from '../../certification/run-store.ts'
import type { Deps } from '../../deps.ts'
import { hasPassedSignatureTool } from '../../mtp/signature-test.ts'
import { updatePartner } from '../../registry/partner.ts'
import type { Wish } from './functions-form.ts'

export interface Beginning {
  readonly partnerId: bigint
  readonly wish: Wish
  /** The run that the person was told would be overwritten; empty when there was none. */
  readonly replaces: string
}

/** The run that has begun, or the one that the person has not yet agreed to overwrite. */
export type Begun = { readonly begun: Run } | { readonly inTheWay: Run }

/**
 * Starts a run as the form asks for, and keeps the URLs. Nothing is overwritten that the person was not told about; the
 * same form again (a double click, a reload) leads to the run that it has begun. Throws when the run is still locked.
 */
export const beginRun = (deps: Deps, { partnerId, wish, replaces }: Beginning): Promise<Begun> =>
  deps.db.tx(async (db) => {
    const inside: Deps = { ...deps, db }
    if (!(await hasPassedSignatureTool(inside, partnerId))) throw signatureFirst()
    const stage = await lockRunsOf(db, partnerId)
    const present = await findPresentRun(db, partnerId)
    if (present && present.run_id !== replaces) {
      return (await isUntouched(inside, present, wish.choice)) ? { begun: present } : { inTheWay: present }
    }
    // The URLs of a live partner are what its customers' orders go to.
    if (stage === 'sandbox') await updatePartner(inside, partnerId, wish.urls)
    return { begun: await startRun(inside, partnerId, wish.choice) }
  })

const isUntouched = async ({ db }: Deps, run: Run, wanted: Choice): Promise<boolean> =>
  isDeepStrictEqual(run.choice, JSON.parse(JSON.stringify(wanted))) && (await attemptsOf(db, run.run_id)).length === 0
