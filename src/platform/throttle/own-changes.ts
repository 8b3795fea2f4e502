import type { Deps } from '../deps.ts'
import { secondsUntil } from '../lib/clock.ts'
import { tooManyRequests } from '../lib/web/rescode.ts'
import { countWithin } from './attempts.ts'

const HOUR_S = 3_600
/** More than anybody does by hand; each is a row of the audit log, kept for years. */
const CHANGES_PER_HOUR = 300

/** Counts a change that a person makes to their own account, over all processes; throws 20003 when there were too many. */
export async function countOwnChange(
  deps: Deps,
  { cid, userId }: { readonly cid: number; readonly userId: string },
): Promise<void> {
  const bound = { kind: 'own-change', name: `${cid}:${userId}`, most: CHANGES_PER_HOUR } as const
  const until = await countWithin(deps, HOUR_S, [bound])
  if (until) throw tooManyRequests(secondsUntil(until, deps.clock.now()))
}
