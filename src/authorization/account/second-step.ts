/**
 * The second step of a sign-in. What stands between the two is no session: an encrypted text that says whose password
 * was right, when, and which password that was; whoever uses the browser next cannot read it. It ends with the
 * password, and with everything that an operator ends.
 */

import { z } from 'zod'
import { asPerson } from '../../platform/audit/index.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Deps, inPersonTransaction } from '../../platform/deps.ts'
import { addSeconds, fromEpochMilliseconds } from '../../platform/lib/clock.ts'
import { openSealedText, sealedText } from '../../platform/lib/crypto/carried-text.ts'
import { hmacSha256 } from '../../platform/lib/crypto/digest.ts'
import { type DerivedKeys, equalSecrets, everyKey } from '../../platform/lib/crypto/keys.ts'
import { isRecoveryCode } from '../../platform/lib/crypto/recovery-code.ts'
import type { TotpEnrolment } from '../../platform/lib/crypto/totp.ts'
import { codeGuesses, forgetCodeGuesses as forgetGuesses } from '../../platform/throttle/index.ts'
import { CodesUsedUp, SignInRefused } from './errors.ts'
import { findFactors } from './factor-store.ts'
import { confirmTotp, enrolTotp, spendFactor } from './factors.ts'
import { tellPerson } from './person-mail.ts'
import { AMR, endSession } from './session.ts'
import { accountOf, openSession, personLimits, recordFailure } from './sign-in.ts'
import { type Credential, findCredential, lockUser, lockUserSignedInSince } from './store.ts'
import { originOf, routingKeyOf, type SignInBrowser } from './wire.ts'

const ownerOfCodes = ({ cid, userId }: UserRowKey): string => `${cid}:${userId}`

/** Looks at a code of an authenticator if there is a guess left today; the last one is told to the person. */
async function guessCode(deps: Deps, { step, device, code }: SecondStepInput): Promise<readonly string[] | undefined> {
  const guesses = codeGuesses(deps, { owner: ownerOfCodes(step), account: accountOf(step.passport), device })
  const { isLast, until } = await guesses.count()
  if (until) throw new CodesUsedUp(until)
  const amr = await spendFactor(deps, step, code)
  if (amr) await guesses.giveBack()
  else if (isLast) await tellPerson(deps, step, 'codes_guessed')
  return amr
}

/** Whoever has guessed does not know the password any more. */
export const forgetCodeGuesses = (deps: Deps, person: UserRowKey): Promise<void> =>
  forgetGuesses(deps, ownerOfCodes(person))

/** Seconds from the password to the code. */
const SECOND_STEP_S = 600

const SEALED_AS = 'second step'

const kept = z.object({
  cid: z.number(),
  userId: z.string(),
  passport: z.string(),
  at: z.number(),
  /** Tells the password that was right. */
  password: z.string(),
})

const markOf = (key: DerivedKeys, passwordHash: string): string =>
  hmacSha256(key.form, `password\n${passwordHash}`).toString('base64url')

/** What the browser keeps until the second step. */
export function beginSecondStep({ keys, clock }: Deps, passport: string, credential: Credential): string {
  const { cid, userId, passwordHash } = credential
  const content = { cid, userId, passport, at: clock.now().getTime(), password: markOf(keys, passwordHash) }
  return sealedText(keys, SEALED_AS, content)
}

export interface SecondStep extends UserRowKey {
  readonly passport: string
  readonly at: Date
  /** Whether this is the hash of the password that was right. */
  readonly isPassword: (passwordHash: string | undefined) => boolean
}

/** Undefined for what is forged or too old; costs no statement. */
export function openSecondStep({ keys, clock }: Deps, text: string | undefined): SecondStep | undefined {
  const found = openSealedText(keys, SEALED_AS, kept, text ?? '')
  if (!found) return undefined
  const { cid, userId, passport, at, password } = found
  const began = fromEpochMilliseconds(at)
  if (addSeconds(began, SECOND_STEP_S) <= clock.now()) return undefined
  const isPassword = (hash: string | undefined) =>
    hash !== undefined && everyKey(keys).some((key) => equalSecrets(password, markOf(key, hash)))
  return { routingKey: routingKeyOf(cid, userId), cid, userId, passport, at: began, isPassword }
}

export interface SecondStepInput extends SignInBrowser {
  readonly step: SecondStep
  readonly code: string
}

/** Whether the person has an authenticator in force; without one the second step adds one. */
export const hasTotp = async ({ db }: Deps, step: SecondStep): Promise<boolean> =>
  (await findFactors(db, step)).totpSince !== null

const limitsOf = (deps: Deps, { step, address, device }: SecondStepInput) =>
  personLimits(deps, step.passport, { address, device })

/**
 * Opens a session for a code of the authenticator, or a recovery code, and returns its id; throws SignInRefused. Wrong
 * codes count as wrong passwords do, and only a whole sign-in clears the count: a right password does not. Those of an
 * authenticator have a bound of a day besides (src/platform/throttle/code-guesses.ts).
 */
export async function finishSignIn(deps: Deps, input: SecondStepInput): Promise<string> {
  const { step, code } = input
  const limits = await limitsOf(deps, input)
  await limits.refuseExhausted()
  const amr = await (isRecoveryCode(code) ? spendFactor(deps, step, code) : guessCode(deps, input))
  if (!amr) {
    const told = { from: originOf(input), method: 'code', detail: { by: 'code' } } as const
    throw await limits.failed(recordFailure(deps, step, told))
  }
  await limits.refuseExhausted()
  const session = await open(deps, input, amr)
  await limits.forget()
  return session
}

/** A new authenticator where the platform demands one and the person has none. Throws SignInRefused, as `open` does. */
export const enrolInSignIn = (deps: Deps, step: SecondStep): Promise<TotpEnrolment | undefined> =>
  inPersonTransaction(deps, step.routingKey, async (inside, db) => {
    if (!(await lockUserSignedInSince(db, step, step.at))) throw new SignInRefused()
    const current = await findCredential(db, step.passport)
    if (!step.isPassword(current?.passwordHash)) throw new SignInRefused()
    return enrolTotp(inside, step, step.passport)
  })

/**
 * A first code of that authenticator: a session and the recovery codes. Both or neither: it throws SignInRefused for a wrong
 * code, and as `open` does, and the authenticator is not in force then.
 */
export async function confirmInSignIn(
  deps: Deps,
  input: SecondStepInput,
): Promise<{ readonly session: string; readonly codes: readonly string[] }> {
  const { step, code } = input
  const confirmed = await inPersonTransaction(deps, step.routingKey, async (inside, db) => {
    if (!(await lockUser(db, step))) throw new SignInRefused()
    const codes = await confirmTotp({ ...inside, actor: asPerson(deps.actor, step) }, step, code, null)
    if (!codes) throw new SignInRefused()
    return { session: await open(inside, input, AMR.totp), codes }
  })
  await (await limitsOf(deps, input)).forget()
  return confirmed
}

/** Throws SignInRefused where the password was changed, or everything was ended, since the first step. */
async function open(deps: Deps, input: SecondStepInput, amr: readonly string[]): Promise<string> {
  const { step, formerSession, device } = input
  const { isPassword } = step
  const method = amr.includes('otp') ? 'code' : 'recovery code'
  await endSession(deps, formerSession)
  return inPersonTransaction(deps, step.routingKey, async (inside, db) => {
    if (!(await lockUserSignedInSince(db, step, step.at))) throw new SignInRefused()
    return openSession(inside, step.passport, step, { isPassword, amr, method, from: originOf(input), device })
  })
}
