import type pg from 'pg'
import { z } from 'zod'
import { rowOf, withClient } from './pool.ts'

/** How many shards a database has, as the names of its schemas say; SHARDS must match. */

const counts = z.object({
  /** The numbers after `_of_` in the names of shards. */
  shards: z.array(z.number()),
  /** The same for schemas that are set aside, to be moved. */
  moved: z.array(z.number()),
  /** Whether people are in `public`. */
  whole: z.boolean(),
})

const countsOf = (name: string): string =>
  `array(select distinct substring(nspname from '^${name}_\\d+_of_(\\d+)$')::int from pg_namespace where nspname ~ '^${name}_\\d+_of_\\d+$')`

/** `count` is undefined without tables of people. `moving`, `target`: from and to how many shards people are moved. */
export async function shardsFound(client: pg.ClientBase) {
  const { shards, moved, whole } = await rowOf(
    client,
    counts,
    `select ${countsOf('shard')} as shards, ${countsOf('moved')} as moved,
       to_regclass('public.user_profile') is not null as whole`,
  )
  const [moving] = moved
  return { count: whole ? 1 : shards[0], moving, target: moving === undefined ? undefined : shards[0] }
}

/** Undefined without tables of people. Throws if the number differs, or people are being moved: nobody would be found. */
export async function shardsOf(client: pg.ClientBase, wanted: number): Promise<number | undefined> {
  const { count, moving } = await shardsFound(client)
  if (moving !== undefined)
    throw new Error('people are being moved to other shards: run gatehouse shards move-in again, to its end')
  if (count !== undefined && count !== wanted)
    throw new Error(
      `SHARDS is ${wanted}, and the people of this database are in ${count}: set SHARDS=${count}, or move them with gatehouse shards move-in`,
    )
  return count
}

/** Atomic: from then on the database has this number of shards. */
export async function makeSchemas(client: pg.ClientBase, schemas: readonly string[]): Promise<void> {
  if (schemas.length > 0) await client.query(schemas.map((schema) => `create schema ${schema}`).join('; '))
}

/** Throws if the database has never been migrated, or has another number of shards. */
export const checkShards = (databaseUrl: string, shards: number): Promise<void> =>
  withClient(databaseUrl, async (client) => {
    const { rows } = await client.query(`select to_regclass('public.migration') is null as "isEmpty"`)
    if (rows[0]?.isEmpty) throw new Error('the database has no tables yet: run npm run migrate, or set MIGRATE=on')
    await shardsOf(client, shards)
  })
