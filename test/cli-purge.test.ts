import { afterAll, beforeAll, expect, it } from 'vitest'
import { gatehouse } from './cli-runner.ts'
import { openWorld, SECRET_KEY, type World } from './harness.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const purge = (...args: string[]) => gatehouse({ DATABASE_URL: world.databaseUrl, SECRET_KEY }, 'purge', ...args)
const fill = (count: number) =>
  world.pool.query(
    `insert into access_token (routing_key, token_hash, grant_id, scopes, expires_at)
     select i % 65536, sha256(i::text::bytea), gen_random_uuid(), '{}', now() - interval '2 hours'
     from generate_series(1, $1::int) i`,
    [count],
  )

it('gatehouse purge deletes expired rows and says how many', async () => {
  await fill(2_500)
  expect(await purge()).toEqual({ code: 0, stdout: 'access_token  2500\n', stderr: '' })
  expect(await purge()).toEqual({ code: 0, stdout: 'nothing was deleted\n', stderr: '' })
  const purgedAt = async () => (await world.pool.query('select purged_at from installation')).rows[0].purged_at
  const before = await purgedAt()
  const { stdout } = await purge('--json')
  expect((await purgedAt()).getTime()).toBeGreaterThan(before.getTime())
  expect(JSON.parse(stdout)).toEqual({ deleted: {}, total: 0, finished: true })
})

it('gatehouse purge stops after --seconds', async () => {
  await fill(200_000)
  const { code, stdout } = await purge('--seconds', '1')
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^access_token {2}\d+\nthe time is up and there may be more; run it again\n$/),
  })
  expect(await purge('--seconds', 'soon')).toMatchObject({ code: 2, stderr: '--seconds  must be a number\n' })
})
