import type { Deps } from '../deps.ts'
import { signInLimits } from '../throttle/index.ts'
import { SignInRefused } from './errors.ts'
import { endSession, startSession } from './session.ts'
import * as store from './store.ts'
import { inPasswordTurn, verifyPassword } from './user.ts'

export interface SignInInput {
  readonly passport: string
  readonly password: string
  /** Where the request came from. */
  readonly address: string
  /** The browser's device cookie. */
  readonly device?: string | undefined
  /** The id of the session that this sign-in replaces. */
  readonly formerSession?: string | undefined
}

/**
 * Opens a session for passport and password and returns its id; throws SignInRefused.
 *
 * The limits are read again after the password was found right, and a wrong password counted above a limit is answered
 * as limited. So of guesses that race, no more are answered than the limit allows.
 */
export const signIn = (deps: Deps, input: SignInInput): Promise<string> =>
  inPasswordTurn(deps.config, () => judge(deps, input))

async function judge(deps: Deps, input: SignInInput): Promise<string> {
  const { passport, address, device } = input
  const limits = await signInLimits(deps, { kind: 'passport', name: passport, address, device })
  const refuseExhausted = async () => {
    const until = await limits.exhausted()
    if (until) throw new SignInRefused(until)
  }
  await refuseExhausted()
  const credential = await store.findCredential(deps.db, passport)
  const right = await verifyPassword(credential?.passwordHash, input.password)
  if (!credential || !right) throw new SignInRefused(await limits.failed())
  await refuseExhausted()
  await limits.forget()
  await endSession(deps, input.formerSession)
  return startSession(deps, credential)
}
