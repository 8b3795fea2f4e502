import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { hmacSha256 } from '../lib/crypto/digest.ts'
import type { Keys } from '../lib/crypto/keys.ts'
import { DatabaseUnavailable } from '../lib/web/unavailable.ts'
import { pendingMigrations } from './migrate.ts'
import { type Db, sql } from './sql.ts'

/** What is true of the database as a whole: the key that it was made with, and whether it can be worked with. */

/** Whoever reads it learns nothing of the key, nor of any other that is derived from it. */
const fingerprintOf = ({ fingerprint }: Keys): Buffer => hmacSha256(fingerprint, 'the SECRET_KEY of this database')

const fact = z.object({ secret_key_fingerprint: z.instanceof(Buffer) })

/** Whether this is the key that the database was made with; undefined while it does not say. */
export async function isSecretKey(db: Db, keys: Keys): Promise<boolean | undefined> {
  const found = await db.maybe(fact, sql`select secret_key_fingerprint from installation`)
  return found && fingerprintOf(keys).equals(found.secret_key_fingerprint)
}

/** Says that the database was made with this key, unless it says something already; of several at once the first one counts. */
export const keepFingerprint = (db: Db, keys: Keys): Promise<number> =>
  db.exec(sql`insert into installation (secret_key_fingerprint) values (${fingerprintOf(keys)}) on conflict do nothing`)

export type DatabaseState =
  | 'ok'
  | 'migrations pending'
  | 'another SECRET_KEY'
  | 'read-only'
  | 'disk full'
  | 'unreachable'

/** Shorter than a balancer waits; a database that does not answer by then is none that requests can be served with. */
const ANSWER_WITHIN_MS = 2_000
const WRITE_EVERY_MS = 5_000
/** Rows that do not fit into the least work memory: PostgreSQL writes them to a temporary file of about a megabyte. */
const ROWS = 30_000

/**
 * Whether requests can be served; looked at once for all who ask at the same time. Reading does not tell whether writing works: every few seconds a row is written, and a
 * temporary file that needs room on the disk, which a row that takes an older one's place does not.
 */
export function databaseState(db: Db, keys: Keys): () => Promise<DatabaseState> {
  let wroteAt = Number.NEGATIVE_INFINITY
  let written: DatabaseState = 'ok'
  let looking: Promise<DatabaseState> | undefined
  const look = async (): Promise<DatabaseState> => {
    try {
      if ((await pendingMigrations(db)).length > 0) return 'migrations pending'
      if ((await isSecretKey(db, keys)) === false) return 'another SECRET_KEY'
      if (performance.now() - wroteAt >= WRITE_EVERY_MS) {
        wroteAt = performance.now()
        written = await tryToWrite(db)
      }
      return written
    } catch (error) {
      return stateOf(error)
    } finally {
      looking = undefined
    }
  }
  return () => {
    looking ??= look()
    return Promise.race([looking, sleep(ANSWER_WITHIN_MS, 'unreachable' as const, { ref: false })])
  }
}

async function tryToWrite(db: Db): Promise<DatabaseState> {
  try {
    await db.tx(async (inside) => {
      await Promise.all([
        inside.exec(sql`select set_config('work_mem', '64kB', true)`),
        inside.exec(sql`select count(*) from generate_series(1, ${ROWS}::int)`),
        inside.exec(sql`update installation set checked_at = now()`),
      ])
    })
    return 'ok'
  } catch (error) {
    return stateOf(error)
  }
}

function stateOf(error: unknown): DatabaseState {
  const { code } = (error instanceof DatabaseUnavailable ? error.cause : error) as { code?: unknown }
  if (code === '42P01') return 'migrations pending'
  if (code === '25006') return 'read-only'
  if (code === '53100') return 'disk full'
  return 'unreachable'
}
