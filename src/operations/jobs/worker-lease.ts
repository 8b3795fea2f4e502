import { setTimeout as sleep } from 'node:timers/promises'
import { CALL_TIMES } from '../../platform/config/call-limits.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Log } from '../../platform/lib/log.ts'
import { renewLease, returnLease, takeLease } from './store.ts'

const RENEW_EVERY_MS = 3_000
/** A mail may take longer than a call to a partner; if it is sent twice, both copies have the same Message-ID. */
const { worstMs: LONGEST_CALL_MS, leaseS: LEASE_S } = CALL_TIMES

/** The lease has ended or is about to. */
class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

export type WorkerLease = ReturnType<typeof holdLease>

/**
 * The lease that a running worker renews. The database's clock decides when it ends; this process derives that from when
 * it sent the last renewal, on a monotonic clock. No call is started that could outlast it.
 */
export function holdLease(db: Db, workerId: string, log: Log) {
  const stopping = new AbortController()
  let isLost = false
  let endsAt = 0

  /** Resolves with whether the lease was lost. */
  const keep = async (): Promise<boolean> => {
    let taken = false
    while (!stopping.signal.aborted) {
      const sentAt = performance.now()
      try {
        if (!taken) await takeLease(db, workerId, LEASE_S)
        else if ((await renewLease(db, workerId, LEASE_S)) === 0) return true
        taken = true
        endsAt = sentAt + LEASE_S * 1_000
      } catch (error) {
        log.warn({ reason: (error as Error).message }, "the worker's lease was not renewed; trying again")
        if (taken && performance.now() > endsAt) return true
      }
      await sleep(RENEW_EVERY_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
    }
    return false
  }
  const kept = keep().then((lost) => {
    isLost = lost
    return lost
  })

  /** Whether a call to another system would end before the lease. */
  const isSafe = (): boolean => !isLost && performance.now() + LONGEST_CALL_MS < endsAt
  return {
    isSafe,
    assertSafe: (): void => {
      if (isSafe()) return
      throw new LeaseLost("this worker's lease could not be renewed in time: another worker continues the job")
    },
    /** Resolves when the lease is lost; the worker then has to restart under another name. */
    lost: kept.then((lost) => (lost ? undefined : new Promise<never>(() => {}))),
    /** Returns the lease, unless the worker may still hold jobs: these are unlocked when it expires. */
    stop: async (holdsJobs: boolean): Promise<void> => {
      stopping.abort()
      await kept
      if (!holdsJobs) await returnLease(db, workerId).catch(() => {}) // it expires by itself
    },
  }
}
