import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { runner } from 'node-pg-migrate'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { migrate, statementsOf } from '../../src/platform/db/migrate.ts'
import { freshDatabase } from '../harness.ts'

/** Databases of 1.0.0 and later are upgraded (OPERATIONS "Upgrades"): what was released of the schema stays as it was. */

/** SHA-256 of each migration of a release. It has been applied somewhere: what changes comes with a new file. */
const RELEASED: Readonly<Record<string, string>> = {
  '0001_platform.sql': 'f94bf05e0520fc20230e30dd3f5ae4586e2e0b1c69d5c84f60f0cf23839021f0',
  '0002_authorization.sql': 'e9e2a2567871bf777637f5c0ef7ef5e3df8dc4e3a1c864b92343fdd5e8adb6f9',
  '0003_ticketing.sql': '8e472556164f1850f077425a4f4635c30ee4c6257af0db95c71a67cf0a014948',
  '0004_sandbox.sql': '500acebfed8a9d5eef74923b538ec36a7b1efae43e7e3b5ba148303702cba020',
  '0005_operations.sql': 'd5a5e3d8977af40bca96dfd2a50d71dcb28b9c41a1dcd764a74271eb18e377d9',
}

const FOLDER = new URL('../../migrations/', import.meta.url)
const digestOf = (file: string): string =>
  createHash('sha256')
    .update(readFileSync(new URL(file, FOLDER)))
    .digest('hex')

it('a migration that was released is not changed, and none comes before it', () => {
  const names = Object.keys(RELEASED)
  const first = readdirSync(FOLDER).sort().slice(0, names.length)
  expect(Object.fromEntries(first.map((file) => [file, digestOf(file)]))).toEqual(RELEASED)
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

it('a database of 1.0.0 with rows in every table becomes one of today, and keeps them', async () => {
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
  const empty = Object.keys(before).filter((table) => before[table]?.length === 0)
  expect(empty).toEqual([])

  const added = readdirSync(FOLDER).length - Object.keys(RELEASED).length
  expect(await migrate(url)).toHaveLength(added)
  expect(await rowsOf(client)).toMatchObject(before)
})
