import { recordAudit } from '../../platform/audit/index.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { HOUR_S } from '../../platform/lib/clock.ts'
import { verifyPassword } from '../../platform/lib/crypto/password.ts'
import { normalName } from '../../platform/lib/precis.ts'
import {
  countWithin,
  knownDevice,
  type SignInAttempt,
  SignInRefused,
  signInLimits,
} from '../../platform/throttle/index.ts'
import { SecondStepNeeded } from './errors.ts'
import { findTotp } from './factor-store.ts'
import { tellPerson } from './person-mail.ts'
import { endSession, startSession } from './session.ts'
import { insertSignIn } from './session-store.ts'
import { type Credential, findCredential } from './store.ts'
import { originOf, type SignInBrowser, type SignInOrigin } from './wire.ts'

export type SignInInput = SignInBrowser & Readonly<Record<'passport' | 'password', string>>

/**
 * Opens a session for passport and password and returns its id. Throws SignInRefused, and SecondStepNeeded if the
 * password is right but not enough (second-step.ts).
 *
 * Limits are checked again after the password was verified, and a wrong password above a limit is reported as limited,
 * so that concurrent guesses reveal no more than the limit allows.
 */
export const signIn = (deps: Deps, input: SignInInput): Promise<string> =>
  deps.passwordSlots
    .run(() => attemptSignIn(deps, input))
    .catch(async (error) => {
      if (error instanceof SecondStepNeeded) await recordCodeAsked(deps, error.credential, input)
      throw error
    })

const MAX_CODES_ASKED_PER_HOUR = 6

/** Reveals somebody who knows the password but has no code. Limited, so that nobody can flood the history. */
async function recordCodeAsked(deps: Deps, credential: Credential, input: SignInInput) {
  const name = `${credential.cid}:${credential.userId}`
  if (await countWithin(deps, HOUR_S, [{ kind: 'code-asked', name, most: MAX_CODES_ASKED_PER_HOUR }])) return
  await recordSignIn(deps, credential, 'code_asked', { from: originOf(input), method: 'password' })
}

/** Key for counting failures and recognising browsers; the same for all spellings of a passport. */
export const accountOf = (passport: string) => ({ kind: 'passport', name: normalName(passport) }) as const

/** Limits on wrong passwords and codes of one person. */
export const personLimits = (deps: Deps, passport: string, browser: Omit<SignInAttempt, 'kind' | 'name'>) =>
  signInLimits(deps, { ...accountOf(passport), ...browser })

async function attemptSignIn(deps: Deps, input: SignInInput): Promise<string> {
  const { passport, address, device } = input
  const limits = await personLimits(deps, passport, { address, device })
  await limits.refuseExhausted()
  const credential = await findCredential(deps.db, passport)
  const right = await verifyPassword(credential?.passwordHash, input.password)
  if (!credential || !right) {
    const record = { from: originOf(input), method: 'password' } as const
    throw await limits.failed(recordFailure(deps, credential, record))
  }
  await limits.refuseExhausted()
  // Failures are kept until the second step: otherwise somebody with the password could guess codes for ever.
  if (await needsSecondStep(deps, credential)) throw new SecondStepNeeded(credential)
  const isPassword = (hash: string | undefined) => hash === credential.passwordHash
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

interface Opening extends Omit<SignInRecord, 'detail'> {
  /** Whether this is the hash of the password that was verified. */
  readonly isPassword: (hash: string | undefined) => boolean
  readonly amr: readonly string[] | undefined
  /** Value of the device cookie. */
  readonly device: string | undefined
}

/** Last step of a sign-in, in a transaction. Throws if the password has changed or no longer suffices. */
export async function openSession(
  deps: Deps,
  passport: string,
  key: UserRowKey,
  { isPassword, amr, method, from, device }: Opening,
): Promise<string> {
  const detail = amr ? { detail: { amr } } : {}
  const signInId = await recordSignIn(deps, key, 'succeeded', { from, method, ...detail })
  const session = await startSession(deps, key, from, amr)
  // Changing the password or adding an authenticator locks the person and ends existing sessions, so check again here.
  const credential = await findCredential(deps.db, passport)
  if (!credential || !isPassword(credential.passwordHash)) throw new SignInRefused()
  if (!amr && (await needsSecondStep(deps, credential))) throw new SecondStepNeeded(credential)
  await notifyOfNewDevice(deps, key, { passport, device, signInId })
  return session
}

/** Mails the person about a sign-in from a browser that has never signed in to this account. */
export async function notifyOfNewDevice(
  deps: Deps,
  key: UserRowKey,
  { passport, device, signInId }: { passport: string; device: string | undefined; signInId: string | undefined },
) {
  if (signInId === undefined || knownDevice(deps, accountOf(passport), device)) return
  await tellPerson(deps, key, 'new_device', signInId)
}

const EVENTS = {
  succeeded: 'user_signed_in',
  failed: 'user_sign_in_failed',
  locked: 'user_sign_in_locked',
  code_asked: 'user_second_step_asked',
} as const

/** The decisive, or the last tried, method. */
export type SignInMethod = 'password' | 'code' | 'recovery code' | 'passkey' | 'provider'

interface SignInRecord {
  readonly from: SignInOrigin
  readonly method: SignInMethod
  /** For the audit log. */
  readonly detail?: object
}

/** Callback for `failed` of `signInLimits`. */
export const recordFailure =
  (deps: Deps, user: UserRowKey | undefined, record: SignInRecord) =>
  (locked: boolean): Promise<string | undefined> =>
    recordSignIn(deps, user, locked ? 'locked' : 'failed', record)

/** Returns the id in the person's history. Unknown passports are not recorded: they may be passwords. */
export async function recordSignIn(
  deps: Deps,
  user: UserRowKey | undefined,
  outcome: keyof typeof EVENTS,
  { from, method, detail }: SignInRecord,
): Promise<string | undefined> {
  const audited = recordAudit(deps, {
    event: EVENTS[outcome],
    actor: { ...deps.actor, kind: 'user', name: user && `${user.cid}/${user.userId}` },
    ...(user && { routingKey: user.routingKey, cid: user.cid, userId: user.userId }),
    ...(outcome === 'failed' || outcome === 'locked' ? { outcome: 'refused' } : {}),
    ...(detail ? { detail } : {}),
  })
  // Concurrently: otherwise failures for existing people would take longer, which reveals that they exist.
  const inHistory = user && insertSignIn(deps.db, user, { at: deps.clock.now(), outcome, method, from })
  const [signInId] = await Promise.all([inHistory, audited])
  return signInId
}
