import pLimit from 'p-limit'
import { exhaustedUntil, failedOnce, type Limit } from '../db/failed-attempts/limits.ts'
import { clearFailures } from '../db/failed-attempts/store.ts'
import type { Deps } from '../deps.ts'
import { attemptSubject, networkOf } from '../lib/attempts.ts'
import { SignInRefused } from './errors.ts'
import { verifyPassword } from './password.ts'
import { endSession, startSession } from './session.ts'
import * as store from './store.ts'

const WINDOW_S = 15 * 60

// A password hash fills a processor and one of four threads that file reads share. Taken in turns, a flood of guesses
// meets the limits below before it is hashed, and leaves the threads to others.
const turn = pLimit(2)

export interface SignInInput {
  readonly passport: string
  readonly password: string
  /** Where the request came from. */
  readonly address: string
  /** The id of the session that this sign-in replaces. */
  readonly formerSession?: string | undefined
}

const limitsOf = ({ config, keys }: Deps, { passport, address }: SignInInput): { passport: Limit; address: Limit } => ({
  passport: { subject: attemptSubject(keys, 'passport', passport), most: config.SIGN_IN_FAILURES_PER_PASSPORT },
  address: {
    subject: attemptSubject(keys, 'address', networkOf(address)),
    most: config.SIGN_IN_FAILURES_PER_ADDRESS,
  },
})

async function refuseExhausted({ db, clock }: Deps, limits: readonly Limit[]): Promise<void> {
  const until = await exhaustedUntil(db, limits, clock.now())
  if (until) throw new SignInRefused(until)
}

async function refuseWrong({ db, clock }: Deps, limits: readonly Limit[]): Promise<never> {
  throw new SignInRefused(await failedOnce(db, limits, clock.now(), WINDOW_S))
}

/**
 * Opens a session for passport and password and returns its id; throws SignInRefused.
 *
 * The limits are read again once the password is known to be right, and a wrong one that comes out above a limit is
 * told no more than "limited": however many guesses race, no more of them are answered than the limit allows.
 */
export const signIn = (deps: Deps, input: SignInInput): Promise<string> => turn(() => judge(deps, input))

async function judge(deps: Deps, input: SignInInput): Promise<string> {
  const { passport, address } = limitsOf(deps, input)
  const limits = [passport, address]
  await refuseExhausted(deps, limits)
  const credential = await store.findCredential(deps.db, input.passport)
  const right = await verifyPassword(credential?.passwordHash, input.password)
  if (!credential || !right) return refuseWrong(deps, limits)
  await refuseExhausted(deps, limits)
  await clearFailures(deps.db, passport.subject)
  await endSession(deps, input.formerSession)
  return startSession(deps, credential)
}
