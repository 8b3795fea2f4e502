import { DAY_S } from '../../platform/db/retention.ts'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { operation } from '../../platform/lib/json/input.ts'
import {
  type CertificateFilter,
  certificateFilter,
  certificatesEnding,
  listedCertificates,
  type PartnerCertificate,
  type ShownCertificate,
  upsertCertificate,
} from './certificate-store.ts'
import type { ReachDeps } from './deps.ts'

/** A certificate that ends within so many seconds is worth telling the partner about. */
export const ENDING_WITHIN_S = 30 * DAY_S

/** Notes the certificate of a call over TLS; a statement only for what is new, so once a day and host. */
export async function noteCertificate(deps: ReachDeps, partnerId: bigint, url: string, endsAt: Date): Promise<void> {
  const { origin } = new URL(url)
  if (!deps.calls.certificates.rememberIfChanged(partnerId, origin, endsAt)) return
  await upsertCertificate(deps.db, { partner_id: partnerId, origin, ends_at: endsAt }, deps.clock.now())
}

/**
 * Certificates that have ended, or end within 30 days, the next one to end first; of partners that may have other hosts
 * by now.
 */
export const certificatesEndingSoon = ({ db, clock }: Deps, limit: number): Promise<PartnerCertificate[]> =>
  certificatesEnding(db, addSeconds(clock.now(), ENDING_WITHIN_S), limit)

export interface ListedCertificate extends ShownCertificate {
  /** Whole days, rounded down; negative once it has ended. */
  readonly days_left: number
}

/** When the TLS certificates of partners end, the next one first; `seen_at` shows when the host was called last, to the day. */
export const listCertificates = operation(
  certificateFilter,
  async (
    { db, clock }: Deps,
    { within_days, ...page }: CertificateFilter,
  ): Promise<{ readonly certificates: ListedCertificate[]; readonly next: string | null }> => {
    const now = clock.now()
    const before = within_days === undefined ? undefined : addSeconds(now, within_days * DAY_S)
    const { rows, next } = await listedCertificates(db, page, before)
    const daysUntil = (end: Date) => Math.floor((end.getTime() - now.getTime()) / (1000 * DAY_S))
    return { certificates: rows.map((row) => ({ ...row, days_left: daysUntil(row.ends_at) })), next }
  },
)
