import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { runner } from 'node-pg-migrate'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { migrate, statementsOf } from '../../src/platform/db/migrate.ts'
import { freshDatabase } from '../harness.ts'

/** Databases of 1.0.0 and later can be upgraded (OPERATIONS "Upgrades"), so released migrations never change. */

const FOLDER = new URL('../../migrations/', import.meta.url)
const digestOf = (file: string): string =>
  createHash('sha256')
    .update(readFileSync(new URL(file, FOLDER)))
    .digest('hex')

/**
 * SHA-256 of each released migration. These have been applied somewhere, so changes need a new file. `RELEASE=write`
 * records the current ones; use it only for the commit of a release.
 */
const RECORD = new URL('released.json', import.meta.url)
const today = Object.fromEntries(
  readdirSync(FOLDER)
    .sort()
    .map((file) => [file, digestOf(file)]),
)
if (process.env.RELEASE === 'write') writeFileSync(RECORD, `${JSON.stringify(today, null, 2)}\n`)
const RELEASED: Readonly<Record<string, string>> = JSON.parse(readFileSync(RECORD, 'utf8'))

it('released migrations are unchanged, and new ones come after them', () => {
  const count = Object.keys(RELEASED).length
  expect(Object.fromEntries(Object.entries(today).slice(0, count))).toEqual(RELEASED)
})

async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

async function rowsOf(client: pg.Client): Promise<Record<string, unknown[]>> {
  const { rows } = await client.query(`select tablename as name from pg_tables where schemaname = 'public' order by 1`)
  const tables: Record<string, unknown[]> = {}
  for (const { name } of rows) {
    if (name === 'migration') continue
    const found = await client.query(`select to_jsonb(t) as row from ${name} t order by ctid`)
    tables[name] = found.rows.map(({ row }) => row)
  }
  return tables
}

it('a database of 1.0.0 is migrated to the current schema and keeps its rows', async () => {
  const { url, drop } = await freshDatabase()
  onTestFinished(drop)
  const client = await connectTo(url)
  await client.query('drop schema public cascade; create schema public')
  await runner({
    dbClient: client,
    dir: FOLDER.pathname,
    direction: 'up',
    migrationsTable: 'migration',
    count: Object.keys(RELEASED).length,
    log: () => {},
  })
  for (const statement of statementsOf(readFileSync(new URL('rows-1.0.0.sql', import.meta.url), 'utf8')))
    await client.query(statement)
  const before = await rowsOf(client)
  expect(Object.values(before).flat().length).toBeGreaterThan(100)

  const added = Object.keys(today).length - Object.keys(RELEASED).length
  expect(await migrate(url)).toHaveLength(added)
  expect(await rowsOf(client)).toMatchObject(before)
})
