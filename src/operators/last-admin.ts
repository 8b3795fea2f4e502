import type { Db } from '../db/sql.ts'
import type { Deps } from '../deps.ts'
import { lastAdmin } from './errors.ts'
import * as store from './store.ts'

/**
 * Makes a change that may take the last admin away who can get in: with a password (an authenticator is added at the
 * first sign-in) or a token of that role that is accepted. Throws 20007 then, which undoes the change; not with
 * ADMIN_TOKEN, which lets somebody in again. In a transaction, before it locks anything else, so that all lock in one
 * order and two admins cannot go away at once.
 */
export async function keepingAnAdmin<Result>(
  { config, clock }: Deps,
  db: Db,
  change: () => Promise<Result>,
): Promise<Result> {
  await store.lockAdmins(db)
  const isThere = async () => config.ADMIN_TOKEN !== undefined || (await store.hasUsableAdmin(db, clock.now()))
  const wasThere = await isThere()
  const result = await change()
  if (wasThere && !(await isThere())) throw lastAdmin()
  return result
}
