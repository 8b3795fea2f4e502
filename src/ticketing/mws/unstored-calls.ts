import { randomUUID } from 'node:crypto'
import type { Deps } from '../../platform/deps.ts'
import type { PartnerWithSecrets } from '../partners/index.ts'
import { insertRejectedCall } from './rejected-store.ts'

/** Rejected calls of one partner that were too many to be stored. */
interface Counted {
  readonly partner: Pick<PartnerWithSecrets, 'partner_id' | 'client_id'>
  readonly verified: boolean
  calls: number
  readonly timer: NodeJS.Timeout
}

/** How many rejected calls were too many to be stored: at most two counts per partner, and none after their window. */
export class UnstoredCalls {
  readonly #deps: Pick<Deps, 'db' | 'clock'>
  readonly #counts = new Map<string, Counted>()

  constructor(deps: Pick<Deps, 'db' | 'clock'>) {
    this.#deps = deps
  }

  /** Counts one more in memory; when the window ends, one row says how many there were. */
  count(partner: Counted['partner'], verified: boolean, windowEndsInMs: number): void {
    const key = `${verified} ${partner.client_id}`
    const current = this.#counts.get(key)
    if (current) {
      current.calls++
      return
    }
    const timer = setTimeout(() => {
      this.#counts.delete(key)
      // Without a database the count is lost; requests already log that it is unavailable.
      this.#write(counted).catch(() => {})
    }, windowEndsInMs).unref()
    const counted: Counted = { partner, verified, calls: 1, timer }
    this.#counts.set(key, counted)
  }

  /** Writes every count now. */
  async write(): Promise<void> {
    const all = [...this.#counts.values()]
    this.#counts.clear()
    for (const { timer } of all) clearTimeout(timer)
    await Promise.allSettled(all.map((counted) => this.#write(counted)))
  }

  #write({ partner, verified, calls }: Counted): Promise<number> {
    const call = {
      callId: randomUUID(),
      partnerId: partner.partner_id,
      clientId: partner.client_id,
      path: '',
      reason: '',
      headers: {},
      body: '',
      answer: '',
      verified,
      leftOut: calls,
    }
    return insertRejectedCall(this.#deps.db, call, this.#deps.clock.now())
  }
}
