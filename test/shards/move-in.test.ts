import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { migrate } from '../../src/platform/db/migrate.ts'
import { movePeople } from '../../src/platform/db/move-people.ts'
import { checkShards } from '../../src/platform/db/shard-count.ts'
import { type App, Client, dataOf, tokenSetOf, type User } from '../acceptance/client.ts'
import { injectWire } from '../acceptance/http.ts'
import { gatehouse } from '../cli-runner.ts'
import { openWorld, SECRET_KEY } from '../harness.ts'
import { SHORT_LIVED } from '../start-options.ts'
import { emptyDatabase } from './empty-database.ts'

/** Moving people to more shards while no service runs. */

const PEOPLE = 12

interface Held {
  readonly user: User
  readonly access_token: string
  readonly refresh_token: string
}

it('moves everybody, can be resumed, and keeps their tokens, passwords and consents working', async () => {
  const database = await emptyDatabase()
  const { url, query } = database
  await migrate(url)
  const open = async (shards: number) => {
    const world = await openWorld({ SHARDS: String(shards) }, { url, drop: async () => {} })
    return { world, client: new Client(injectWire(world.app), world.deps.config.PUBLIC_URL) }
  }
  const before = await open(1)
  const app: App = await before.client.makeApp()
  const held: Held[] = []
  for (let n = 0; n < PEOPLE; n++) {
    const user = await before.client.makeUser()
    held.push({ user, ...(await before.client.getTokens(await before.client.signedIn(user, app), app)) })
  }
  const settings = { DATABASE_URL: url, SECRET_KEY, NODE_ENV: 'test' }

  const brokenOff = movePeople(url, 4, (done) => {
    if (done === 9) throw new Error('broken off')
  })
  await expect(brokenOff).rejects.toThrow('broken off')
  for (const shards of [1, 4]) await expect(checkShards(url, shards)).rejects.toThrow('people are being moved')
  await expect(migrate(url, 4)).rejects.toThrow('people are being moved')
  await expect(movePeople(url, 8)).rejects.toThrow('people are being moved to 4 shards: set SHARDS=4')

  for (const [program, says] of [
    ['main.js', 'Gatehouse cannot start:\n  the database cannot be used: '],
    ['worker.js', 'The worker cannot run:\n  '],
  ] as const) {
    const started = spawnSync(process.execPath, [...SHORT_LIVED, `.build/${program}`], {
      cwd: new URL('../..', import.meta.url).pathname,
      env: { ...settings, SHARDS: '4', PATH: process.env.PATH, PORT: '0', LOG_LEVEL: 'error' },
      encoding: 'utf8',
    })
    const why = 'people are being moved to other shards: run gatehouse shards move-in again, to its end\n'
    expect([started.status, started.stderr]).toEqual([1, `${says}${why}`])
  }

  let running = before
  /** A process with the former number of shards serves nobody, and is not ready. */
  const isOver = async () => {
    const { world, client } = running
    const [{ access_token }] = held as [Held]
    expect((await client.userInfo(access_token)).text).not.toContain('"rescode":0')
    expect((await world.app.inject('/readyz')).json()).toEqual({ status: 'migrations pending' })
    await world.close()
  }
  const moved = await gatehouse({ ...settings, SHARDS: '4' }, 'shards', 'move-in', '--json')
  expect(moved).toMatchObject({ code: 0 })
  expect(JSON.parse(moved.stdout)).toMatchObject({ from: 1, to: 4, rows: { user_profile: PEOPLE, user_grant: PEOPLE } })
  for (const shards of [4, 8]) {
    if (shards === 8) expect(await movePeople(url, 8)).toMatchObject({ from: 4, to: 8, rows: { user_profile: PEOPLE } })
    await isOver()
    expect(await migrate(url, shards)).toEqual([])
    running = await open(shards)
    const { client } = running
    for (const { user, access_token, refresh_token } of held) {
      expect(dataOf(await client.userInfo(access_token))).toMatchObject({ uinfo: { user_id: user.user_id } })
      tokenSetOf(await client.refresh(app, refresh_token))
      await client.signedIn(user, app)
    }
  }
  await running.world.close()
  await expect(movePeople(url, 4)).rejects.toThrow('people are in 8 already')
  const { rows } = await query(`select nspname from pg_namespace where nspname ~ '^(moved|shard_\\d+_of_4)'`)
  expect(rows).toEqual([])
})

it('stops if a copied table differs, and can be resumed once that is fixed', async () => {
  const { url, query } = await emptyDatabase()
  await migrate(url)
  await query(`insert into user_profile (routing_key, cid, user_id, name, gender, big_avatar_url, status, created_at)
               values (3, 1, 'a', 'A', '0', '', 'active', now())`)
  await expect(
    movePeople(url, 2, (done) => {
      if (done === 2) throw new Error('broken off')
    }),
  ).rejects.toThrow('broken off')
  await query(`update shard_0_of_2.user_profile set name = 'B'`)
  await expect(movePeople(url, 2)).rejects.toThrow(
    'shard_0_of_2.user_profile is not what moved_0_of_1.user_profile is: 1 rows of 1',
  )
  await query(`delete from shard_0_of_2.user_profile`)
  expect(await movePeople(url, 2)).toMatchObject({ rows: { user_profile: 1 } })
})
