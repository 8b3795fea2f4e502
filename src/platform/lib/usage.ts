/**
 * What is counted per app, for its developers: authorizations, tokens, reads, and refusals by rescode. `claimed`: a
 * refusal of a caller who named the app without proving to be it.
 */
export const USAGE_KINDS = ['authorization', 'exchange', 'refresh', 'read', 'refused', 'claimed'] as const
export type UsageKind = (typeof USAGE_KINDS)[number]

export interface Usage {
  readonly appKey: string
  readonly kind: UsageKind
  /** The rescode of a refusal, otherwise 0. */
  readonly code: number
  times: number
}

/** Apps that a process counts between two writes; further ones are not counted. */
const MAX_APPS = 20_000

/** Counts in memory until the counts are taken. It runs for most requests, so counting is two look-ups. */
export class UsageMeter {
  #apps = new Map<string, Map<string, Usage>>()

  count(appKey: string, kind: UsageKind, code = 0, times = 1): void {
    let counts = this.#apps.get(appKey)
    if (!counts) {
      if (this.#apps.size >= MAX_APPS) return
      counts = new Map()
      this.#apps.set(appKey, counts)
    }
    const key = code === 0 ? kind : `${kind} ${code}`
    const known = counts.get(key)
    if (known) known.times += times
    else counts.set(key, { appKey, kind, code, times })
  }

  take(): Usage[] {
    const taken = [...this.#apps.values()].flatMap((counts) => [...counts.values()])
    this.#apps = new Map()
    return taken
  }

  /** Counts that could not be written are written later. */
  putBack(taken: readonly Usage[]): void {
    for (const { appKey, kind, code, times } of taken) this.count(appKey, kind, code, times)
  }
}
