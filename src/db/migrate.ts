import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { runMigrations as installJobs, Logger } from 'graphile-worker'
import { runner } from 'node-pg-migrate'
import pg from 'pg'
import { z } from 'zod'
import { type Db, sql } from './sql.ts'

const DIRECTORY = fileURLToPath(new URL('../../migrations', import.meta.url))
const silent = { debug() {}, info() {}, warn() {}, error() {} }

/**
 * The statements of a migration. Each ends with a semicolon at the end of a line; a function body with such lines would be
 * cut in two.
 */
export const statementsOf = (source: string): string[] =>
  source
    .replace(/--.*$/gm, '')
    .split(/;[ \t]*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')

/** Sent one by one: sharded engines refuse several changes of the schema in one message. */
const loadStatements = (files: string[]) =>
  Promise.all(
    files.map(async (file) => {
      const statements = statementsOf(await readFile(file, 'utf8'))
      const up = (builder: { sql(statement: string): void }) => {
        for (const statement of statements) builder.sql(statement)
      }
      return { id: file, filePaths: [file], actions: { up, down: false as const } }
    }),
  )

/** Applies what is missing, in order, in one transaction; replicas that start together wait for one another. Returns the names applied. */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const applied = await runner({
    databaseUrl,
    dir: DIRECTORY,
    direction: 'up',
    migrationsTable: 'migration',
    advisoryLockMode: 'wait',
    migrationLoaderStrategies: [{ extensions: ['.sql'], loader: loadStatements }],
    logger: silent,
  })
  await withLock(databaseUrl, () => installJobs({ connectionString: databaseUrl, logger: noLogger }))
  return applied.map((migration) => migration.name)
}

const noLogger = new Logger(() => () => {})
// Any number that nothing else in this database uses as an advisory lock.
const INSTALLING = 7_001_002

/** The job queue's schema (graphile_worker) has a version of its own and nothing that makes replicas wait. */
async function withLock(databaseUrl: string, work: () => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(`select pg_advisory_lock(${INSTALLING})`)
    await work()
  } finally {
    await client.end()
  }
}

let known: readonly string[] | undefined

/** Names of the migrations that this build knows and the database lacks. */
export async function pendingMigrations(db: Db): Promise<string[]> {
  known ??= readdirSync(DIRECTORY)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.replace(/\.sql$/, ''))
  const applied = await db.many(z.object({ name: z.string() }), sql`select name from migration`)
  const names = new Set(applied.map((row) => row.name))
  return known.filter((name) => !names.has(name))
}
