import { withShareOf } from '../../platform/db/sql.ts'
import type { Deps } from '../../platform/deps.ts'
import { SignatureSearches } from './diagnose/signature-searches.ts'
import { RejectedCalls } from './rejected-calls.ts'

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
