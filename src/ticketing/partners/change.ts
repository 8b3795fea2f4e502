import { recordAudit } from '../../platform/audit/index.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { refuseIfChanged } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { invalidRequest, type RescodeError } from '../../platform/lib/web/rescode.ts'
import * as store from './store.ts'
import type { ShownPartner } from './wire.ts'

export const noSuchPartner = (): RescodeError => invalidRequest(localized('no-such-partner'), { status: 404 })

/** A partner as operators see it: of its secrets only the dates. */
export const shownPartner = ({ secrets, aes_key: _, ...partner }: store.PartnerWithSealed): ShownPartner => ({
  ...partner,
  secrets: secrets.map(({ sealed: __, ...dates }) => dates),
})

/** Throws 20007 (404) for an unknown PartnerId. */
export async function requirePartner(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  partnerId: bigint,
): Promise<store.PartnerWithSealed> {
  const partner = await store.findPartner(db, { partnerId }, clock.now())
  if (partner === undefined) throw noSuchPartner()
  return partner
}

/**
 * Changes a partner and records that in the audit log, in one transaction; changes of one partner wait for each other.
 * `work` returns details for the log: ids and names, never a secret. Throws if the partner was changed after `since`.
 */
export const changePartner = (
  deps: Deps,
  partnerId: bigint,
  event: `partner_${string}`,
  work: (inside: Deps, now: Date) => Promise<object>,
  since?: number,
): Promise<ShownPartner> =>
  inTransaction(deps, async (inside, db) => {
    const now = deps.clock.now()
    const changedAt = await store.touchPartner(db, partnerId, now)
    if (!changedAt) throw noSuchPartner()
    refuseIfChanged(changedAt, since)
    const detail = await work(inside, now)
    await recordAudit(inside, { event, partnerId, detail })
    return shownPartner(await requirePartner(inside, partnerId))
  })
