import * as store from './breaker-store.ts'
import type { BreakerChange } from './circuit-breakers.ts'
import type { ReachDeps } from './deps.ts'

/** A statement only when a breaker opens, stays open after another failure, or closes. */
export async function storeBreaker(
  { db, clock, calls }: ReachDeps,
  partnerId: bigint,
  change: BreakerChange,
): Promise<void> {
  if (change === undefined) return
  const key = { partnerId, process: calls.breakers.process }
  const isOpen = change !== 'closed'
  if (isOpen) await store.upsertOpenBreaker(db, key, change.retryAt, clock.now())
  else await store.deleteOpenBreaker(db, key)
  calls.breakers.keep(partnerId, isOpen)
}

/** Whether a call may be made, or why not: what a process refuses an operator may have allowed again. */
export async function breakerAllows({ db, calls }: ReachDeps, partnerId: bigint, background: boolean) {
  const allowed = calls.breakers.allowsCall(partnerId, background)
  if (allowed === true || !allowed.isKept) return allowed
  if (await store.hasOpenBreaker(db, { partnerId, process: calls.breakers.process })) return allowed
  calls.breakers.reset(partnerId)
  return calls.breakers.allowsCall(partnerId, background)
}
