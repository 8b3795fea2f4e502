import { recordAudit } from '../../platform/audit/index.ts'
import type { Deps } from '../../platform/deps.ts'

const EVERY_MS = 60_000

interface Counted {
  verified: number
  unverified: number
}

/** For the audit log: how many calls of a partner were rejected, one row a minute and partner. */
export class RejectedCounts {
  readonly #deps: Pick<Deps, 'db' | 'clock'>
  /** By PartnerId: as many as there are partners. */
  readonly #counts = new Map<bigint, Counted>()
  #timer: NodeJS.Timeout | undefined

  constructor(deps: Pick<Deps, 'db' | 'clock'>) {
    this.#deps = deps
  }

  count(partnerId: bigint, verified: boolean): void {
    // Without a database the counts are lost; requests already log that it is unavailable.
    this.#timer ??= setTimeout(() => void this.write().catch(() => {}), EVERY_MS).unref()
    const counted = this.#counts.get(partnerId) ?? { verified: 0, unverified: 0 }
    counted[verified ? 'verified' : 'unverified']++
    this.#counts.set(partnerId, counted)
  }

  /** Writes what was counted. */
  async write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const all = [...this.#counts]
    this.#counts.clear()
    const event = { event: 'calls_rejected', actor: { kind: 'partner' }, outcome: 'refused' } as const
    for (const [partnerId, detail] of all) await recordAudit(this.#deps, { ...event, partnerId, detail: { ...detail } })
  }
}
