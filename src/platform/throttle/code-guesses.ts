import type { Deps } from '../deps.ts'
import { DAY_S } from '../lib/clock.ts'
import { throttleKey } from './attempts.ts'
import { clearFailures, countFailure, readFailures, uncountFailure } from './attempts-store.ts'
import { type Account, knownDevice } from './device.ts'

/**
 * Wrong authenticator codes allowed per day: whoever knows the password has all day, and any number of networks, to
 * guess six digits. Browsers that have signed in before get their own allowance, so that strangers cannot lock the
 * owner out. Recovery codes and passkeys are not limited.
 */
const MAX_PER_DAY = 20

const subjectOf = ({ keys }: Deps, owner: string, browsers: 'known' | 'others'): Buffer =>
  throttleKey(keys, 'code-day', `${browsers}\n${owner}`)

/** Whose code it is: `owner` is the permanent id, `account` the sign-in name. */
interface Guess {
  readonly owner: string
  readonly account: Account
  /** The device cookie of the browser. */
  readonly device: string | undefined
}

export function codeGuesses(deps: Deps, { owner, account, device }: Guess) {
  const subject = subjectOf(deps, owner, knownDevice(deps, account, device) ? 'known' : 'others')
  return {
    /** When the count resets, if it is exhausted. */
    async usedUpUntil(): Promise<Date | undefined> {
      const counted = await readFailures(deps.db, subject, deps.clock.now(), DAY_S)
      return counted && counted.failures >= MAX_PER_DAY ? counted.windowEndsAt : undefined
    },
    /**
     * Counts a guess before the code is checked: otherwise more than the limit could be checked concurrently. `until`:
     * when the count resets, if this was one guess too many; `isLast`: it was the last of the day.
     */
    async count() {
      const { failures, windowEndsAt } = await countFailure(deps.db, subject, deps.clock.now(), DAY_S)
      return { isLast: failures === MAX_PER_DAY, until: failures > MAX_PER_DAY ? windowEndsAt : undefined }
    },
    /** The counted code turned out to be right, or was not checked. */
    giveBack: () => uncountFailure(deps.db, subject),
  }
}

/** After a password or authenticator change, earlier guesses are worthless. */
export async function forgetCodeGuesses(deps: Deps, owner: string): Promise<void> {
  await clearFailures(deps.db, subjectOf(deps, owner, 'known'))
  await clearFailures(deps.db, subjectOf(deps, owner, 'others'))
}
