import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOperator } from '../../src/operations/operators/index.ts'
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
    const masked = {
      ...shown,
      name: `${shown.name[0]}***`,
      big_avatar_url: '***',
      phone_number: `*********${ALICE.phone_number?.slice(-2)}`,
    }
    const one = (data: object) => ({ ...data, deletion_requested_at: null })
    expect(await call('GET', '/users')).toEqual({ status: 200, rescode: 0, data: { users: [masked], next: null } })
    expect(await call('GET', '/users/1/10001')).toEqual({ status: 200, rescode: 0, data: one(masked) })
    expect(await call('GET', '/users/1/10001?reason=ticket%204711')).toEqual({
      status: 200,
      rescode: 0,
      data: one(shown),
    })
    const key = { cid: 1, user_id: '10001' }
    expect(await call('POST', '/users/block', key)).toMatchObject({ rescode: 0, data: { status: 'blocked' } })
    expect(await call('POST', '/users/unblock', key)).toMatchObject({ rescode: 0, data: { status: 'active' } })
    expect(world.logged()).not.toContain(password)
    expect(world.logged()).not.toContain(ALICE.phone_number)
  })

  it('changes only the given fields, responds with masked data, and audits field names without values', async () => {
    const key = { cid: 1, user_id: 'edited' }
    await call('POST', '/users', { ...ALICE, ...key, passport: 'edited@example.com' })
    const changes = { name: 'Zoë', gender: '1', phone_number: null, passport: 'Other@example.com' }
    const changed = await call('POST', '/users/update', { ...key, ...changes })
    expect(changed).toMatchObject({
      status: 200,
      data: { name: 'Z***', passport: 'Other@example.com', big_avatar_url: '***' },
    })
    expect(await call('GET', '/users/1/edited?reason=a%20test')).toMatchObject({
      data: { ...changes, big_avatar_url: ALICE.big_avatar_url, status: 'active' },
    })
    const { rows } = await world.pool.query("select detail, actor from audit_event where event = 'user_updated'")
    expect(rows).toEqual([{ detail: { fields: ['passport', 'phone_number', 'name', 'gender'] }, actor: 'operator' }])
    const mailJobs = await world.pool.query(
      `select payload from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
       where t.identifier = 'send-person-mail'`,
    )
    expect(mailJobs.rows).toMatchObject([{ payload: { kind: 'mail_changed', userId: 'edited' } }])
    expect(await call('POST', '/users/update', { ...key, ...changes })).toMatchObject({ status: 200 })
    expect((await world.pool.query("select 1 from audit_event where event = 'user_updated'")).rowCount).toBe(1)
    const { name, password } = { ...ALICE, name: 'x' }
    expect(await call('POST', '/users/update', { ...key, passport: ALICE.passport, name })).toMatchObject({
      status: 400,
      data: { problems: [{ field: 'passport', problem: 'is already taken' }] },
    })
    for (const bad of [{}, { name: '' }, { password }, { status: 'blocked' }, { gender: null }, { passport: null }])
      expect(await call('POST', '/users/update', { ...key, ...bad }), JSON.stringify(bad)).toMatchObject({
        status: 400,
      })
    expect(await call('GET', '/users/1/edited?reason=a%20test')).toMatchObject({ data: changes })
    expect(await call('POST', '/users/update', { cid: 1, user_id: 'none', name })).toMatchObject({ status: 404 })
  })

  it('shows unmasked data only with a reason and only from the support role up, and audits both', async () => {
    const [viewer, support] = await Promise.all(
      (['viewer', 'support'] as const).map(async (role) => createOperator(world.deps, { name: role, role, days: 1 })),
    )
    const path = '/users/1/10001?reason=the%20person%20asks'
    expect(await call('GET', path, undefined, viewer?.token)).toMatchObject({
      status: 403,
      data: { message: expect.stringContaining('unmasked personal data needs the role support') },
    })
    expect(await call('GET', path, undefined, support?.token)).toMatchObject({
      status: 200,
      data: { phone_number: ALICE.phone_number },
    })
    const { rows } = await world.pool.query(
      "select actor_name, target, detail from audit_event where event = 'personal_data_read' and actor_name = 'support'",
    )
    expect(rows).toEqual([{ actor_name: 'support', target: 'user:1/10001', detail: { reason: 'the person asks' } }])
    const reads = () => world.pool.query("select audit_id from audit_event where event = 'personal_data_read'")
    const before = (await reads()).rowCount
    for (const [url, status] of [
      [`/admin/v1${path}`, 400],
      ['/admin/v1/users/1/10001', 405],
    ] as const) {
      const headers = { authorization: `Bearer ${support?.token}` }
      expect((await world.app.inject({ method: 'HEAD', url, headers })).statusCode).toBe(status)
    }
    expect((await reads()).rowCount).toBe(before)
    expect(await call('GET', '/users/1/10001?reason=x')).toMatchObject({ status: 400 })
    expect(await call('GET', '/users/1/none')).toMatchObject({ status: 404 })
  })

  it('reports every problem of bad input at once, without echoing any value', async () => {
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
    'refuses the picture URL %j',
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
    ['POST', '/users/update'],
  ] as const)('admits only operators: %s %s', async (method, path) => {
    const body = method === 'POST' ? {} : undefined
    expect(await call(method, path, body, 'wrong-token')).toMatchObject({ status: 401, rescode: 20015 })
  })
})
