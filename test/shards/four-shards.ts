import pg from 'pg'
import { routingKeyOf } from '../../src/authorization/account/wire.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { shardOf } from '../../src/platform/db/shards.ts'
import type { Client, User } from '../acceptance/client.ts'
import { MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'
import { emptied } from './empty-database.ts'

/** The number of shards of these tests, whatever TEST_SHARDS is. */

export const SHARDS = 4

export async function openShards(): Promise<World> {
  const database = await emptied()
  await migrate(database.url, SHARDS)
  return openWorld({ ...MANY_CONNECTIONS, SHARDS: String(SHARDS), AUTHORIZE_PER_MINUTE: '1000000' }, database)
}

/** Creates one person in each shard, in the order of the shards. */
export async function personOfEach(client: Client): Promise<User[]> {
  const people: User[] = []
  while (people.length < SHARDS) {
    const user = await client.makeUser()
    if (shardOf(routingKeyOf(user.cid, user.user_id), SHARDS) === people.length) people.push(user)
  }
  return people
}

/** Locks all tables of a shard while `work` runs, so that no statement can use them. */
export async function withoutShard<T>({ databaseUrl }: World, schema: string, work: () => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: databaseUrl })
  await admin.connect()
  try {
    const { rows } = await admin.query('select tablename as name from pg_tables where schemaname = $1', [schema])
    const tables = rows.map(({ name }) => `${schema}.${name}`)
    await admin.query('begin')
    await admin.query(`lock table ${tables.join(', ')} in access exclusive mode`)
    return await work()
  } finally {
    await admin.end()
  }
}
