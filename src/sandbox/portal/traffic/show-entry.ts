import { z } from 'zod'
import { recordAudit } from '../../../platform/audit/index.ts'
import type { Deps } from '../../../platform/deps.ts'
import { operation, readingReason } from '../../../platform/lib/json/input.ts'
import { maskedReason } from '../../../platform/lib/masked-reason.ts'
import type { NoticeDeps } from '../../../ticketing/mtp/index.ts'
import { noSuchEntry } from '../errors.ts'
import { showEntry, type TrafficEntry } from './entry.ts'
import { findEntryOwner } from './entry-store.ts'
import { exportedEntry } from './export.ts'
import { maskedBody } from './masked-body.ts'
import { keptText, type TextOf } from './text.ts'

/** Its id alone, or as the list names it, with its kind. With a reason bodies are shown as they came, and the audit log keeps it. */
const shownTraffic = z.strictObject({
  id: z
    .string()
    .transform((text) => text.split('/').at(-1))
    .pipe(z.guid()),
  reason: readingReason.optional(),
})

/** A body without what may be about people; empty where it is not JSON, which may hold anything. */
const withoutPeople: TextOf = (text, encrypted, message) => {
  const shown = text === '' ? '' : maskedBody(text, message)
  return { ...keptText(shown ?? '', encrypted), ...(shown === undefined ? { unreadable: true } : {}) }
}

/** As operators see an entry who have given no reason: bodies masked, and of failures only what are our words. */
export async function showMaskedEntry(
  deps: NoticeDeps,
  partnerId: bigint,
  id: Pick<TrafficEntry, 'kind' | 'id'>,
): Promise<TrafficEntry> {
  const { failure, ...entry } = await showEntry(deps, partnerId, id, withoutPeople)
  return { ...entry, ...(failure ? { failure: { ...failure, detail: maskedReason(failure.detail) } } : {}) }
}

export type OneOfTraffic = ReturnType<typeof exportedEntry> & { readonly partner_id: bigint; readonly masked: boolean }

/**
 * One call or notice, of whichever partner, with its headers and bodies (64 KiB of each at most) and no secrets. Throws
 * 20007 (404) for an id that no call has.
 */
export const showTraffic = operation(shownTraffic, async (deps: NoticeDeps, { id, reason }): Promise<OneOfTraffic> => {
  const owner = await findEntryOwner(deps.db, id)
  if (!owner) throw noSuchEntry()
  const { partner_id, kind } = owner
  const masked = reason === undefined
  const entry = masked
    ? await showMaskedEntry(deps, partner_id, { kind, id })
    : await showEntry(deps, partner_id, { kind, id }, keptText)
  if (!masked) await recordReading(deps, partner_id, { kind, id }, reason)
  return { ...exportedEntry(entry), partner_id, masked }
})

/** The audit log keeps who has read the bodies of a call or notice, and why. */
export const recordReading = (
  deps: Deps,
  partnerId: bigint,
  { kind, id }: Pick<TrafficEntry, 'kind' | 'id'>,
  reason: string,
): Promise<number> =>
  recordAudit(deps, { event: 'personal_data_read', partnerId, target: `${kind}:${id}`, detail: { reason } })
