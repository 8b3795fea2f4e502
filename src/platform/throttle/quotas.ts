import type { Deps } from '../deps.ts'
import { DAY_S, HOUR_S, secondsUntil } from '../lib/clock.ts'
import { mailKeyOf } from '../lib/member.ts'
import { tooManyRequests } from '../lib/web/rescode.ts'
import { countWithin } from './attempts.ts'

const PER_ADDRESS = 10
const PER_INVITER = 100

/**
 * Counts an invitation to be mailed; false when there were too many today of this partner or team, or to this address. What
 * one sends to an address does not count for another, and a forgotten password has a count of its own.
 */
export const mayInvite = async (deps: Deps, inviter: string, mail: string): Promise<boolean> =>
  (await countWithin(deps, DAY_S, [
    { kind: 'mail-address', name: `${inviter}\n${mailKeyOf(mail)}`, most: PER_ADDRESS },
    { kind: 'mail-partner', name: inviter, most: PER_INVITER },
  ])) === undefined

/** More than anybody does by hand; each is a row of the audit log, kept for years. */
const CHANGES_PER_HOUR = 300
/** What each session may do once those are used up: whoever has stolen one keeps the person from nothing. */
const MORE_PER_SESSION = 20

interface Changing {
  readonly cid: number
  readonly userId: string
  readonly sessionHash: Buffer
}

/** Counts a change that a person makes to their own account, over all processes; throws 20003 when there were too many. */
export async function countOwnChange(deps: Deps, { cid, userId, sessionHash }: Changing): Promise<void> {
  const ofPerson = { kind: 'own-change', name: `${cid}:${userId}`, most: CHANGES_PER_HOUR } as const
  if (!(await countWithin(deps, HOUR_S, [ofPerson]))) return
  const ofSession = { kind: 'session-change', name: sessionHash.toString('hex'), most: MORE_PER_SESSION } as const
  const until = await countWithin(deps, HOUR_S, [ofSession])
  if (until) throw tooManyRequests(secondsUntil(until, deps.clock.now()))
}
