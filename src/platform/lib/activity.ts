/** What the console's history counts: all requests, an app's requests, calls to a partner, a partner's notices. */
export type ActivityKind = 'requests' | 'app' | 'call' | 'notice'

export interface Activity {
  readonly kind: ActivityKind
  /** An app_key, a partner_id, or nothing. */
  readonly subject: string
  total: number
  refused: number
  failed: number
}

/** Subjects of one kind that a process counts per minute; further ones are not counted. */
const MAX_SUBJECTS = 2_000

type Counted = Record<ActivityKind, Map<string, Activity>>
const nothing = (): Counted => ({ requests: new Map(), app: new Map(), call: new Map(), notice: new Map() })

/** Counts in memory until the counts are taken. It runs for every request, so counting is one look-up. */
export class ActivityMeter {
  #counted = nothing()

  count(kind: ActivityKind, subject: string, outcome: 'ok' | 'refused' | 'failed', times = 1): void {
    const ofKind = this.#counted[kind]
    let counts = ofKind.get(subject)
    if (!counts) {
      if (ofKind.size >= MAX_SUBJECTS) return
      counts = { kind, subject, total: 0, refused: 0, failed: 0 }
      ofKind.set(subject, counts)
    }
    counts.total += times
    if (outcome !== 'ok') counts[outcome] += times
  }

  take(): Activity[] {
    const taken = Object.values(this.#counted).flatMap((ofKind) => [...ofKind.values()])
    this.#counted = nothing()
    return taken
  }

  /** Counts that could not be written are written later. */
  putBack(taken: readonly Activity[]): void {
    for (const { kind, subject, total, refused, failed } of taken) {
      this.count(kind, subject, 'refused', refused)
      this.count(kind, subject, 'failed', failed)
      this.count(kind, subject, 'ok', total - refused - failed)
    }
  }
}
