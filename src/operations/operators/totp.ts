import { recordAudit } from '../../platform/audit/index.ts'
import type { SealedColumn } from '../../platform/db/sealed.ts'
import type { Deps } from '../../platform/deps.ts'
import { decryptSecret, encryptSecret } from '../../platform/lib/crypto/keys.ts'
import { newTotp, type TotpEnrolment, totpStep } from '../../platform/lib/crypto/totp.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { signInLimits } from '../../platform/throttle/index.ts'
import { noSuchOperator, OperatorSignInRefused } from './errors.ts'
import { type SignedInOperator, startOperatorSession } from './session.ts'
import { deleteSession } from './session-store.ts'
import * as store from './store.ts'
import { type OneOperator, oneOperator } from './wire.ts'

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

/** A new authenticator for an operator without one; in force once `confirmTotp` was given one of its codes. */
export async function enrolTotp(deps: Deps, session: SignedInOperator): Promise<TotpEnrolment> {
  if (!session.pending) throw new OperatorSignInRefused()
  const { operatorId, name } = session
  const made = newTotp(name)
  const sealed = encryptSecret(deps.keys, made.secret, sealingContext(operatorId))
  if ((await store.setTotp(deps.db, operatorId, sealed)) === 0) throw new OperatorSignInRefused()
  return made
}

/**
 * A first code of the authenticator: from now on signing in needs one. Returns the id of a full session, which
 * replaces the present one. Throws OperatorSignInRefused; wrong codes count as failed sign-ins.
 */
export async function confirmTotp(
  deps: Deps,
  session: SignedInOperator,
  { code, address }: { readonly code: string; readonly address: string },
): Promise<string> {
  const limits = await signInLimits(deps, { kind: 'operator', name: session.name.toLowerCase(), address })
  const until = await limits.exhausted()
  if (until) throw new OperatorSignInRefused(until)
  const found = await store.findCredential(deps.db, session.name)
  if (!session.pending || !found || !(await spendCode(deps, found, code))) {
    throw new OperatorSignInRefused(await limits.failed())
  }
  await limits.forget()
  return deps.db.tx(async (db) => {
    const inside = { ...deps, db }
    await deleteSession(db, session.sessionHash)
    await recordAudit(inside, { event: 'operator_totp_added', target: `operator:${found.name}` })
    return startOperatorSession(inside, found, false)
  })
}

/** Whether this is a code of now (spaces do not count) that nobody has used: of simultaneous uses exactly one succeeds. */
export async function spendCode({ db, keys, clock }: Deps, of: store.Credential, code: string): Promise<boolean> {
  if (of.totp_sealed === null) return false
  const now = clock.now()
  const secret = decryptSecret(keys, of.totp_sealed, sealingContext(of.operator_id))
  const step = totpStep(secret, code, now)
  if (step === undefined) return false
  return (await store.spendTotpStep(db, of, step, now)) > 0
}

/** Removes the authenticator of an operator who has lost it: the next sign-in adds a new one. */
export const resetTotp = operation(
  oneOperator,
  (deps: Deps, { name }: OneOperator): Promise<{ name: string }> =>
    deps.db.tx(async (db) => {
      const found = await store.lockOperator(db, name)
      if (!found) throw noSuchOperator()
      await store.removeTotp(db, found.operator_id)
      await store.setStatus(db, found.operator_id, found.status) // ends their sessions
      await recordAudit({ ...deps, db }, { event: 'operator_totp_reset', target: `operator:${found.name}` })
      return { name: found.name }
    }),
)
