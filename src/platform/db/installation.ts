import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { adoptKey, fingerprintOf, type Keys } from '../lib/crypto/keys.ts'
import { DatabaseUnavailable } from '../lib/database-errors.ts'
import { cutTo } from '../lib/storable.ts'
import { pendingForPeople, pendingMigrations } from './migrate.ts'
import { schemasOf } from './shards.ts'
import { type Db, sql } from './sql.ts'

/** State of the database as a whole: which SECRET_KEY it has, and whether it is usable. */

/** Whether `keys` include the database's current key, which they then adopt; undefined while the database records none. */
export async function isSecretKey(db: Db, keys: Keys): Promise<boolean | undefined> {
  const fingerprint = await db.maybeValue(z.instanceof(Buffer), sql`select secret_key_fingerprint from installation`)
  return fingerprint && adoptKey(keys, fingerprint)
}

/** Records the key that the database is created with, unless it has one: of simultaneous callers the first wins. */
export const keepFingerprint = (db: Db, keys: Keys): Promise<number> =>
  db.exec(sql`insert into installation (secret_key_fingerprint) values (${fingerprintOf(keys)}) on conflict do nothing`)

const ANOTHER_KEY =
  'this database was made with another SECRET_KEY: start with that one, or to replace it give it in SECRET_KEYS_OLD; with any other, tokens, app_secrets and clientSecrets would all be refused'

// PostgreSQL, appendix A: undefined_table. Before the migrations there is nothing to compare with.
const UNDEFINED_TABLE = '42P01'

/** Throws if the database was made with a key that is not among ours. A new one is bound to the first key that it sees. */
export async function checkSecretKey({ db, keys }: { readonly db: Db; readonly keys: Keys }): Promise<void> {
  try {
    if ((await isSecretKey(db, keys)) === undefined) await keepFingerprint(db, keys)
    if ((await isSecretKey(db, keys)) === false) throw new Error(ANOTHER_KEY)
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNDEFINED_TABLE) throw error
  }
}

export const keepPurged = (db: Db, now: Date): Promise<number> =>
  db.exec(sql`update installation set purged_at = ${now}`)

/** When a purge last completed; before the first one, when the database got this column. */
export const lastPurge = (db: Db): Promise<Date | undefined> =>
  db.maybeValue(z.date(), sql`select purged_at from installation`)

/** Seconds after which every process has adopted the current key of the database. */
export const KEY_FOLLOWED_WITHIN_S = 5

/** Makes SECRET_KEY the current key of all processes; false if it is already. */
export const replaceKey = async (db: Db, { newest }: Keys, now: Date): Promise<boolean> =>
  (await db.exec(
    sql`update installation set secret_key_fingerprint = ${fingerprintOf(newest)}, makes_since = ${now}
        where secret_key_fingerprint <> ${fingerprintOf(newest)}`,
  )) === 1

/** Since when the current key is in use, which this process adopts first; null: since the database was created. */
export async function currentKeySince(db: Db, keys: Keys): Promise<Date | null> {
  await isSecretKey(db, keys)
  return db.value(z.date().nullable(), sql`select makes_since from installation`)
}

export interface DatabaseState {
  /** Schemas of unavailable shards: only their people are not served. */
  readonly shards_away?: readonly string[]
  readonly status: 'ok' | 'migrations pending' | 'another SECRET_KEY' | 'read-only' | 'disk full' | 'unreachable'
  /** For operators: the database's message, or what is missing. */
  readonly why?: string
}

const OK: DatabaseState = { status: 'ok' }
const SILENT: DatabaseState = { status: 'unreachable', why: 'it does not answer within 2 s' }

const MAX_WHY_LENGTH = 300
const MAX_NAMED = 3

const missing = (pending: readonly string[]): string =>
  `${pending.slice(0, MAX_NAMED).join(', ')}${pending.length > MAX_NAMED ? ` and ${pending.length - MAX_NAMED} more` : ''}`

