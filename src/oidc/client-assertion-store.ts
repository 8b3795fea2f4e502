import { MARGIN_S, type Retention } from '../db/retention.ts'
import { type Db, sql } from '../db/sql.ts'

export const CLIENT_ASSERTION_RETENTION: readonly Retention[] = [
  { table: 'client_assertion', column: 'expires_at', keptS: () => MARGIN_S },
]

/** True for the one who uses it first. */
export const useAssertion = async (db: Db, hash: Buffer, expiresAt: Date): Promise<boolean> =>
  (await db.exec(
    sql`insert into client_assertion (assertion_hash, expires_at) values (${hash}, ${expiresAt})
        on conflict (assertion_hash) do nothing`,
  )) === 1
