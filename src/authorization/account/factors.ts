import { recordAudit } from '../../platform/audit/index.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import type { SealedColumn } from '../../platform/db/sealed.ts'
import { type Deps, inPersonTransaction, inTransaction } from '../../platform/deps.ts'
import { decryptSecret, encryptSecret } from '../../platform/lib/crypto/keys.ts'
import { hashOfRecoveryCode, isRecoveryCode, newRecoveryCodes } from '../../platform/lib/crypto/recovery-code.ts'
import { newTotp, type TotpEnrolment, totpStep } from '../../platform/lib/crypto/totp.ts'
import { operation, readingReason } from '../../platform/lib/json/input.ts'
import { forgetCodeGuesses } from '../../platform/throttle/index.ts'
import * as store from './factor-store.ts'
import { recordChange, tellPerson } from './person-mail.ts'
import { AMR, lockSignedIn, type SignedIn } from './session.ts'
import { deleteOtherSessions } from './store.ts'
import { existingUser, lockExistingUser } from './user.ts'
import { rowKeyOf, type UserKey, userKey } from './wire.ts'

/** A person's second factor: an authenticator (TOTP), and ten recovery codes in case it is lost. */

const sealingContext = (cid: number | string, userId: string): string => `user_totp ${cid} ${userId}`

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

/** The person's authenticator, and the time step of this code; undefined unless the authenticator shows it now. */
async function shownBy({ db, keys, clock }: Deps, key: UserRowKey, code: string) {
  const totp = await store.findTotp(db, key)
  const step =
    totp && totpStep(decryptSecret(keys, totp.sealed, sealingContext(key.cid, key.userId)), code, clock.now())
  return totp && step !== undefined ? { totp, step } : undefined
}

/**
 * Returns the recovery codes, which cannot be shown again; undefined for a wrong code. All other sessions end, since
 * somebody who knows the password may have opened them.
 */
export const confirmOwnTotp = (deps: Deps, session: SignedIn, code: string): Promise<readonly string[] | undefined> =>
  inPersonTransaction(deps, session.routingKey, async (inside, db) => {
    if (!(await lockSignedIn(inside, session))) return undefined
    const codes = await confirmTotp(inside, session, code, session.sessionHash)
    if (codes) await store.setSecondFactorOfSession(db, session.routingKey, session.sessionHash, AMR.totp)
    return codes
  })

/** In a transaction that has locked the person. Forgets today's wrong codes: they were for another authenticator. */
export async function confirmTotp(deps: Deps, key: UserRowKey, code: string, kept: Buffer | null) {
  const shown = await shownBy(deps, key, code)
  if (!shown || (await store.confirmStep(deps.db, key, shown.totp, shown.step, deps.clock.now())) === 0)
    return undefined
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
  const shown = await shownBy(deps, key, typed)
  return shown && (await store.spendStep(deps.db, key, shown.totp, shown.step)) > 0 ? AMR.totp : undefined
}

export const ownerOfCodes = ({ cid, userId }: UserRowKey): string => `${cid}:${userId}`

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

export async function deleteFactor(db: Deps['db'], key: UserRowKey): Promise<number> {
  await store.deleteRecoveryCodes(db, key)
  return store.deleteTotp(db, key)
}

export const factorsOf = ({ db }: Deps, key: UserRowKey) => store.findFactors(db, key)

// ---- operators, for people who lost a factor

async function shown({ db }: Deps, { cid, user_id }: UserKey) {
  const { totpSince, recoveryCodes, passkeys } = await store.findFactors(db, rowKeyOf({ cid, user_id }))
  return { cid, user_id, totp_since: totpSince, recovery_codes: recoveryCodes, passkeys }
}

/** Throws 20007 (404) if there is no such user. */
const showFactors = operation(userKey, async (deps: Deps, user) => {
  await existingUser(deps.db, rowKeyOf(user))
  return shown(deps, user)
})

/** Removes all factors and ends all sessions; the next sign-in needs only the password. Returns what was removed. */
const removeFactors = operation(userKey.extend({ reason: readingReason }), (deps: Deps, { reason, ...user }) =>
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
