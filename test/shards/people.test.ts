import { afterAll, beforeAll, expect, it } from 'vitest'
import { listUsers } from '../../src/authorization/account/index.ts'
import { routingKeyOf } from '../../src/authorization/account/wire.ts'
import { shardOf } from '../../src/platform/db/shards.ts'
import type { World } from '../harness.ts'
import { openShards, SHARDS } from './four-shards.ts'

/** A list of people from all shards. */

let world: World
beforeAll(async () => {
  world = await openShards()
})
afterAll(() => world.close())

it('a list over all shards has each person once, in the order of PostgreSQL, page by page', async () => {
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
