import { isSecretKey, keepFingerprint } from '../../platform/db/installation.ts'
import type { Deps } from '../../platform/deps.ts'
import { anySealedSecret } from './secret-store.ts'
import { openSecret } from './store.ts'

const ANOTHER_KEY =
  'this database was made with another SECRET_KEY: start with that one, or to replace it give it in SECRET_KEYS_OLD; with any other, tokens, app_secrets and clientSecrets would all be refused'

// PostgreSQL, appendix A: undefined_table. Before the migrations there is nothing to compare with.
const UNDEFINED_TABLE = '42P01'

/**
 * Throws when neither SECRET_KEY nor one of SECRET_KEYS_OLD is what the database was made with, and makes values with the
 * one that is. The first key that comes to a new database is kept.
 */
export async function checkSecretKey(deps: Pick<Deps, 'db' | 'keys'>): Promise<void> {
  const { db, keys } = deps
  try {
    if ((await isSecretKey(db, keys)) === undefined) {
      // A database of an older version says nothing of its key, but what was sealed with it does.
      if (!(await opensWhatIsSealed(deps))) throw new Error(ANOTHER_KEY)
      await keepFingerprint(db, keys)
    }
    if ((await isSecretKey(db, keys)) === false) throw new Error(ANOTHER_KEY)
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNDEFINED_TABLE) throw error
  }
}

async function opensWhatIsSealed({ db, keys }: Pick<Deps, 'db' | 'keys'>): Promise<boolean> {
  const sealed = await anySealedSecret(db)
  if (!sealed) return true
  try {
    openSecret(keys, sealed.partner_id, sealed)
    return true
  } catch {
    return false
  }
}
