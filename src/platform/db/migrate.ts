import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { z } from 'zod'
import { ROOT } from '../lib/root.ts'
import { commitInTwoPhases, distribute } from './citus.ts'
import { makeNeededSettings, rowOf, withClient } from './pool.ts'
import { makeSchemas, shardsOf } from './shard-count.ts'
import { schemasOf } from './shards.ts'
import { type Db, sql } from './sql.ts'

const DIRECTORY = fileURLToPath(new URL('migrations', ROOT))
const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** The statements of a migration, each ended by a semicolon at the end of a line; function bodies must have none. */
export const statementsOf = (source: string): string[] =>
  source
    .replace(/--.*$/gm, '')
    .split(/;[ \t]*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')

/** These lines of a migration mark tables of people, which each shard has; all other tables are in `public`. */
const MARKS = /^-- (For each shard|For all)\..*$/m
type Part = 'all' | 'public' | 'shard'

function partOf(source: string, part: Part): string {
  if (part === 'all') return source
  const [before = '', ...marked] = source.split(MARKS)
  const wanted = part === 'shard' ? 'For each shard' : 'For all'
  const texts = marked.flatMap((text, at) => (at % 2 === 1 && marked[at - 1] === wanted ? [text] : []))
  return [...(part === 'public' ? [before] : []), ...texts].join('\n')
}

/** Sent one by one: sharded engines refuse several schema changes in one message. */
const loadStatementsOf = (part: Part) => (files: string[]) =>
  Promise.all(
    files.map(async (file) => {
      const statements = statementsOf(partOf(await readFile(file, 'utf8'), part))
      const up = (builder: { sql(statement: string): void }) => {
        for (const statement of statements) builder.sql(statement)
      }
      return { id: file, filePaths: [file], actions: { up, down: false as const } }
    }),
  )

/**
 * Applies pending migrations in order, each file in its own transaction, so that none keeps tables locked longer than
 * it needs; replicas wait for one another. Each shard has its own record of migrations, so an interrupted run resumes.
 * Returns the names applied. `onLocked`: a table is locked, and the migration is tried again.
 */
export const migrate = (databaseUrl: string, shards = 1, onLocked?: OnLocked): Promise<string[]> =>
  withLock(databaseUrl, async (client) => {
    const schemas = schemasOf(shards)
    if ((await shardsOf(client, shards)) === undefined) await makeSchemas(client, schemas)
    const applied = await apply(client, schemas.length > 0 ? 'public' : 'all', undefined, onLocked)
    await distribute(client, schemas)
    for (const schema of schemas) applied.push(...(await applyToShard(client, schema, onLocked)))
    if ((await queueVersion(client)) !== QUEUE_VERSION) await installJobs(databaseUrl)
    await commitInTwoPhases(client, schemas)
    return applied
  })

/** The schema must exist. */
export const applyToShard = (client: pg.Client, schema: string, onLocked?: OnLocked): Promise<string[]> =>
  apply(client, 'shard', schema, onLocked)

type OnLocked = (message: string) => void

/**
 * Whoever wants a table waits behind a migration that waits for it, say for the end of a dump. So a migration gives way
 * before the service's own `lock_timeout`, and tries again.
 */
const LOCK_TIMEOUT = '1s'
const LOCK_PAUSE_MS = 2_000
// PostgreSQL, appendix A: lock_not_available.
const NO_LOCK = '55P03'
const LOCK_ATTEMPTS = 100
const LOCKED = 'a migration waits for a lock that another session holds (see pg_locks, pg_stat_activity): trying again'

/** Returns the names applied. The migration runner is loaded only when needed: it is a tenth of what a start loads. */
async function apply(dbClient: pg.Client, part: Part, schema?: string, onLocked?: OnLocked): Promise<string[]> {
  const missing = await missingIn(dbClient, schema)
  if (missing.length === 0) return []
  const { runner } = await import('node-pg-migrate')
  const run = () =>
    runner({
      dbClient,
      ...(schema === undefined ? {} : { schema: [schema, 'public'] }),
      dir: DIRECTORY,
      direction: 'up',
      migrationsTable: 'migration',
      advisoryLockMode: 'wait',
      singleTransaction: false,
      migrationLoaderStrategies: [{ extensions: ['.sql'], loader: loadStatementsOf(part) }],
      logger: silent,
    })
  await dbClient.query(`set lock_timeout = '${LOCK_TIMEOUT}'`)
  for (let attempt = 1; ; attempt++) {
    try {
      await run()
      await dbClient.query('reset lock_timeout')
      return missing
    } catch (error) {
      if ((error as { code?: unknown }).code !== NO_LOCK || attempt === LOCK_ATTEMPTS) throw error
      await dbClient.query('rollback')
      onLocked?.(LOCKED)
      await sleep(LOCK_PAUSE_MS)
    }
  }
}

/** The last schema migration of this version of graphile-worker (a test compares them). */
export const QUEUE_VERSION = 19

const queueVersion = async (client: pg.Client): Promise<number | null> =>
  (await hasTable(client, 'graphile_worker.migrations'))
    ? (await rowOf(client, version, 'select max(id) as version from graphile_worker.migrations')).version
    : null

const version = z.object({ version: z.number().nullable() })

async function hasTable(client: pg.Client, name: string): Promise<boolean> {
  const { found } = await rowOf(client, existence, 'select to_regclass($1) is not null as found', [name])
  return found
}

const existence = z.object({ found: z.boolean() })

/** The job queue's schema (graphile_worker) has its own versions, and nothing of its own that makes replicas wait. */
async function installJobs(databaseUrl: string): Promise<void> {
  const { Logger, runMigrations } = await import('graphile-worker') // a tenth of what a start would load
  const pgPool = new pg.Pool({ connectionString: databaseUrl, max: 1, onConnect: makeNeededSettings })
  // The caller gets the statement's error; graphile-worker warns about pools without a listener.
  pgPool.on('error', () => {}).on('connect', (client) => client.on('error', () => {}))
  await runMigrations({ pgPool, logger: new Logger(() => () => {}) }).finally(() => pgPool.end())
}

// An arbitrary number that nothing else in this database uses as an advisory lock.
const INSTALLING = 7_001_002

export const withLock = <T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> =>
  withClient(databaseUrl, async (client) => {
    await makeNeededSettings(client)
    await client.query(`select pg_advisory_lock(${INSTALLING})`)
    return work(client)
  })

/** Cache: names of the migrations that this build knows. */
let known: readonly string[] | undefined
const migrationRow = z.object({ name: z.string() })

const migrationFiles = (): string[] =>
  readdirSync(DIRECTORY)
    .filter((file) => file.endsWith('.sql'))
    .sort()

function unapplied(applied: readonly z.infer<typeof migrationRow>[]): string[] {
  known ??= migrationFiles().map((file) => file.replace(/\.sql$/, ''))
  const names = new Set(applied.map((row) => row.name))
  return known.filter((name) => !names.has(name))
}

export const tablesOfPeople = (): string[] =>
  migrationFiles().flatMap((file) => {
    const source = partOf(readFileSync(`${DIRECTORY}/${file}`, 'utf8'), 'shard')
    return [...source.matchAll(/^create table (\w+)/gm)].flatMap(([, table]) => table ?? [])
  })

/** The first migration of versions before 1.0.0, whose tables cannot be migrated. */
const BEFORE_FIRST_RELEASE = '0001_registry'

export const isMigrated = async (client: pg.Client, schema?: string): Promise<boolean> =>
  (await missingIn(client, schema)).length === 0

async function missingIn(client: pg.Client, schema?: string): Promise<string[]> {
  const table = schema === undefined ? 'migration' : `${schema}.migration`
  if (!(await hasTable(client, table))) return unapplied([])
  const applied = migrationRow.array().parse((await client.query(`select name from ${table}`)).rows)
  if (applied.some(({ name }) => name === BEFORE_FIRST_RELEASE)) {
    throw new Error(
      'its tables were made by a version before 1.0.0, which cannot be upgraded: use an empty database (or another DATA_DIR)',
    )
  }
  return unapplied(applied)
}

export const pendingMigrations = async (db: Db): Promise<string[]> =>
  unapplied(await db.many(migrationRow, sql`select name from migration`))

/** Migrations that the tables of people lack, here or in a shard: all of them once people were moved to other shards. */
export const pendingForPeople = async (db: Db): Promise<string[]> => {
  // Asked by name, a node of Citus would not apply the search_path.
  const found = await db.value(z.boolean(), sql`select to_regclass('user_profile') is not null as found`)
  return found ? pendingMigrations(db) : unapplied([])
}
