import { z } from 'zod'
import { recordAudit } from '../../../platform/audit/index.ts'
import type { Deps } from '../../../platform/deps.ts'
import { operation, readingReason } from '../../../platform/lib/json/input.ts'
import { maskedReason } from '../../../platform/lib/masked-reason.ts'
import { whyNotKept } from '../../../platform/lib/web/body-placeholder.ts'
import { maskedQuery } from '../../../platform/lib/web/web-url.ts'
import type { NoticeDeps } from '../../../ticketing/mtp/index.ts'
import { noSuchEntry } from '../errors.ts'
import { keptText, showEntry, type TextOf, type TrafficEntry } from './entry.ts'
import { exportedEntry } from './export.ts'
import { maskedBody } from './masked-body.ts'
import { findEntryOwner } from './store.ts'

/** `id` alone or, as in the list, with its kind. `reason`, for the audit log: bodies are then not masked. */
const shownTraffic = z.strictObject({
  id: z
    .string()
    .transform((text) => text.split('/').at(-1))
    .pipe(z.guid()),
  reason: readingReason.optional(),
})

/** A body without personal data; empty if it is not JSON and could contain anything. */
const withoutPersonalData: TextOf = (text, encrypted, message) => {
  const shown = text === '' || whyNotKept(text) ? text : maskedBody(text, message)
  return { ...keptText(shown ?? '', encrypted), ...(shown === undefined ? { unreadable: true } : {}) }
}

/** As operators see it without giving a reason: bodies, partners' texts and queries masked, and no script. */
export async function showMaskedEntry(
  deps: NoticeDeps,
  partnerId: bigint,
  id: Pick<TrafficEntry, 'kind' | 'id'>,
): Promise<TrafficEntry> {
  const { failure, curl: _, ...entry } = await showEntry(deps, partnerId, id, withoutPersonalData)
  const { request } = entry
  return {
    ...entry,
    request: { ...request, url: maskedQuery(request.url) },
    ...(failure ? { failure: { ...failure, detail: maskedReason(failure.detail) } } : {}),
  }
}

/** A call or notice of any partner, secrets masked, bodies cut at 64 KiB. Throws 20007 (404) for an unknown id. */
export const showTraffic = operation(shownTraffic, async (deps: NoticeDeps, { id, reason }) => {
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

/** Records in the audit log who read the bodies of a call or notice, and why. */
export const recordReading = (
  deps: Deps,
  partnerId: bigint,
  { kind, id }: Pick<TrafficEntry, 'kind' | 'id'>,
  reason: string,
): Promise<number> =>
  recordAudit(deps, { event: 'personal_data_read', partnerId, target: `${kind}:${id}`, detail: { reason } })
