import type { Deps } from '../../platform/deps.ts'
import { addSeconds, type Clock, DAY_S } from '../../platform/lib/clock.ts'
import { DatabaseUnavailable } from '../../platform/lib/database-errors.ts'
import { operation } from '../../platform/lib/json/input.ts'
import type { CircuitBreakers } from './circuit-breakers.ts'
import { type CertificateFilter, certificateFilter, listedCertificates, upsertCertificate } from './store.ts'

export interface ReachDeps extends Deps {
  readonly calls: { readonly breakers: CircuitBreakers; readonly certificates: KnownCertificates }
}

/** A partner should be told about a certificate that ends within so many days. */
export const ENDING_WITHIN_DAYS = 30

/**
 * Notes the certificate of a call over TLS. Writes a row only if it is new, or once a day and host. During an outage of
 * the database the next call notes it: the answer of this one counts.
 */
export async function noteCertificate(deps: ReachDeps, partnerId: bigint, url: string, endsAt: Date): Promise<void> {
  const { origin } = new URL(url)
  const { certificates } = deps.calls
  // First, so that simultaneous calls write one row.
  if (!certificates.rememberIfChanged(partnerId, origin, endsAt)) return
  const seen = { partner_id: partnerId, origin, ends_at: endsAt, seen_at: deps.clock.now() }
  await upsertCertificate(deps.db, seen).catch((error: unknown) => {
    certificates.forget(partnerId, origin)
    if (!(error instanceof DatabaseUnavailable)) throw error
  })
}

/** The TLS certificates of partners, the next to end first. `seen_at`: when the host was last called, to the day. */
export const listCertificates = operation(
  certificateFilter,
  async ({ db, clock }: Deps, { within_days, ...page }: CertificateFilter) => {
    const now = clock.now()
    const before = within_days === undefined ? undefined : addSeconds(now, within_days * DAY_S)
    const { rows, next } = await listedCertificates(db, page, before)
    /** Whole days, rounded down; negative once it has ended. */
    const daysUntil = (end: Date) => Math.floor((end.getTime() - now.getTime()) / (1000 * DAY_S))
    return { certificates: rows.map((row) => ({ ...row, days_left: daysUntil(row.ends_at) })), next }
  },
)

/** Those that have ended or end soon. Their partners may use other hosts by now. */
export const certificatesEndingSoon = async (deps: Deps, limit: number) =>
  (await listCertificates(deps, { within_days: ENDING_WITHIN_DAYS, limit })).certificates

/** The alert comes later, because most certificates are renewed automatically a month before. */
const ALERT_WITHIN_S = 14 * DAY_S
/** How often a row is written again, to show that the host is still called. */
const WRITE_INTERVAL_S = DAY_S
/** Partners have a few hosts each. */
const MAX_KNOWN = 10_000

interface Known {
  readonly endsAt: Date
  readonly writtenAt: Date
}

const keyOf = (partnerId: bigint, origin: string): string => `${partnerId} ${origin}`

/** When the certificates of the hosts end that this process has called; created once per process. */
export class KnownCertificates {
  readonly #clock: Clock
  readonly #known = new Map<string, Known>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether the certificate has to be stored: it is new, or a day has passed. Remembers it then. */
  rememberIfChanged(partnerId: bigint, origin: string, endsAt: Date): boolean {
    const key = keyOf(partnerId, origin)
    const now = this.#clock.now()
    const known = this.#known.get(key)
    const isKnown = known?.endsAt.getTime() === endsAt.getTime()
    if (known && isKnown && now < addSeconds(known.writtenAt, WRITE_INTERVAL_S)) return false
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.set(key, { endsAt, writtenAt: now })
    return true
  }

  /** For a certificate that could not be stored. */
  forget(partnerId: bigint, origin: string): void {
    this.#known.delete(keyOf(partnerId, origin))
  }

  /** How many end within 14 days, of hosts that this process still calls: of others it may not know the newest one. */
  ending(): number {
    const now = this.#clock.now()
    const [alertBefore, calledAfter] = [addSeconds(now, ALERT_WITHIN_S), addSeconds(now, -2 * WRITE_INTERVAL_S)]
    return [...this.#known.values()].filter(({ endsAt, writtenAt }) => endsAt < alertBefore && writtenAt > calledAfter)
      .length
  }
}
