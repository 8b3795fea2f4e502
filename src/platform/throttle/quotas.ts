import type { Deps } from '../deps.ts'
import { DAY_S, HOUR_S, secondsUntil } from '../lib/clock.ts'
import { mailKeyOf } from '../lib/member.ts'
import { tooManyRequests } from '../lib/web/rescode.ts'
import { countWithin } from './attempts.ts'

const MAX_PER_ADDRESS = 10
const MAX_PER_INVITER = 100

/**
 * Counts an invitation mail; false when this partner or team has sent too many today, in all or to this address. The
 * per-address count is per inviter, so that one inviter cannot use up another's; password resets are counted
 * separately.
 */
export const mayInvite = async (deps: Deps, inviter: string, mail: string): Promise<boolean> =>
  (await countWithin(deps, DAY_S, [
    { kind: 'mail-address', name: `${inviter}\n${mailKeyOf(mail)}`, most: MAX_PER_ADDRESS },
    { kind: 'mail-partner', name: inviter, most: MAX_PER_INVITER },
  ])) === undefined

/** More than anybody does by hand; each change adds a row to the audit log, kept for years. */
const MAX_CHANGES_PER_HOUR = 300
/** Extra allowance per session after that: whoever stole one session cannot block the owner in another. */
const EXTRA_PER_SESSION = 20

interface OwnSession {
  readonly cid: number
  readonly userId: string
  readonly sessionHash: Buffer
}

/** Counts a change that a person makes to their own account; throws 20003 when there were too many. */
export async function countOwnChange(deps: Deps, { cid, userId, sessionHash }: OwnSession): Promise<void> {
  const byPerson = { kind: 'own-change', name: `${cid}:${userId}`, most: MAX_CHANGES_PER_HOUR } as const
  if (!(await countWithin(deps, HOUR_S, [byPerson]))) return
  const bySession = { kind: 'session-change', name: sessionHash.toString('hex'), most: EXTRA_PER_SESSION } as const
  const until = await countWithin(deps, HOUR_S, [bySession])
  if (until) throw tooManyRequests(secondsUntil(until, deps.clock.now()))
}
