/**
 * The second step of a sign-in. Between the steps there is no session, only an encrypted cookie that says whose
 * password was right, when, and which password; the next user of the browser cannot read it. It is void once the
 * password changes, or an operator ends the person's sessions.
 */

import { z } from 'zod'
import { asPerson } from '../../platform/audit/index.ts'
import type { Db } from '../../platform/db/sql.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { addSeconds, fromEpochMilliseconds } from '../../platform/lib/clock.ts'
import { openSealedText, sealedText } from '../../platform/lib/crypto/carried-text.ts'
import { hmacSha256 } from '../../platform/lib/crypto/digest.ts'
import { type DerivedKeys, equalSecrets, everyKey } from '../../platform/lib/crypto/keys.ts'
import { isRecoveryCode } from '../../platform/lib/crypto/recovery-code.ts'
import type { TotpEnrolment } from '../../platform/lib/crypto/totp.ts'
import { codeGuesses, SignInRefused } from '../../platform/throttle/index.ts'
import { CodesUsedUp, SecondStepVoid } from './errors.ts'
import { findFactors } from './factor-store.ts'
import { confirmTotp, enrolTotp, ownerOfCodes, spendFactor } from './factors.ts'
import { tellPerson } from './person-mail.ts'
import { AMR, endSession } from './session.ts'
import { accountOf, openSession, personLimits, recordFailure } from './sign-in.ts'
import { type Credential, findCredential, lockUser, lockUserSignedInSince } from './store.ts'
import { originOf, routingKeyOf, type SignInBrowser } from './wire.ts'

const SECOND_STEP_S = 600

const SEALED_AS = 'second step'

const stepCookie = z.object({
  cid: z.number(),
  userId: z.string(),
  passport: z.string(),
  at: z.number(),
  password: z.string(),
})

const fingerprintOf = (key: DerivedKeys, passwordHash: string): string =>
  hmacSha256(key.form, `password\n${passwordHash}`).toString('base64url')

/** Value of the cookie that the browser keeps until the second step. */
export function beginSecondStep({ keys, clock }: Deps, passport: string, credential: Credential): string {
  const { cid, userId, passwordHash } = credential
  const content = { cid, userId, passport, at: clock.now().getTime(), password: fingerprintOf(keys, passwordHash) }
  return sealedText(keys, SEALED_AS, content)
}

export type SecondStep = NonNullable<ReturnType<typeof openSecondStep>>

/** Undefined if forged or expired; costs no statement. `isPassword` knows the hash of the password of the first step. */
export function openSecondStep({ keys, clock }: Deps, text: string | undefined) {
  const opened = openSealedText(keys, SEALED_AS, stepCookie, text ?? '')
  if (!opened) return undefined
  const { cid, userId, passport, at, password } = opened
  const began = fromEpochMilliseconds(at)
  if (addSeconds(began, SECOND_STEP_S) <= clock.now()) return undefined
  const isPassword = (hash: string | undefined) =>
    hash !== undefined && everyKey(keys).some((key) => equalSecrets(password, fingerprintOf(key, hash)))
  return { routingKey: routingKeyOf(cid, userId), cid, userId, passport, at: began, isPassword }
}

export interface SecondStepInput extends SignInBrowser {
  readonly step: SecondStep
  readonly code: string
}

/**
 * Whether the second step adds an authenticator, as the person has none and everybody must. Throws SecondStepVoid if one
 * was removed since the first step and none is required: the password alone then suffices.
 */
export async function addsTotp({ config, db }: Deps, step: SecondStep): Promise<boolean> {
  if ((await findFactors(db, step)).totpSince !== null) return false
  if (config.SECOND_FACTOR !== 'required') throw new SecondStepVoid()
  return true
}

const limitsOf = (deps: Deps, { step, address, device }: SecondStepInput) =>
  personLimits(deps, step.passport, { address, device })

/** Counts an authenticator code as a guess of today, before it is checked. Recovery codes cannot be guessed. */
async function countGuess(deps: Deps, { step, code, device }: SecondStepInput) {
  if (isRecoveryCode(code)) return undefined
  const guesses = codeGuesses(deps, { owner: ownerOfCodes(step), account: accountOf(step.passport), device })
  const { isLast, until } = await guesses.count()
  if (until) throw new CodesUsedUp(until)
  return { isLast, giveBack: guesses.giveBack }
}

/**
 * Opens a session for an authenticator or recovery code and returns its id; throws SignInRefused, or SecondStepVoid. The
 * code is spent only if the session is opened. Wrong codes count like wrong passwords, and only a complete sign-in clears
 * the count. Authenticator codes also have a daily limit (src/platform/throttle/code-guesses.ts).
 */
export async function finishSignIn(deps: Deps, input: SecondStepInput): Promise<string> {
  const { step, code } = input
  const limits = await limitsOf(deps, input)
  await limits.refuseExhausted()
  const guess = await countGuess(deps, input)
  const session = await inPersonTransaction(deps, step.routingKey, async (inside, db) => {
    await lockForStep(db, step)
    const amr = await spendFactor(inside, step, code)
    if (!amr) return undefined
    await (await limitsOf(inside, input)).refuseExhausted()
    return open(inside, input, amr)
  }).catch(async (error: unknown) => {
    if (error instanceof SecondStepVoid) await guess?.giveBack() // the code was not looked at
    throw error
  })
  if (session === undefined) {
    if (guess?.isLast) await tellPerson(deps, step, 'codes_guessed')
    const record = { from: originOf(input), method: 'code', detail: { by: 'code' } } as const
    throw await limits.failed(recordFailure(deps, step, record))
  }
  await guess?.giveBack()
  await limits.forget()
  await endSession(deps, input.formerSession)
  return session
}

/** Enrols an authenticator, if one is required and the person has none. Throws SecondStepVoid. */
export const enrolInSignIn = (deps: Deps, step: SecondStep): Promise<TotpEnrolment | undefined> =>
  inPersonTransaction(deps, step.routingKey, async (inside, db) => {
    await lockForStep(db, step)
    return enrolTotp(inside, step, step.passport)
  })

/** Opens a session and returns the recovery codes. Throws SignInRefused for a wrong code, or SecondStepVoid. */
export async function confirmInSignIn(deps: Deps, input: SecondStepInput) {
  const { step, code } = input
  const confirmed = await inPersonTransaction(deps, step.routingKey, async (inside, db) => {
    await lockUser(db, step) // against concurrent sign-ins, before the shared lock
    await lockForStep(db, step)
    const codes = await confirmTotp({ ...inside, actor: asPerson(deps.actor, step) }, step, code, null)
    if (!codes) throw new SignInRefused()
    return { session: await open(inside, input, AMR.totp), codes }
  })
  await (await limitsOf(deps, input)).forget()
  await endSession(deps, input.formerSession)
  return confirmed
}

/** Locks the person until the end of the transaction. Throws SecondStepVoid. */
async function lockForStep(db: Db, step: SecondStep): Promise<void> {
  if (!(await lockUserSignedInSince(db, step, step.at))) throw new SecondStepVoid()
  const current = await findCredential(db, step.passport)
  if (!step.isPassword(current?.passwordHash)) throw new SecondStepVoid()
}

/** In a transaction that has called `lockForStep`. */
function open(inside: Deps, input: SecondStepInput, amr: readonly string[]): Promise<string> {
  const { step, device } = input
  const method = amr.includes('otp') ? 'code' : 'recovery code'
  const opening = { isPassword: step.isPassword, amr, method, from: originOf(input), device } as const
  return openSession(inside, step.passport, step, opening)
}
