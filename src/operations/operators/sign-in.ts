import { recordAudit } from '../../platform/audit/index.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { equalSecrets } from '../../platform/lib/crypto/keys.ts'
import { hashPassword, verifyPassword } from '../../platform/lib/crypto/password.ts'
import { isRecoveryCode } from '../../platform/lib/crypto/recovery-code.ts'
import { refuseWeakInput } from '../../platform/lib/crypto/weak-password.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { SignInRefused, type SignInSource } from '../../platform/throttle/index.ts'
import { lockExisting } from './operator.ts'
import { startAdminTokenSession, startOperatorSession } from './session.ts'
import * as store from './store.ts'
import { forgetGuessesOf, guessesOf, isCode, operatorLimits, spendCode } from './totp.ts'
import { ADMIN_TOKEN_NAME, newPassword } from './wire.ts'

interface OperatorSignIn extends SignInSource {
  readonly name: string
  readonly password: string
  /** A code of the authenticator or a recovery code; empty if the operator has no authenticator yet. */
  readonly code: string
}

export interface OperatorSignedIn {
  /** The cookie's value. */
  readonly session: string
  /** There is no authenticator yet, and the session may only add one (`enrolTotp`, `confirmTotp`). */
  readonly pending: boolean
}

/**
 * Opens a session for name, password and code; throws SignInRefused, which does not say what was wrong. Wrong
 * passwords and codes share the limits of src/platform/throttle/sign-in.ts, which hold for simultaneous guesses too.
 * Wrong codes with a right password also have a daily limit; beyond it a right code is refused like a wrong one,
 * because any other answer would confirm the password.
 */
export const signInOperator = (deps: Deps, input: OperatorSignIn): Promise<OperatorSignedIn> =>
  deps.passwordSlots.run(() => attemptSignIn(deps, input))

async function attemptSignIn(deps: Deps, input: OperatorSignIn): Promise<OperatorSignedIn> {
  const { name, address, device } = input
  const limits = await operatorLimits(deps, { name: name.toLowerCase(), address, device })
  await limits.refuseExhausted()
  const operator = await store.findCredential(deps.db, name)
  const credential = operator?.status === 'active' ? operator : undefined
  const pending = credential?.totp_confirmed_at === null
  const guesses = credential && !pending ? guessesOf(deps, credential, input) : undefined
  // In parallel, as is the counting below: otherwise the time taken would reveal that the password was right.
  const [right, usedUp] = await Promise.all([
    verifyPassword(credential?.password_hash ?? undefined, input.password),
    guesses?.usedUpUntil(),
  ])
  const mayGuess = right && usedUp === undefined
  const refused = async (): Promise<Error> => {
    const by = right && usedUp ? 'code' : 'password'
    const counted = mayGuess ? guesses?.count() : undefined
    const failed = limits.failed((locked) =>
      recordFailure(deps, { by, name: operator?.name, locked: locked || by === 'code' }),
    )
    const [error] = await Promise.all([failed, counted])
    return error
  }
  if (!credential || !right || !(pending || (mayGuess && (await isCode(deps, credential, input.code))))) {
    throw await refused()
  }
  await limits.refuseExhausted()
  if (await guesses?.usedUpUntil()) throw new SignInRefused()
  // Only now: a transaction that began before the code was known to be right would confirm the password by its time.
  const signedIn = await inTransaction(deps, async (inside) => {
    // A simultaneous sign-in may have used it up.
    if (!pending && !(await spendCode(inside, credential, input.code))) return undefined
    const actor = { ...deps.actor, kind: 'operator', name: credential.name } as const
    const target = `operator:${credential.name}`
    const by = pending || !isRecoveryCode(input.code) ? {} : { by: 'recovery code' }
    await recordAudit(inside, { event: 'operator_signed_in', actor, target, detail: { pending, ...by } })
    return { session: await startOperatorSession(inside, credential, pending), pending }
  })
  if (!signedIn) throw await refused()
  await limits.forget()
  return signedIn
}

/** Opens a session for the holder of ADMIN_TOKEN. Throws SignInRefused, also without ADMIN_TOKEN. */
export async function signInWithAdminToken(
  deps: Deps,
  { token, ...browser }: SignInSource & { readonly token: string },
): Promise<OperatorSignedIn> {
  const { ADMIN_TOKEN } = deps.config
  const limits = await operatorLimits(deps, { name: ADMIN_TOKEN_NAME, ...browser, isUnguessable: true })
  await limits.refuseExhausted()
  if (ADMIN_TOKEN === undefined || !equalSecrets(token, ADMIN_TOKEN)) {
    throw await limits.failed((locked) => recordFailure(deps, { by: 'token', locked }))
  }
  await limits.forget()
  return inTransaction(deps, async (inside) => {
    const actor = { ...deps.actor, kind: 'operator', name: ADMIN_TOKEN_NAME } as const
    const target = `operator:${ADMIN_TOKEN_NAME}`
    await recordAudit(inside, { event: 'operator_signed_in', actor, target, detail: { by: 'token' } })
    return { session: await startAdminTokenSession(inside, ADMIN_TOKEN), pending: false }
  })
}

interface SignInFailure {
  readonly by: 'password' | 'code' | 'token'
  readonly name?: string | undefined
  readonly locked: boolean
}

/** The limits of attempts also limit these rows. An unknown name is not stored, as it may be a password. */
const recordFailure = (deps: Deps, { by, name, locked }: SignInFailure) =>
  recordAudit(deps, {
    event: locked ? 'operator_sign_in_locked' : 'operator_sign_in_failed',
    actor: { ...deps.actor, kind: 'operator', name },
    ...(name === undefined ? {} : { target: `operator:${name}` }),
    outcome: 'refused',
    detail: { by },
  })

/** Sets a password, which ends the operator's sessions and resets the limit of codes guessed with the old one. */
export const setOperatorPassword = operation(
  newPassword,
  async (deps: Deps, { name, password }): Promise<{ name: string }> => {
    await refuseWeakInput(password, name)
    const passwordHash = await deps.passwordSlots.run(() => hashPassword(password))
    return inTransaction(deps, async (inside, db) => {
      const operator = await lockExisting(db, name)
      await store.setPassword(db, operator.operator_id, passwordHash)
      await forgetGuessesOf(inside, operator)
      await recordAudit(inside, { event: 'operator_password_set', target: `operator:${operator.name}` })
      return { name: operator.name }
    })
  },
)
