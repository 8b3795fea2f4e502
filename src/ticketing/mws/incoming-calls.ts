import { withShareOf } from '../../platform/db/sql.ts'
import type { Deps } from '../../platform/deps.ts'
import { SignatureSearches } from './diagnose/signature-searches.ts'
import { RejectedCounts, UnstoredCalls } from './rejected-counts.ts'

/** The rejected calls that are being stored, and the counts of all. */
class RejectedCalls {
  readonly unstored: UnstoredCalls
  readonly counts: RejectedCounts
  readonly #beingStored = new Set<Promise<unknown>>()

  constructor(deps: Pick<Deps, 'db' | 'clock'>) {
    this.unstored = new UnstoredCalls(deps)
    this.counts = new RejectedCounts(deps)
  }

  /** How many are being stored. */
  get size(): number {
    return this.#beingStored.size
  }

  store(work: () => Promise<void>): Promise<void> {
    const stored = work().finally(() => this.#beingStored.delete(stored))
    this.#beingStored.add(stored)
    return stored
  }

  /** Waits for calls that are being analysed and stored, and writes the counts. */
  async finish(): Promise<void> {
    await Promise.allSettled(this.#beingStored)
    await this.unstored.write()
    await this.counts.write().catch(() => {})
  }
}

/** State about incoming calls; created once per process. */
export class IncomingCalls {
  readonly rejected: RejectedCalls
  readonly searches = new SignatureSearches()
  /** Cache: partners that have passed the signature tool, which is never taken back. */
  readonly passedSignatureTool = new Set<bigint>()

  constructor(deps: Pick<Deps, 'db' | 'clock'>) {
    this.rejected = new RejectedCalls(withShareOf(deps, 'notices'))
  }

  /** Abandons unfinished analyses and stores the last rejected calls. Call it before the database is closed. */
  async close(): Promise<void> {
    await this.searches.close()
    await this.rejected.finish()
  }
}

/** What operations on incoming calls need. */
export interface IncomingDeps extends Deps {
  readonly incoming: IncomingCalls
}
