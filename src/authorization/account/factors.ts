import { recordAudit } from '../../platform/audit/index.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import type { SealedColumn } from '../../platform/db/sealed.ts'
import { type Deps, inPersonTransaction, inTransaction } from '../../platform/deps.ts'
import { decryptSecret, encryptSecret } from '../../platform/lib/crypto/keys.ts'
import { hashOfRecoveryCode, isRecoveryCode, newRecoveryCodes } from '../../platform/lib/crypto/recovery-code.ts'
import { newTotp, type TotpEnrolment, totpStep } from '../../platform/lib/crypto/totp.ts'
import { operation, readingReason } from '../../platform/lib/json/input.ts'
import { forgetCodeGuesses } from '../../platform/throttle/index.ts'
import { noSuchUser } from './errors.ts'
import * as store from './factor-store.ts'
import { recordChange, tellPerson } from './person-mail.ts'
import { AMR, lockSignedIn, type SignedIn } from './session.ts'
import { deleteOtherSessions, findUser } from './store.ts'
import { lockExistingUser } from './user.ts'
import { rowKeyOf, type UserKey, userKey } from './wire.ts'

/** A person's second factor: an authenticator (TOTP), and ten recovery codes in case it is lost. */

const sealingContext = (cid: number | string, userId: string): string => `user_totp ${cid} ${userId}`

/** The encrypted columns of this room. */
export const ACCOUNT_SEALED: readonly SealedColumn[] = [
  {
    table: 'user_totp',
    column: 'sealed',
    key: ['routing_key', 'cid', 'user_id'],
    contextOf: ([, cid = '', userId = '']) => sealingContext(cid, userId),
  },
]

/** Starts enrolling an authenticator, which `confirmTotp` completes. Undefined if the person already has one. */
export async function enrolTotp(deps: Deps, key: UserRowKey, label: string): Promise<TotpEnrolment | undefined> {
  const enrolment = newTotp(label)
  const sealed = encryptSecret(deps.keys, enrolment.secret, sealingContext(key.cid, key.userId))
  const isSet = await store.setTotp(deps.db, key, sealed, deps.clock.now())
  return isSet > 0 ? enrolment : undefined
}

/** The time step of this code; undefined unless the authenticator shows it now. */
const stepOf = ({ keys, clock }: Deps, { cid, userId }: UserRowKey, { sealed }: store.StoredTotp, code: string) =>
  totpStep(decryptSecret(keys, sealed, sealingContext(cid, userId)), code, clock.now())

/**
 * Confirms the authenticator with its first code; from now on a password sign-in needs a code. This session counts as
 * two-factor; all others end, since somebody who knows the password may have opened them. Returns the recovery codes,
 * which cannot be shown again; undefined for a wrong code.
 */
export const confirmOwnTotp = (deps: Deps, session: SignedIn, code: string): Promise<readonly string[] | undefined> =>
  inPersonTransaction(deps, session.routingKey, async (inside, db) => {
    if (!(await lockSignedIn(inside, session))) return undefined
    const codes = await confirmTotp(inside, session, code, session.sessionHash)
    if (codes) await store.setSecondFactorOfSession(db, session, AMR.totp)
    return codes
  })

/**
 * `deps.db` is a transaction that has locked the person. Ends all sessions but `kept`, and forgets the wrong codes of
 * today, which were guesses of another authenticator's.
 */
export async function confirmTotp(
  deps: Deps,
  key: UserRowKey,
  code: string,
  kept: Buffer | null,
): Promise<readonly string[] | undefined> {
  const totp = await store.findTotp(deps.db, key)
  const step = totp && stepOf(deps, key, totp, code)
  if (!totp || step === undefined) return undefined
  if ((await store.confirmStep(deps.db, key, totp, step, deps.clock.now())) === 0) return undefined
  await forgetCodeGuesses(deps, ownerOfCodes(key))
  await deleteOtherSessions(deps.db, key, kept)
  await recordChange(deps, key, 'totp_added')
  return setNewRecoveryCodes(deps, key)
}

