import { recordAudit } from '../audit/index.ts'
import type { Deps } from '../deps.ts'
import type { RateLimiter } from '../lib/rate-limiter.ts'

/** For the audit log: how many calls of a partner were refused, one row a minute and partner. */

const EVERY_MS = 60_000

interface Counted {
  readonly partnerId: bigint
  verified: number
  unverified: number
}

/** Per process, whose rooms share the rate limiter; as many partners as there are. */
const counts = new WeakMap<RateLimiter, Map<bigint, Counted>>()

export function countRejected(deps: Deps, partnerId: bigint, verified: boolean): void {
  const known = counts.get(deps.rateLimiter) ?? new Map<bigint, Counted>()
  counts.set(deps.rateLimiter, known)
  if (known.size === 0) {
    // Without a database the counts are lost; requests already log that it is unavailable.
    setTimeout(() => writeRejectedCounts(deps).catch(() => {}), EVERY_MS).unref()
  }
  const counted = known.get(partnerId) ?? { partnerId, verified: 0, unverified: 0 }
  counted[verified ? 'verified' : 'unverified']++
  known.set(partnerId, counted)
}

/** Writes what was counted: a minute is over, or the process is about to end. */
export async function writeRejectedCounts(deps: Deps): Promise<void> {
  const known = counts.get(deps.rateLimiter)
  const counted = [...(known?.values() ?? [])]
  known?.clear()
  for (const { partnerId, ...calls } of counted) {
    const actor = { kind: 'partner' } as const
    await recordAudit(deps, { event: 'calls_rejected', actor, partnerId, outcome: 'refused', detail: calls })
  }
}
