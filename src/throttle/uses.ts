import type { Deps } from '../deps.ts'
import { secondsUntil } from '../lib/clock.ts'
import { throttleKey } from '../lib/crypto/attempts.ts'
import { tooManyRequests } from '../lib/web/rescode.ts'
import { countFailure } from './attempts-store.ts'

const WINDOW_S = 60

/** What makes us call somebody or write something, and how often one partner may ask for it in a minute. */
const MOST = { replay: 30, preflight: 12, start: 120 } as const

/** Counts one use, over all processes; throws 20003 with Retry-After when there were too many. */
export async function countUse({ db, keys, clock }: Deps, what: keyof typeof MOST, partnerId: bigint): Promise<void> {
  const now = clock.now()
  const { failures, windowEndsAt } = await countFailure(db, throttleKey(keys, what, String(partnerId)), now, WINDOW_S)
  if (failures > MOST[what]) throw tooManyRequests(secondsUntil(windowEndsAt, now))
}
