import { addSeconds, type Clock } from '../../platform/lib/clock.ts'

/** The alert comes later: most are renewed a month before by a machine. */
const ALERT_WITHIN_S = 14 * 86_400
/** A row is written again so often, so that it shows that the host is still called. */
const WRITTEN_EVERY_S = 86_400
/** Partners have a few hosts each. */
const MAX_KNOWN = 10_000

interface Known {
  readonly endsAt: Date
  readonly writtenAt: Date
}

/** When the certificates of partners end, as far as this process has called them; made once a process. */
export class KnownCertificates {
  readonly #clock: Clock
  readonly #known = new Map<string, Known>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether it has to be stored, and then remembers it: it is another one than before, or a day has passed. */
  rememberIfChanged(partnerId: bigint, origin: string, endsAt: Date): boolean {
    const key = `${partnerId} ${origin}`
    const now = this.#clock.now()
    const known = this.#known.get(key)
    const isKnown = known?.endsAt.getTime() === endsAt.getTime()
    if (known && isKnown && now < addSeconds(known.writtenAt, WRITTEN_EVERY_S)) return false
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.set(key, { endsAt, writtenAt: now })
    return true
  }

  /** How many end within 14 days. */
  ending(): number {
    const alertBefore = addSeconds(this.#clock.now(), ALERT_WITHIN_S)
    return [...this.#known.values()].filter(({ endsAt }) => endsAt < alertBefore).length
  }
}
