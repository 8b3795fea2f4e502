import { randomUUID } from 'node:crypto'
import type { Deps } from '../deps.ts'
import type { RateLimiter } from '../lib/rate-limiter.ts'
import type { PartnerWithSecrets } from '../partners/index.ts'
import { insertRejectedCall } from './rejected-store.ts'

/** Refused calls of one partner that were too many to be kept. */
interface LeftOut {
  readonly partner: Pick<PartnerWithSecrets, 'partner_id' | 'client_id'>
  readonly verified: boolean
  calls: number
  readonly timer: NodeJS.Timeout
}

/** Per process; at most two per partner, and none after their window. */
const counts = new WeakMap<RateLimiter, Map<string, LeftOut>>()

/** Counts one more in memory; when the window ends, one row says how many there were. */
export function countLeftOut(deps: Deps, partner: LeftOut['partner'], verified: boolean, windowEndsInMs: number): void {
  const known = counts.get(deps.rateLimiter) ?? new Map<string, LeftOut>()
  counts.set(deps.rateLimiter, known)
  const key = `${verified} ${partner.client_id}`
  const current = known.get(key)
  if (current) {
    current.calls++
    return
  }
  const timer = setTimeout(() => {
    known.delete(key)
    // Without a database the count is lost; requests already log that it is unavailable.
    writeCount(deps, entry).catch(() => {})
  }, windowEndsInMs).unref()
  const entry: LeftOut = { partner, verified, calls: 1, timer }
  known.set(key, entry)
}

/** Writes every count now: the process is about to end. */
export async function writeLeftOut(deps: Deps): Promise<void> {
  const known = counts.get(deps.rateLimiter) ?? new Map<string, LeftOut>()
  const entries = [...known.values()]
  known.clear()
  for (const { timer } of entries) clearTimeout(timer)
  await Promise.allSettled(entries.map((entry) => writeCount(deps, entry)))
}

const writeCount = ({ db, clock }: Deps, { partner, verified, calls }: LeftOut): Promise<number> =>
  insertRejectedCall(
    db,
    {
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
    },
    clock.now(),
  )
