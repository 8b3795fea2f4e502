import { isSecretKey, keepFingerprint } from '../../platform/db/installation.ts'
import type { Deps } from '../../platform/deps.ts'

const ANOTHER_KEY =
  'this database was made with another SECRET_KEY: start with that one, or to replace it give it in SECRET_KEYS_OLD; with any other, tokens, app_secrets and clientSecrets would all be refused'

// PostgreSQL, appendix A: undefined_table. Before the migrations there is nothing to compare with.
const UNDEFINED_TABLE = '42P01'

/**
 * Throws if the database was made with a key that is neither SECRET_KEY nor one of SECRET_KEYS_OLD. A new database is
 * bound to the first key that it sees.
 */
export async function checkSecretKey({ db, keys }: Pick<Deps, 'db' | 'keys'>): Promise<void> {
  try {
    if ((await isSecretKey(db, keys)) === undefined) await keepFingerprint(db, keys)
    if ((await isSecretKey(db, keys)) === false) throw new Error(ANOTHER_KEY)
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNDEFINED_TABLE) throw error
  }
}