/** The `amr` that the code proves; undefined if it is wrong or used. Of concurrent uses exactly one succeeds. */
export async function spendFactor(deps: Deps, key: UserRowKey, typed: string): Promise<readonly string[] | undefined> {
  if (isRecoveryCode(typed)) {
    const hash = hashOfRecoveryCode(ownerOfCodes(key), typed)
    return (await store.spendRecoveryCode(deps.db, key, hash, deps.clock.now())) > 0 ? AMR.recoveryCode : undefined
  }
  const totp = await store.findTotp(deps.db, key)
  const step = totp && stepOf(deps, key, totp, typed)
  if (!totp || step === undefined) return undefined
  return (await store.spendStep(deps.db, key, totp, step)) > 0 ? AMR.totp : undefined
}

export const ownerOfCodes = ({ cid, userId }: UserRowKey): string => `${cid}:${userId}`

/** Replaces the recovery codes. */
async function setNewRecoveryCodes(deps: Deps, key: UserRowKey): Promise<readonly string[]> {
  const { codes, hashes } = newRecoveryCodes(ownerOfCodes(key))
  await store.replaceRecoveryCodes(deps.db, key, hashes, deps.clock.now())
  return codes
}

/** Undefined without a confirmed authenticator. */
export const replaceRecoveryCodes = (deps: Deps, key: SignedIn): Promise<readonly string[] | undefined> =>
  inPersonTransaction(deps, key.routingKey, async (inside, db) => {
    if (!(await lockSignedIn(inside, key))) return undefined
    const { totpSince } = await store.findFactors(db, key)
    if (totpSince === null) return undefined
    await recordChange(inside, key, 'recovery_codes_made')
    return setNewRecoveryCodes(inside, key)
  })

export const removeOwnTotp = (deps: Deps, key: SignedIn): Promise<void> =>
  inPersonTransaction(deps, key.routingKey, async (inside, db) => {
    if (!(await lockSignedIn(inside, key))) return
    if ((await deleteFactor(db, key)) > 0) await recordChange(inside, key, 'totp_removed')
  })

/** Deletes the authenticator with its recovery codes. */
export async function deleteFactor(db: Deps['db'], key: UserRowKey): Promise<number> {
  await store.deleteRecoveryCodes(db, key)
  return store.deleteTotp(db, key)
}

export const factorsOf = ({ db }: Deps, key: UserRowKey) => store.findFactors(db, key)

// ---- operators, for people who lost a factor

interface ShownFactors extends UserKey {
  /** When the authenticator was confirmed; null without one. */
  readonly totp_since: Date | null
  /** Unused recovery codes. */
  readonly recovery_codes: number
  readonly passkeys: number
}

async function shown({ db }: Deps, { cid, user_id }: UserKey): Promise<ShownFactors> {
  const { totpSince, recoveryCodes, passkeys } = await store.findFactors(db, rowKeyOf({ cid, user_id }))
  return { cid, user_id, totp_since: totpSince, recovery_codes: recoveryCodes, passkeys }
}

/** Throws 20007 (404) if there is no such user. */
const showFactors = operation(userKey, async (deps: Deps, user): Promise<ShownFactors> => {
  if (!(await findUser(deps.db, rowKeyOf(user)))) throw noSuchUser()
  return shown(deps, user)
})

const factorRemoval = userKey.extend({ reason: readingReason })

/**
 * Removes authenticator, recovery codes and passkeys and ends all browser sessions; the next sign-in needs only the
 * password. Notifies the person by mail; the reason goes to the audit log. Returns what was removed. Throws 20007
 * (404).
 */
const removeFactors = operation(
  factorRemoval,
  (deps: Deps, { reason, ...user }): Promise<ShownFactors> =>
    inTransaction(deps, async (inside, db) => {
      const key = rowKeyOf(user)
      await lockExistingUser(db, key)
      const before = await shown(inside, user)
      const removed = (await deleteFactor(db, key)) + (await store.deletePasskeys(db, key))
      if (removed === 0) return before
      await deleteOtherSessions(db, key, null)
      await recordAudit(inside, { event: 'user_factors_removed', ...key, detail: { reason } })
      await tellPerson(inside, key, 'factors_removed')
      return before
    }),
)

export const FACTORS = { show: showFactors, remove: removeFactors }
