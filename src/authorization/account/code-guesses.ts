import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import type { Deps } from '../../platform/deps.ts'
import { DAY_S } from '../../platform/lib/clock.ts'
import {
  clearFailures,
  countFailure,
  currentFailures,
  knownDevice,
  throttleKey,
} from '../../platform/throttle/index.ts'
import { CodesUsedUp } from './errors.ts'
import { tellPerson } from './person-mail.ts'
import { accountOf } from './sign-in.ts'

/**
 * How many wrong codes of an authenticator count in a day: whoever knows the password has all day and every network to
 * guess six digits. Browsers that have signed in before have as many of their own, so that strangers cannot keep the
 * person out. Recovery codes, which nobody guesses, and passkeys are not bound; another password clears both counts.
 */
const MOST_IN_A_DAY = 20

type Browsers = 'known' | 'others'

const subjectOf = ({ keys }: Deps, { cid, userId }: UserRowKey, browsers: Browsers): Buffer =>
  throttleKey(keys, 'code-day', `${browsers}\n${cid}:${userId}`)

export function codeGuesses(deps: Deps, person: UserRowKey & { passport: string }, device: string | undefined) {
  const browsers = knownDevice(deps, accountOf(person.passport), device) ? 'known' : 'others'
  const subject = subjectOf(deps, person, browsers)
  return {
    async refuseExhausted(): Promise<void> {
      const counted = await currentFailures(deps.db, subject, deps.clock.now(), DAY_S)
      if (counted && counted.failures >= MOST_IN_A_DAY) throw new CodesUsedUp(counted.windowEndsAt)
    },
    /** Counts a wrong code; what to throw, where it is one too many. The last one is told to the person. */
    async failed(): Promise<CodesUsedUp | undefined> {
      const { failures, windowEndsAt } = await countFailure(deps.db, subject, deps.clock.now(), DAY_S)
      if (failures === MOST_IN_A_DAY) await tellPerson(deps, person, 'codes_guessed')
      return failures > MOST_IN_A_DAY ? new CodesUsedUp(windowEndsAt) : undefined
    },
  }
}

/** Whoever has guessed does not know the password any more. */
export async function forgetCodeGuesses(deps: Deps, person: UserRowKey): Promise<void> {
  await clearFailures(deps.db, subjectOf(deps, person, 'known'))
  await clearFailures(deps.db, subjectOf(deps, person, 'others'))
}
