import { setTimeout as sleep } from 'node:timers/promises'
import { CALL_TIMES } from '../../platform/config/call-limits.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Log } from '../../platform/lib/log.ts'
import { renewLease, returnLease, takeLease } from './store.ts'

const RENEW_EVERY_MS = 3_000
/** A mail may take longer than a call to a partner; if it is sent twice, both copies have the same Message-ID. */
const { worstMs: LONGEST_CALL_MS, leaseS: LEASE_S } = CALL_TIMES

/** The lease has ended or is about to: another worker may continue the job. */
class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
  constructor() {
    super("this worker's lease could not be renewed in time: another worker continues the job")
  }
}

/**
 * The lease that a running worker renews. The database's clock decides when it ends; this process derives that from
 * when it sent the last renewal, on a monotonic clock. No call is started that could outlast it.
 */
export class WorkerLease {
  /** Resolves when the lease is lost; the worker then has to restart under another name. */
  readonly lost: Promise<void>
  readonly #db: Db
  readonly #log: Log
  readonly #workerId: string
  readonly #stopping = new AbortController()
  readonly #renewing: Promise<void>
  #lose: () => void = () => {}
  #gaveUp = false
  #endsAt = 0

  constructor(db: Db, workerId: string, log: Log) {
    this.#db = db
    this.#log = log
    this.#workerId = workerId
    this.lost = new Promise((resolve) => {
      this.#lose = resolve
    })
    this.#renewing = this.#keep()
  }

  /** Whether a call to another system would end before the lease. */
  isSafe(): boolean {
    return !this.#gaveUp && performance.now() + LONGEST_CALL_MS < this.#endsAt
  }

  assertSafe(): void {
    if (!this.isSafe()) throw new LeaseLost()
  }

  /** Returns the lease, unless the worker may still hold jobs: these are unlocked when it expires. */
  async stop(holdsJobs: boolean): Promise<void> {
    this.#stopping.abort()
    await this.#renewing
    if (!holdsJobs) await returnLease(this.#db, this.#workerId).catch(() => {}) // it expires by itself
  }

  async #keep(): Promise<void> {
    let taken = false
    while (!this.#stopping.signal.aborted) {
      const sentAt = performance.now()
      try {
        if (!taken) await takeLease(this.#db, this.#workerId, LEASE_S)
        if (taken && (await renewLease(this.#db, this.#workerId, LEASE_S)) === 0) return this.#giveUp()
        taken = true
        this.#endsAt = sentAt + LEASE_S * 1_000
      } catch (error) {
        this.#log.warn({ reason: (error as Error).message }, "the worker's lease was not renewed; trying again")
        if (taken && performance.now() > this.#endsAt) return this.#giveUp()
      }
      await sleep(RENEW_EVERY_MS, undefined, { signal: this.#stopping.signal, ref: false }).catch(() => {})
    }
  }

  #giveUp(): void {
    this.#gaveUp = true
    this.#lose()
  }
}
