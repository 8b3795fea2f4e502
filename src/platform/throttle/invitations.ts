import { DAY_S } from '../db/retention.ts'
import type { Deps } from '../deps.ts'
import { mailKeyOf } from '../lib/member.ts'
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
