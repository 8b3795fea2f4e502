import pg from 'pg'
import { onTestFinished } from 'vitest'
import { freshDatabase } from '../harness.ts'

/** A database without any table, for whoever migrates it; it goes with the test. */
export async function emptyDatabase(): Promise<{ readonly url: string; readonly query: pg.Client['query'] }> {
  const { url, drop } = await freshDatabase()
  onTestFinished(drop)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  const { rows } = await client.query(
    `select nspname as name from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'`,
  )
  for (const { name } of rows) await client.query(`drop schema ${name} cascade`)
  await client.query('create schema public')
  return { url, query: client.query.bind(client) as pg.Client['query'] }
}
