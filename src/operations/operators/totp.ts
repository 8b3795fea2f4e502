import { recordAudit } from '../../platform/audit/index.ts'
import type { SealedColumn } from '../../platform/db/sealed.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { decryptSecret, encryptSecret } from '../../platform/lib/crypto/keys.ts'
import { hashOfRecoveryCode, isRecoveryCode, newRecoveryCodes } from '../../platform/lib/crypto/recovery-code.ts'
import { newTotp, type TotpEnrolment, totpStep } from '../../platform/lib/crypto/totp.ts'
import { operation } from '../../platform/lib/json/input.ts'
import {
  codeGuesses,
  forgetCodeGuesses,
  type SignInAttempt,
  SignInRefused,
  type SignInSource,
  signInLimits,
} from '../../platform/throttle/index.ts'
import { lockExisting } from './operator.ts'
import { type ConsoleOperator, startOperatorSession } from './session.ts'
import { deleteSession } from './session-store.ts'
import * as store from './store.ts'
import { oneOperator } from './wire.ts'

const sealingContext = (operatorId: string): string => `operator_totp ${operatorId}`

/** The encrypted columns of this room. */
export const OPERATORS_SEALED: readonly SealedColumn[] = [
  {
    table: 'operator',
    column: 'totp_sealed',
    key: ['operator_id'],
    contextOf: ([operatorId = '']) => sealingContext(operatorId),
  },
]

/** Makes an authenticator for an operator without one; it is in force once `confirmTotp` gets one of its codes. */
export async function enrolTotp({ db, keys }: Deps, { name, pending }: ConsoleOperator): Promise<TotpEnrolment> {
  const operator = pending ? await store.findCredential(db, name) : undefined
  if (!operator) throw new SignInRefused()
  const { operator_id } = operator
  const made = newTotp(name)
  const sealed = encryptSecret(keys, made.secret, sealingContext(operator_id))
  if ((await store.setTotp(db, operator_id, sealed)) === 0) throw new SignInRefused()
  return made
}

type TypedCode = Pick<SignInSource, 'address'> & { readonly code: string }

/**
 * Takes the first code: from now on signing in needs one. Returns a full session, which replaces the pending one, and
 * recovery codes, which are never shown again. Throws SignInRefused; failures are counted.
 */
export async function confirmTotp(deps: Deps, session: ConsoleOperator, typed: TypedCode) {
  if (!session.pending) throw new SignInRefused()
  return withCode(deps, session, typed, async (inside, operator) => {
    await deleteSession(inside.db, operator.name, session.sessionHash)
    await recordAudit(inside, { event: 'operator_totp_added', target: `operator:${operator.name}` })
    const codes = await setRecoveryCodes(inside, operator)
    return { session: await startOperatorSession(inside, operator, false), codes }
  })
}

/** Replaces the recovery codes, given a code. Throws like `confirmTotp`. */
export const renewRecoveryCodes = (
  deps: Deps,
  session: ConsoleOperator,
  typed: TypedCode,
): Promise<readonly string[]> =>
  withCode(deps, session, typed, async (inside, operator) => {
    await recordAudit(inside, { event: 'operator_recovery_codes_made', target: `operator:${operator.name}` })
    return setRecoveryCodes(inside, operator)
  })

async function setRecoveryCodes({ db }: Deps, { operator_id }: store.Credential): Promise<readonly string[]> {
  const { codes, hashes } = newRecoveryCodes(operator_id)
  await store.setRecoveryCodes(db, operator_id, hashes)
  return codes
}

/** How often an operator, or the holder of ADMIN_TOKEN, may fail. */
export const operatorLimits = (deps: Deps, attempt: Omit<SignInAttempt, 'kind'>) =>
  signInLimits(deps, { kind: 'operator', ...attempt })

/**
 * Makes a change in the transaction that spends the code. Throws SignInRefused for a wrong code, which counts as
 * a failed sign-in.
 */
async function withCode<Result extends object>(
  deps: Deps,
  { name, pending }: ConsoleOperator,
  { code, address }: TypedCode,
  change: (inside: Deps, operator: store.Credential) => Promise<Result>,
): Promise<Result> {
  const limits = await operatorLimits(deps, { name: name.toLowerCase(), address })
  await limits.refuseExhausted()
  const operator = await store.findCredential(deps.db, name)
  // Whoever adds an authenticator was shown its secret and need not guess.
  const guesses = operator && !pending ? guessesOf(deps, operator, { code }) : undefined
  const isOneTooMany = (await guesses?.count())?.until !== undefined
  const changed =
    operator && !isOneTooMany
      ? await inTransaction(deps, async (inside) =>
          (await spendCode(inside, operator, code)) ? change(inside, operator) : undefined,
        )
      : undefined
  if (!changed) throw await limits.failed()
  await guesses?.giveBack()
  await limits.forget()
  return changed
}

const ownerOfCodes = ({ operator_id }: { readonly operator_id: string }): string => `operator ${operator_id}`

/** The daily limit of wrong codes; undefined for text that is no guess of a code. */
export const guessesOf = (
  deps: Deps,
  of: Pick<store.Credential, 'operator_id' | 'name'>,
  { code, device }: Pick<SignInSource, 'device'> & { readonly code: string },
) => {
  if (code === '' || isRecoveryCode(code)) return undefined
  const account = { kind: 'operator', name: of.name.toLowerCase() } as const
  return codeGuesses(deps, { owner: ownerOfCodes(of), account, device })
}

/** For when the password or the authenticator has been replaced. */
export const forgetGuessesOf = (deps: Deps, of: { readonly operator_id: string }): Promise<void> =>
  forgetCodeGuesses(deps, ownerOfCodes(of))

/** The time step of a code that the authenticator shows now. */
const stepShown = ({ keys, clock }: Deps, { operator_id, totp_sealed }: store.Credential, code: string) =>
  totp_sealed === null
    ? undefined
    : totpStep(decryptSecret(keys, totp_sealed, sealingContext(operator_id)), code, clock.now())

/** Whether this is a current code or a recovery code that was not used yet. Spaces and hyphens are ignored. */
export async function isCode(deps: Deps, of: store.Credential, code: string): Promise<boolean> {
  if (isRecoveryCode(code))
    return store.hasRecoveryCode(deps.db, of.operator_id, hashOfRecoveryCode(of.operator_id, code))
  const step = stepShown(deps, of, code)
  return step !== undefined && step > of.totp_last_step
}

/** Uses up a code that `isCode` accepts: exactly one of simultaneous uses succeeds. */
export async function spendCode(deps: Deps, of: store.Credential, code: string): Promise<boolean> {
  const { db, clock } = deps
  const now = clock.now()
  if (isRecoveryCode(code)) {
    const { operator_id } = of
    return (await store.spendRecoveryCode(db, operator_id, hashOfRecoveryCode(operator_id, code), now)) > 0
  }
  const step = stepShown(deps, of, code)
  return step !== undefined && (await store.spendTotpStep(db, of, step, now)) > 0
}

/** Removes a lost authenticator; the operator's next sign-in adds a new one. */
export const resetTotp = operation(
  oneOperator,
  (deps: Deps, { name }): Promise<{ name: string }> =>
    inTransaction(deps, async (inside, db) => {
      const operator = await lockExisting(db, name)
      await store.removeTotp(db, operator.operator_id)
      await store.removeRecoveryCodes(db, operator.operator_id)
      await forgetGuessesOf(inside, operator)
      await store.setStatus(db, operator.operator_id, operator.status) // ends their sessions
      await recordAudit(inside, { event: 'operator_totp_reset', target: `operator:${operator.name}` })
      return { name: operator.name }
    }),
)
