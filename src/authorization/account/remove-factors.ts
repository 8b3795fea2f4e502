import { recordAudit } from '../../platform/audit/index.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { operation, readingReason } from '../../platform/lib/json/input.ts'
import { noSuchUser } from './errors.ts'
import { deletePasskeys, findFactors } from './factor-store.ts'
import { deleteFactor } from './factors.ts'
import { deleteOtherSessions } from './password-store.ts'
import { tellPerson } from './person-mail.ts'
import { findUser } from './store.ts'
import { lockExistingUser } from './user.ts'
import { rowKeyOf, type UserKey, userKey } from './wire.ts'

/** What operators see of a person's second factor and passkeys, and what they do for whoever has lost it. */

interface ShownFactors extends UserKey {
  /** Since when codes of an authenticator are needed; null without one. */
  readonly totp_since: Date | null
  /** Recovery codes that were not used. */
  readonly recovery_codes: number
  readonly passkeys: number
}

async function shown({ db }: Deps, { cid, user_id }: UserKey): Promise<ShownFactors> {
  const { totpSince, recoveryCodes, passkeys } = await findFactors(db, rowKeyOf({ cid, user_id }))
  return { cid, user_id, totp_since: totpSince, recovery_codes: recoveryCodes, passkeys }
}

/** Throws 20007 (404) when there is no such user, as does what follows. */
const showFactors = operation(userKey, async (deps: Deps, user): Promise<ShownFactors> => {
  if (!(await findUser(deps.db, rowKeyOf(user)))) throw noSuchUser()
  return shown(deps, user)
})

const factorRemoval = userKey.extend({ reason: readingReason })

/**
 * Removes authenticator, recovery codes and passkeys of a person and ends their browser sessions: the next sign-in needs the
 * password alone. The person is told by mail, if their passport is an address; the audit log keeps the reason. Returns
 * what was removed.
 */
const removeFactors = operation(
  factorRemoval,
  (deps: Deps, { reason, ...user }): Promise<ShownFactors> =>
    inTransaction(deps, async (inside, db) => {
      const key = rowKeyOf(user)
      await lockExistingUser(db, key)
      const before = await shown(inside, user)
      const removed = (await deleteFactor(db, key)) + (await deletePasskeys(db, key))
      if (removed === 0) return before
      await deleteOtherSessions(db, key, null)
      await recordAudit(inside, { event: 'user_factors_removed', ...key, detail: { reason } })
      await tellPerson(inside, key, 'factors_removed')
      return before
    }),
)

export const FACTORS = { show: showFactors, remove: removeFactors }
