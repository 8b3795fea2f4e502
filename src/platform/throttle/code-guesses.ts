import type { Deps } from '../deps.ts'
import { DAY_S } from '../lib/clock.ts'
import { throttleKey } from './attempts.ts'
import { clearFailures, countFailure, readFailures, takeFailureBack } from './attempts-store.ts'
import { type Account, knownDevice } from './device.ts'

/**
 * How many wrong codes of an authenticator count in a day: whoever knows the password has all day and every network to
 * guess six digits. Browsers that have signed in before have as many of their own, so that strangers cannot keep the
 * person out. Recovery codes, which nobody guesses, and passkeys are not bound; another password clears both counts.
 */
const MOST_IN_A_DAY = 20

type Browsers = 'known' | 'others'

const subjectOf = ({ keys }: Deps, owner: string, browsers: Browsers): Buffer =>
  throttleKey(keys, 'code-day', `${browsers}\n${owner}`)

/** Whose code it is: `owner` names them for good, `account` as they sign in. */
interface Guess {
  readonly owner: string
  readonly account: Account
  /** The device cookie of the browser. */
  readonly device: string | undefined
}

interface CountedGuess {
  /** The last one that counts. */
  readonly isLast: boolean
  /** The end of the day, where it was one too many. */
  readonly until: Date | undefined
}

export function codeGuesses(deps: Deps, { owner, account, device }: Guess) {
  const subject = subjectOf(deps, owner, knownDevice(deps, account, device) ? 'known' : 'others')
  return {
    /** The end of the day, once they are used up. */
    async usedUpUntil(): Promise<Date | undefined> {
      const counted = await readFailures(deps.db, subject, deps.clock.now(), DAY_S)
      return counted && counted.failures >= MOST_IN_A_DAY ? counted.windowEndsAt : undefined
    },
    /** Counts a code: before it is looked at, where many may come at once, so that no more of them are looked at. */
    async count(): Promise<CountedGuess> {
      const { failures, windowEndsAt } = await countFailure(deps.db, subject, deps.clock.now(), DAY_S)
      return { isLast: failures === MOST_IN_A_DAY, until: failures > MOST_IN_A_DAY ? windowEndsAt : undefined }
    },
    /** The code that was counted is a right one. */
    giveBack: () => takeFailureBack(deps.db, subject),
  }
}

/** Whoever has guessed does not know the password any more, or the authenticator is another one. */
export async function forgetCodeGuesses(deps: Deps, owner: string): Promise<void> {
  await clearFailures(deps.db, subjectOf(deps, owner, 'known'))
  await clearFailures(deps.db, subjectOf(deps, owner, 'others'))
}
