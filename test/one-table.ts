import type pg from 'pg'

/** CITUS_URL names a superuser's database on a coordinator of Citus: the worlds of tests are then spread over its nodes. */
export const CITUS_URL = process.env.CITUS_URL

/** With TEST_SHARDS, or on Citus, the worlds of tests have so many shards. */
export const SHARDS = Number(process.env.TEST_SHARDS ?? (CITUS_URL ? 4 : 1))

/** For a program that is started with a database of the run. */
export const shardsOf = ({ DATABASE_URL }: Record<string, string>): { SHARDS?: string } =>
  DATABASE_URL === undefined ? {} : { SHARDS: String(SHARDS) }

/**
 * Where statements of tests find people, wherever they are: tables that have those of the shards as their partitions. So a
 * shard also refuses a row of another one's range.
 */
export const EVERYBODY = 'everybody'

/** For a client of a test, whose statements find everybody. */
export function everybodyUrl(databaseUrl: string, shards = SHARDS): string {
  const url = new URL(databaseUrl)
  if (shards > 1) url.searchParams.set('options', `-c search_path=${EVERYBODY},public`)
  return url.href
}

export async function makeWhole(client: pg.ClientBase, shards = SHARDS): Promise<void> {
  if (shards === 1) return
  const schemas = Array.from({ length: shards }, (_, place) => `shard_${place}_of_${shards}`)
  const [first] = schemas
  if (CITUS_URL) await client.query(SAME_DATABASE)
  await client.query(`create schema ${EVERYBODY}`)
  const { rows } = await client.query(
    `select tablename from pg_tables where schemaname = $1 and tablename <> 'migration'`,
    [first],
  )
  for (const { tablename } of rows) {
    const whole = `${EVERYBODY}.${tablename}`
    await client.query(
      `create table ${whole} (like ${first}.${tablename} including defaults) partition by range (routing_key)`,
    )
    for (const [place, schema] of schemas.entries()) {
      const range = 65_536 / shards
      const values = `for values from (${place * range}) to (${(place + 1) * range})`
      await client.query(
        CITUS_URL
          ? `create foreign table ${EVERYBODY}.${tablename}_${place} partition of ${whole} ${values}
             server same_database options (schema_name '${schema}', table_name '${tablename}')`
          : `alter table ${whole} attach partition ${schema}.${tablename} ${values}`,
      )
    }
  }
}

/** Tables that Citus has distributed cannot be partitions of others: what leads to them through the same coordinator can. */
const SAME_DATABASE = `
  set citus.enable_ddl_propagation = off;
  create extension postgres_fdw;
  create server same_database foreign data wrapper postgres_fdw options (host '/nowhere', dbname '', batch_size '100');
  create user mapping for current_user server same_database`

/** A database that was cloned has tables that lead to the one it was cloned from. */
export async function leadWholeTo(client: pg.Client, databaseUrl: string): Promise<void> {
  const { hostname, port, pathname, username, password } = new URL(databaseUrl)
  await client.query(`
    set citus.enable_ddl_propagation = off;
    alter server same_database options (set host '${hostname}', add port '${port}', set dbname '${pathname.slice(1)}');
    alter user mapping for current_user server same_database
      options (add user '${decodeURIComponent(username)}', add password '${decodeURIComponent(password)}')`)
}
