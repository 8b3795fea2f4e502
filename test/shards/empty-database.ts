import pg from 'pg'
import { onTestFinished } from 'vitest'
import { EMPTY_TEMPLATE } from '../database.ts'
import { freshDatabase } from '../harness.ts'
import { CITUS_URL } from '../one-table.ts'

/** A database without any tables, for tests that migrate it themselves. */
export async function emptied(): ReturnType<typeof freshDatabase> {
  if (CITUS_URL) return freshDatabase(EMPTY_TEMPLATE)
  const database = await freshDatabase()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const { rows } = await client.query(
    `select nspname as name from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'`,
  )
  for (const { name } of rows) await client.query(`drop schema ${name} cascade`)
  await client.query('create schema public').finally(() => client.end())
  return database
}

/** The same, dropped after the test. */
export async function emptyDatabase(): Promise<{ readonly url: string; readonly query: pg.Client['query'] }> {
  const { url, drop } = await emptied()
  onTestFinished(drop)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return { url, query: client.query.bind(client) as pg.Client['query'] }
}
