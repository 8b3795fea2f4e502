import type pg from 'pg'

/** With TEST_SHARDS the worlds of tests have so many shards. */
export const SHARDS = Number(process.env.TEST_SHARDS ?? 1)

/** For a program that is started with a database of the run. */
export const shardsOf = ({ DATABASE_URL }: Record<string, string>): { SHARDS?: string } =>
  DATABASE_URL === undefined ? {} : { SHARDS: String(SHARDS) }

/**
 * Where statements of tests find people, wherever they are: tables that have those of the shards as their partitions. So a
 * shard also refuses a row of another one's range.
 */
export const EVERYBODY = 'everybody'

/** For a client of a test, whose statements find everybody. */
export function everybodyUrl(databaseUrl: string): string {
  const url = new URL(databaseUrl)
  if (SHARDS > 1) url.searchParams.set('options', `-c search_path=${EVERYBODY},public`)
  return url.href
}

export async function makeWhole(client: pg.Client): Promise<void> {
  if (SHARDS === 1) return
  const schemas = Array.from({ length: SHARDS }, (_, place) => `shard_${place}_of_${SHARDS}`)
  const [first] = schemas
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
      const range = 65_536 / SHARDS
      await client.query(
        `alter table ${whole} attach partition ${schema}.${tablename} for values from (${place * range}) to (${(place + 1) * range})`,
      )
    }
  }
}
