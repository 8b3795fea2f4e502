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
 * Makes a change that could lock out the last admin, and throws 20007, which undoes it, if nobody is left who can sign in
 * as admin with a password (an authenticator is added at the first sign-in) or a valid token. With ADMIN_TOKEN set
 * somebody always can. Call it in a transaction before anything else is locked: all lock in one order then, and two
 * admins cannot disable each other at once.
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