/** Shorter than a load balancer waits; a database that does not answer by then cannot serve requests. */
const ANSWER_WITHIN_MS = 2_000
const WRITE_EVERY_MS = 5_000
/** More rows than fit into the smallest work_mem: PostgreSQL writes them to a temporary file of about a megabyte. */
const SPILLED_ROWS = 30_000

/**
 * Whether requests can be served; simultaneous callers share one check. Every few seconds a row is written, and a
 * temporary file: that one needs disk space, while an updated row may not.
 */
export function databaseState(db: Db, keys: Keys): () => Promise<DatabaseState> {
  let wroteAt = Number.NEGATIVE_INFINITY
  let written = OK
  let running: Promise<DatabaseState> | undefined
  const isSharded = db.shards().length > 1
  const look = async (): Promise<DatabaseState> => {
    try {
      const pending = await (isSharded ? pendingMigrations : pendingForPeople)(db)
      if (pending.length > 0) return { status: 'migrations pending', why: missing(pending) }
      if ((await isSecretKey(db, keys)) === false) return { status: 'another SECRET_KEY' }
      if (performance.now() - wroteAt >= WRITE_EVERY_MS) {
        wroteAt = performance.now()
        written = await tryToWrite(db)
      }
      return written.status === 'ok' && isSharded ? await stateOfShards(db) : written
    } catch (error) {
      return stateOf(error)
    } finally {
      running = undefined
    }
  }
  return () => {
    running ??= look()
    return Promise.race([running, sleep(ANSWER_WITHIN_MS, SILENT, { ref: false })])
  }
}

const SHARD_WITHIN_MS = 1_500
const NO_ANSWER = 'it does not answer within 1.5 s'

interface ShardState {
  readonly schema: string
  /** Undefined if the shard is unavailable. */
  readonly pending: readonly string[] | undefined
  readonly why?: string | undefined
}

/** The state of each shard, within a time limit; empty without shards. */
export const statesOfShards = async (db: Db): Promise<ShardState[]> => {
  const shards = db.shards()
  return Promise.all(
    schemasOf(shards.length).map(async (schema, place) => {
      const look = shards[place] && pendingForPeople(shards[place])
      const inTime = Promise.race([look, sleep(SHARD_WITHIN_MS, undefined, { ref: false })])
      return inTime.then(
        (pending) => ({ schema, pending, ...(pending ? {} : { why: NO_ANSWER }) }),
        (error: unknown) => ({ schema, pending: undefined, why: stateOf(error).why }),
      )
    }),
  )
}

/** One shard that is away leaves the others ready. */
async function stateOfShards(db: Db): Promise<DatabaseState> {
  const states = await statesOfShards(db)
  const pending = states.flatMap((state) => state.pending ?? [])
  if (pending.length > 0) return { status: 'migrations pending', why: missing([...new Set(pending)]) }
  const away = states.filter((state) => state.pending === undefined)
  if (away.length === 0) return OK
  const why = cutTo(away.map((state) => `${state.schema}: ${state.why}`).join('; '), MAX_WHY_LENGTH)
  if (away.length === states.length) return { status: 'unreachable', why }
  return { status: 'ok', shards_away: away.map(({ schema }) => schema), why }
}

async function tryToWrite(db: Db): Promise<DatabaseState> {
  try {
    await db.tx(async (inside) => {
      await Promise.all([
        inside.exec(sql`select set_config('work_mem', '64kB', true)`),
        inside.exec(sql`select count(*) from generate_series(1, ${SPILLED_ROWS}::int)`),
        inside.exec(sql`update installation set checked_at = now()`),
      ])
    })
    return OK
  } catch (error) {
    return stateOf(error)
  }
}

function stateOf(error: unknown): DatabaseState {
  const cause = error instanceof DatabaseUnavailable ? error.cause : error
  const { code, message = '' } = cause as { code?: unknown; message?: string }
  const why = cutTo(message, MAX_WHY_LENGTH)
  if (code === '42P01') return { status: 'migrations pending', why }
  if (code === '25006') return { status: 'read-only', why }
  if (code === '53100') return { status: 'disk full', why }
  return { status: 'unreachable', why }
}
