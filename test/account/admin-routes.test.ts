import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'
import { ALICE } from './people.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

async function call(method: 'GET' | 'POST', path: string, body?: object, token = ADMIN_TOKEN) {
  const headers = { authorization: `Bearer ${token}` }
  const payload = body ? { payload: body } : {}
  const response = await world.app.inject({ method, url: `/admin/v1${path}`, headers, ...payload })
  return { status: response.statusCode, ...response.json() }
}

describe('/admin/v1/users', () => {
  it('creates, lists, blocks and unblocks', async () => {
    const { password, ...shown } = { ...ALICE, created_at: world.clock.now().toISOString() }
    expect(await call('POST', '/users', ALICE)).toEqual({ status: 200, rescode: 0, data: shown })
    expect(await call('GET', '/users')).toEqual({ status: 200, rescode: 0, data: { users: [shown], next: null } })
    const key = { cid: 1, user_id: '10001' }
    expect(await call('POST', '/users/block', key)).toMatchObject({ rescode: 0, data: { status: 'blocked' } })
    expect(await call('POST', '/users/unblock', key)).toMatchObject({ rescode: 0, data: { status: 'active' } })
    expect(world.logged()).not.toContain(password)
    expect(world.logged()).not.toContain(ALICE.phone_number)
  })

  it('answers bad input with every problem at once, and repeats no value', async () => {
    const answer = await call('POST', '/users', { ...ALICE, phone_number: 'secret', password: 'hush', cid: null })
    expect(answer).toMatchObject({ status: 400, rescode: 20007 })
    const fields = answer.data.problems.map(({ field }: { field: string }) => field)
    expect(fields.sort()).toEqual(['cid', 'password', 'phone_number'])
    expect(JSON.stringify(answer)).not.toMatch(/secret|hush/)
    expect(await call('POST', '/users', ALICE)).toMatchObject({
      status: 400,
      data: {
        problems: [
          { field: 'passport', problem: 'is already taken' },
          { field: 'user_id', problem: 'is already taken in this cid' },
        ],
      },
    })
    expect(await call('POST', '/users/block', { cid: 9, user_id: '1' })).toMatchObject({ status: 404, rescode: 20007 })
    expect(await call('POST', '/users/block', { cid: 1 })).toMatchObject({ status: 400 })
  })

  it.each(['https://a.com/\0', 'https://a.com/ b', 'https://a.com\\b', 'https://me@a.com/b', 'a.com', 'data:,x'])(
    'refuses the picture %j',
    async (big_avatar_url) => {
      const answer = await call('POST', '/users', {
        ...ALICE,
        big_avatar_url,
        passport: 'pictured',
        user_id: 'pictured',
      })
      expect(answer).toMatchObject({ status: 400, data: { problems: [{ field: 'big_avatar_url' }] } })
    },
  )

  it.each([
    ['GET', '/users'],
    ['POST', '/users'],
    ['POST', '/users/block'],
    ['POST', '/users/unblock'],
  ] as const)('lets only operators in: %s %s', async (method, path) => {
    const body = method === 'POST' ? {} : undefined
    expect(await call(method, path, body, 'wrong-token')).toMatchObject({ status: 401, rescode: 20015 })
  })
})
