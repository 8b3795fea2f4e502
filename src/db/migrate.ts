import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runner } from 'node-pg-migrate'
import { z } from 'zod'
import { type Db, sql } from './sql.ts'

const DIRECTORY = fileURLToPath(new URL('../../migrations', import.meta.url))
const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** Applies what is missing, in order, in one transaction; replicas that start together wait for one another. Returns the names applied. */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const applied = await runner({
    databaseUrl,
    dir: DIRECTORY,
    direction: 'up',
    migrationsTable: 'migration',
    advisoryLockMode: 'wait',
    logger: silent,
  })
  return applied.map((migration) => migration.name)
}

/** Names of the migrations that this build knows and the database lacks. */
export async function pendingMigrations(db: Db): Promise<string[]> {
  const known = readdirSync(DIRECTORY)
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.replace(/\.sql$/, ''))
  const applied = await db.many(z.object({ name: z.string() }), sql`select name from migration`)
  const names = new Set(applied.map((row) => row.name))
  return known.filter((name) => !names.has(name))
}
