import { recordAudit } from '../../platform/audit/index.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { HOUR_S } from '../../platform/lib/clock.ts'
import { verifyPassword } from '../../platform/lib/crypto/password.ts'
import { normalName } from '../../platform/lib/precis.ts'
import { countWithin, knownDevice, type SignInAttempt, signInLimits } from '../../platform/throttle/index.ts'
import { SecondStepNeeded, SignInRefused } from './errors.ts'
import { findTotp } from './factor-store.ts'
import { tellPerson } from './person-mail.ts'
import { endSession, startSession } from './session.ts'
import { insertSignIn } from './session-store.ts'
import { type Credential, findCredential } from './store.ts'
import { originOf, type SignInBrowser, type SignInOrigin } from './wire.ts'

export interface SignInInput extends SignInBrowser {
  readonly passport: string
  readonly password: string
}

/**
 * Opens a session for passport and password and returns its id; throws SignInRefused, and SecondStepNeeded where the
 * password was right and does not suffice (second-step.ts).
 *
 * The limits are read again after the password was found right, and a wrong password counted above a limit is answered
 * as limited. So of guesses that race, no more are answered than the limit allows.
 */
export const signIn = (deps: Deps, input: SignInInput): Promise<string> =>
  deps.passwordSlots
    .run(() => attemptSignIn(deps, input))
    .catch(async (error) => {
      if (error instanceof SecondStepNeeded) await recordCodeAsked(deps, error.credential, input)
      throw error
    })

const CODES_ASKED_PER_HOUR = 6

/** Whoever knows the password and has no code is seen by it; so often that nobody fills the history. */
async function recordCodeAsked(deps: Deps, credential: Credential, input: SignInInput) {
  const name = `${credential.cid}:${credential.userId}`
  if (await countWithin(deps, HOUR_S, [{ kind: 'code-asked', name, most: CODES_ASKED_PER_HOUR }])) return
  await recordSignIn(deps, credential, 'code_asked', { from: originOf(input), method: 'password' })
}

/** What failures and known browsers are counted by: spellings of one passport share it. */
export const accountOf = (passport: string) => ({ kind: 'passport', name: normalName(passport) }) as const

/** How often a person may fail, by password or code. */
export const personLimits = (deps: Deps, passport: string, browser: Omit<SignInAttempt, 'kind' | 'name'>) =>
  signInLimits(deps, { ...accountOf(passport), ...browser }, (until) => new SignInRefused(until))

async function attemptSignIn(deps: Deps, input: SignInInput): Promise<string> {
  const { passport, address, device } = input
  const limits = await personLimits(deps, passport, { address, device })
  await limits.refuseExhausted()
  const credential = await findCredential(deps.db, passport)
  const right = await verifyPassword(credential?.passwordHash, input.password)
  if (!credential || !right) {
    const told = { from: originOf(input), method: 'password' } as const
    throw await limits.failed(recordFailure(deps, credential, told))
  }
  await limits.refuseExhausted()
  // Not forgotten yet what failed: whoever knows a password could guess codes for ever.
  if (await needsSecondStep(deps, credential)) throw new SecondStepNeeded(credential)
  const isPassword = (now: string | undefined) => now === credential.passwordHash
  const opening = { isPassword, amr: undefined, method: 'password', from: originOf(input), device } as const
  const session = await inPersonTransaction(deps, credential.routingKey, (inside) =>
    openSession(inside, passport, credential, opening),
  )
  await limits.forget()
  await endSession(deps, input.formerSession)
  return session
}

async function needsSecondStep({ config: { SECOND_FACTOR }, db }: Deps, credential: Credential): Promise<boolean> {
  if (SECOND_FACTOR !== 'offered') return SECOND_FACTOR === 'required'
  const totp = await findTotp(db, credential)
  return totp !== undefined && totp.confirmedAt !== null
}

interface Opening {
  /** Whether the password is still the one that was right. */
  readonly isPassword: (hash: string | undefined) => boolean
  readonly amr: readonly string[] | undefined
  readonly method: SignInMethod
  readonly from: SignInOrigin
  /** The browser's device cookie. */
  readonly device: string | undefined
}

/** The last part of signing in, in a transaction: undone if the password has changed, or no longer suffices. */
export async function openSession(
  deps: Deps,
  passport: string,
  key: UserRowKey,
  { isPassword, amr, method, from, device }: Opening,
): Promise<string> {
  const detail = amr ? { detail: { amr } } : {}
  const signInId = await recordSignIn(deps, key, 'succeeded', { from, method, ...detail })
  const session = await startSession(deps, key, from, amr)
  // Whoever changes the password, or adds an authenticator, locks the person and ends the sessions that there are.
  const now = await findCredential(deps.db, passport)
  if (!now || !isPassword(now.passwordHash)) throw new SignInRefused()
  if (!amr && (await needsSecondStep(deps, now))) throw new SecondStepNeeded(now)
  await tellOfNewDevice(deps, key, { passport, device, signInId })
  return session
}

interface Device {
  readonly passport: string
  /** The browser's device cookie. */
  readonly device: string | undefined
  readonly signInId: string | undefined
}

/** A sign-in in a browser that has never signed in to this account before is told to the person. */
export async function tellOfNewDevice(deps: Deps, key: UserRowKey, { passport, device, signInId }: Device) {
  if (signInId === undefined || knownDevice(deps, accountOf(passport), device)) return
  await tellPerson(deps, key, 'new_device', signInId)
}

const EVENTS = {
  succeeded: 'user_signed_in',
  failed: 'user_sign_in_failed',
  locked: 'user_sign_in_locked',
  code_asked: 'user_second_step_asked',
} as const

/** What was tried last, or decided. */
type SignInMethod = 'password' | 'code' | 'recovery code' | 'passkey' | 'provider'

interface Told {
  readonly from: SignInOrigin
  readonly method: SignInMethod
  /** For the audit log. */
  readonly detail?: object
}

/** For limits, which say whether the account is locked now. */
export const recordFailure =
  (deps: Deps, user: UserRowKey | undefined, told: Told) =>
  (locked: boolean): Promise<string | undefined> =>
    recordSignIn(deps, user, locked ? 'locked' : 'failed', told)

/**
 * For operators in the audit log, for the person in their own history. Of failures as many rows as the limits let attempts
 * through. A passport that nobody has is not kept: it may be a password. Returns the id in that history.
 */
export async function recordSignIn(
  deps: Deps,
  user: UserRowKey | undefined,
  outcome: keyof typeof EVENTS,
  { from, method, detail }: Told,
): Promise<string | undefined> {
  const audited = recordAudit(deps, {
    event: EVENTS[outcome],
    actor: { ...deps.actor, kind: 'user', name: user && `${user.cid}/${user.userId}` },
    ...(user && { routingKey: user.routingKey, cid: user.cid, userId: user.userId }),
    ...(outcome === 'failed' || outcome === 'locked' ? { outcome: 'refused' } : {}),
    ...(detail ? { detail } : {}),
  })
  // Both at once: a failure of somebody would take longer than one of nobody otherwise, and tell that there is somebody.
  const kept = user && insertSignIn(deps.db, user, { at: deps.clock.now(), outcome, method, from })
  const [signInId] = await Promise.all([kept, audited])
  return signInId
}
