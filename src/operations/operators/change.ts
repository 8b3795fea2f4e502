import type { Db } from '../../platform/db/sql.ts'
import type { Deps } from '../../platform/deps.ts'
import { lastAdmin, noSuchOperator } from './errors.ts'
import * as store from './store.ts'
import type { OperatorRow } from './wire.ts'

/** The operator, locked until the end of the transaction. Throws 20007 (404) for an unknown name. */
export async function lockExisting(db: Db, name: string): Promise<OperatorRow> {
  const operator = await store.lockOperator(db, name)
  if (!operator) throw noSuchOperator()
  return operator
}

/**
 * Makes a change that could lock out the last admin. Throws 20007, which rolls it back, if nobody is left who can act
 * as admin: with a password (an authenticator is added at the first sign-in), a valid token or ADMIN_TOKEN. Call it in
 * a transaction before anything else is locked, so that all callers lock in one order and two admins cannot disable
 * each other.
 */
export async function refuseWithoutAdmin<Result>(
  { config, clock }: Deps,
  db: Db,
  change: () => Promise<Result>,
): Promise<Result> {
  await store.lockAdmins(db)
  const hasAdmin = async () => config.ADMIN_TOKEN !== undefined || (await store.hasUsableAdmin(db, clock.now()))
  const hadAdmin = await hasAdmin()
  const result = await change()
  if (hadAdmin && !(await hasAdmin())) throw lastAdmin()
  return result
}
