import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listUsers, routingKeyOf } from '../../src/authorization/account/index.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { shardOf } from '../../src/platform/db/shards.ts'
import { Client, dataOf, type TokenSet, type User } from '../acceptance/client.ts'
import { injectWire } from '../acceptance/http.ts'
import { freshDatabase, MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'

/** People of four shards, in one service. */

const SHARDS = 4

async function openShards(): Promise<World> {
  const database = await freshDatabase()
  const admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
  const { rows } = await admin.query(
    `select nspname as name from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'`,
  )
  for (const { name } of rows) await admin.query(`drop schema ${name} cascade`)
  await admin.query('create schema public').finally(() => admin.end())
  await migrate(database.url, SHARDS)
  return openWorld({ ...MANY_CONNECTIONS, SHARDS: String(SHARDS) }, database)
}

let world: World
let client: Client
beforeAll(async () => {
  world = await openShards()
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
})
afterAll(() => world.close())

const placeOf = ({ cid, user_id }: User) => shardOf(routingKeyOf(cid, user_id), SHARDS)

async function personOfEach(): Promise<User[]> {
  const people: User[] = []
  while (people.length < SHARDS) {
    const user = await client.makeUser()
    if (placeOf(user) === people.length) people.push(user)
  }
  return people
}

describe('one shard that cannot be used', () => {
  it('is 503 for its people, with Retry-After; others are served, and /readyz says which', async () => {
    const app = await client.makeApp()
    const people = await personOfEach()
    const tokens: TokenSet[] = []
    for (const user of people) tokens.push(await client.getTokens(await client.signedIn(user, app), app))
    const admin = new pg.Client({ connectionString: world.databaseUrl })
    await admin.connect()
    try {
      const { rows } = await admin.query(`select tablename as name from pg_tables where schemaname = 'shard_1_of_4'`)
      await admin.query('begin')
      await admin.query(
        `lock table ${rows.map(({ name }) => `shard_1_of_4.${name}`).join(', ')} in access exclusive mode`,
      )
      const answers = await Promise.all(tokens.map(({ access_token }) => client.userInfo(access_token)))
      expect(answers.map(({ status }) => status)).toEqual([200, 503, 200, 200])
      expect(answers[1]?.headers['retry-after']).toBeDefined()
      for (const place of [0, 2, 3]) dataOf(answers[place] as never)
      const ready = await world.app.inject('/readyz')
      expect([ready.statusCode, ready.json()]).toEqual([200, { status: 'ok', shards_away: ['shard_1_of_4'] }])
    } finally {
      await admin.end()
    }
    await expect.poll(async () => (await world.app.inject('/readyz')).json()).toEqual({ status: 'ok' })
    dataOf(await client.userInfo(tokens[1]?.access_token ?? ''))
  })
})

describe('a list over people of all shards', () => {
  it('has each once, in the order of PostgreSQL, page by page', async () => {
    const ids = Array.from({ length: 40 }, (_, n) => `${n % 2 ? 'b' : 'B'}-${n % 3 ? 'ä' : 'z'}-${n}`)
    const created_at = world.clock.now()
    for (const user_id of ids) {
      const key = routingKeyOf(9, user_id)
      await world.pool.query(
        `insert into shard_${shardOf(key, SHARDS)}_of_4.user_profile
           (routing_key, cid, user_id, name, gender, big_avatar_url, status, created_at)
         values ($1, 9, $2, 'page by page', '0', '', 'active', $3)`,
        [key, user_id, created_at],
      )
      await world.pool.query(
        `insert into user_credential (passport, password_hash, routing_key, cid, user_id) values ($2, '', $1, 9, $2)`,
        [key, user_id],
      )
    }
    const { rows } = await world.pool.query(`select id from unnest($1::text[]) id order by id`, [ids])
    const found: string[] = []
    let after: string | undefined
    do {
      const page = await listUsers(
        world.deps,
        listUsers.input.parse({ name: 'page', limit: 7, ...(after ? { after } : {}) }),
      )
      found.push(...page.users.map(({ user_id }) => user_id))
      after = page.next ?? undefined
    } while (after)
    expect(found).toEqual(rows.map(({ id }) => id))
  })
})
