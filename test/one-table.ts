import type pg from 'pg'

/** URL of a superuser on a Citus coordinator: if set, the databases of tests are spread over its nodes. */
export const CITUS_URL = process.env.CITUS_URL

/** How many shards the databases of tests have. */
export const SHARDS = Number(process.env.TEST_SHARDS ?? (CITUS_URL ? 4 : 1))

/** The SHARDS setting for a program that is started on a database of the run. */
export const shardsOf = ({ DATABASE_URL }: Record<string, string>): { SHARDS?: string } =>
  DATABASE_URL === undefined ? {} : { SHARDS: String(SHARDS) }

/**
 * A schema in which statements of tests find the people of all shards: its tables have those of the shards as partitions.
 * Being a partition, a shard also rejects rows outside its range.
 */
export const EVERYBODY = 'everybody'

/** The URL for a client of a test whose statements must find the people of all shards. */
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

/** Tables distributed by Citus cannot be partitions, but foreign tables that reach them through the same coordinator can. */
const SAME_DATABASE = `
  set citus.enable_ddl_propagation = off;
  create extension postgres_fdw;
  create server same_database foreign data wrapper postgres_fdw options (host '/nowhere', dbname '', batch_size '100');
  create user mapping for current_user server same_database`

/** Makes the foreign tables of a cloned database refer to the clone instead of the template. */
export async function leadWholeTo(client: pg.Client, databaseUrl: string): Promise<void> {
  const { hostname, port, pathname, username, password } = new URL(databaseUrl)
  await client.query(`
    set citus.enable_ddl_propagation = off;
    alter server same_database options (set host '${hostname}', add port '${port}', set dbname '${pathname.slice(1)}');
    alter user mapping for current_user server same_database
      options (add user '${decodeURIComponent(username)}', add password '${decodeURIComponent(password)}')`)
}
