import type pg from 'pg'
import { z } from 'zod'
import { commitInTwoPhases, distribute } from './citus.ts'
import { applyToShard, isMigrated, tablesOfPeople, withLock } from './migrate.ts'
import { rowOf } from './pool.ts'
import { shardsFound } from './shard-count.ts'
import { keysOfShard, schemasOf } from './shards.ts'

/** Moves people to more shards, from `public` or from fewer of them, while no service runs. */

const SET_ASIDE_WITHIN = '10s'

const setAside = (count: number): string[] => Array.from({ length: count }, (_, place) => `moved_${place}_of_${count}`)

/**
 * The rows are set aside under names that no process knows, so that none serves or writes half of them; then copied,
 * one table of one shard per transaction, and compared. If interrupted, it resumes when run again.
 */
export const movePeople = (
  databaseUrl: string,
  shards: number,
  onProgress: (done: number, total: number) => void = () => {},
) =>
  withLock(databaseUrl, async (client) => {
    const { count, moving, target } = await shardsFound(client)
    const from = moving ?? count
    if (from === undefined) throw new Error('there are no people in this database: start the service')
    if (target !== undefined && target !== shards)
      throw new Error(`people are being moved to ${target} shards: set SHARDS=${target}`)
    if (shards <= from) throw new Error(`people are in ${from} already: set SHARDS to a greater power of two`)
    if (moving === undefined) await begin(client, from, shards)
    const schemas = schemasOf(shards)
    await distribute(client, schemas)
    for (const schema of schemas) await applyToShard(client, schema)
    await commitInTwoPhases(client, schemas)
    const tables = tablesOfPeople()
    const rows: Record<string, number> = {}
    for (const [at, table] of tables.entries()) {
      rows[table] = 0
      for (const [place, schema] of schemas.entries()) {
        const source = setAside(from)[Math.floor((place * from) / shards)] ?? ''
        rows[table] += await copy(client, { table, source, schema, keys: keysOfShard(place, shards) })
        onProgress(at * shards + place + 1, tables.length * shards)
      }
    }
    for (const schema of schemas) for (const table of tables) await client.query(`analyze ${schema}.${table}`)
    await client.query(
      setAside(from)
        .map((schema) => `drop schema ${schema} cascade`)
        .join('; '),
    )
    return { from, to: shards, rows }
  })

/** Atomic: from then on no process finds people where they were. */
async function begin(client: pg.Client, from: number, shards: number): Promise<void> {
  const [whole] = setAside(1)
  const schemas = from === 1 ? [undefined] : schemasOf(from)
  for (const schema of schemas) {
    if (!(await isMigrated(client, schema)))
      throw new Error('the schema of the database is not current: run gatehouse migrate first')
  }
  const aside =
    from === 1
      ? [
          `create schema ${whole}`,
          ...tablesOfPeople().map((table) => `alter table public.${table} set schema ${whole}`),
        ]
      : schemasOf(from).map((schema, place) => `alter schema ${schema} rename to ${setAside(from)[place]}`)
  const made = schemasOf(shards).map((schema) => `create schema ${schema}`)
  await client.query([`set lock_timeout = '${SET_ASIDE_WITHIN}'`, 'begin', ...aside, ...made, 'commit'].join('; '))
}

interface Part {
  readonly table: string
  readonly source: string
  readonly schema: string
  readonly keys: ReturnType<typeof keysOfShard>
}

const counted = z.object({ rows: z.coerce.number(), digest: z.string() })

/** Copies the rows of one shard and returns their number. What an earlier run has copied is only compared. */
async function copy(client: pg.Client, { table, source, schema, keys }: Part): Promise<number> {
  const columns = await columnsOf(client, `${schema}.${table}`)
  const where = `routing_key >= ${keys.from} and routing_key < ${keys.below}`
  const look = (of: string) =>
    rowOf(
      client,
      counted,
      `select count(*) as rows, coalesce(sum(hashtextextended(row(${columns})::text, 0)::numeric), 0)::text as digest
       from ${of}.${table} where ${where}`,
    )
  await client.query('begin')
  try {
    const before = await look(source)
    if ((await look(schema)).rows === 0)
      await client.query(
        `insert into ${schema}.${table} (${columns}) select ${columns} from ${source}.${table} where ${where}`,
      )
    const after = await look(schema)
    if (after.rows !== before.rows || after.digest !== before.digest)
      throw new Error(`${schema}.${table} is not what ${source}.${table} is: ${after.rows} rows of ${before.rows}`)
    await client.query('commit')
    return after.rows
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
}

async function columnsOf(client: pg.Client, table: string): Promise<string> {
  const { columns } = await rowOf(
    client,
    z.object({ columns: z.string() }),
    `select string_agg(quote_ident(attname), ', ' order by attname) as columns
     from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
    [table],
  )
  return columns
}
