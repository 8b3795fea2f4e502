import pg from 'pg'
import { onTestFinished } from 'vitest'
import { EMPTY_TEMPLATE } from '../database.ts'
import { freshDatabase } from '../harness.ts'
import { CITUS_URL } from '../one-table.ts'

/** A database without any table, for whoever migrates it; it goes with the test. */
export async function emptyDatabase(): Promise<{ readonly url: string; readonly query: pg.Client['query'] }> {
  const { url, drop } = await (CITUS_URL ? freshDatabase(EMPTY_TEMPLATE) : freshDatabase())
  onTestFinished(drop)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  if (!CITUS_URL) await removeAll(client)
  return { url, query: client.query.bind(client) as pg.Client['query'] }
}

async function removeAll(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `select nspname as name from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'`,
  )
  for (const { name } of rows) await client.query(`drop schema ${name} cascade`)
  await client.query('create schema public')
}
