import type { InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

const authorized = { authorization: `Bearer ${ADMIN_TOKEN}` }
const least = { name: 'Tickets', hosts: ['example.com'], scopes: ['USER_INFO'] }

async function call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) {
  const response = await world.app.inject({
    method,
    url: `/admin/v1${path}`,
    headers: authorized,
    ...(body ? { payload: body } : {}),
  })
  return { status: response.statusCode, ...response.json() }
}

describe('/admin/v1/apps', () => {
  it('creates, lists, shows, changes, approves, suspends and rotates', async () => {
    const created = await call('POST', '/apps', { ...least, app_key: 'over-http' })
    expect(created).toMatchObject({ status: 200, rescode: 0, data: { app_key: 'over-http', status: 'approved' } })
    const path = '/apps/over-http'
    expect(await call('GET', '/apps')).toMatchObject({ rescode: 0, data: { apps: [{ app_key: 'over-http' }] } })
    expect(await call('GET', path)).toMatchObject({
      rescode: 0,
      data: { ...least, created_at: world.clock.now().toISOString(), secrets: [{ ends_at: null }] },
    })
    expect(await call('PATCH', path, { name: 'New' })).toMatchObject({ data: { name: 'New', hosts: least.hosts } })
    expect(await call('POST', `${path}/suspend`)).toMatchObject({ data: { status: 'suspended' } })
    expect(await call('POST', `${path}/approve`)).toMatchObject({ data: { status: 'approved' } })
    const rotated = await call('POST', `${path}/rotate-secret`, { overlap_s: 60 })
    expect(rotated).toMatchObject({ rescode: 0, data: { app_key: 'over-http', secrets: [{}, {}] } })
    expect(rotated.data.app_secret).not.toBe(created.data.app_secret)
    expect((await call('POST', `${path}/rotate-secret`)).data.secrets[1].ends_at).not.toBeNull()
    const logged = world.logged()
    for (const secret of [created.data.app_secret, rotated.data.app_secret]) expect(logged).not.toContain(secret)
    expect(logged).toContain('"appKey":"over-http"')
  })

  it('reports every problem of bad input at once', async () => {
    expect(await call('POST', '/apps', { hosts: ['https://x'], colour: 'red' })).toEqual({
      status: 400,
      rescode: 20007,
      data: {
        message: expect.stringContaining('Invalid request: name is required; '),
        problems: [
          { field: 'name', problem: 'is required' },
          { field: 'hosts[0]', problem: 'must be the host alone, without a scheme: example.com' },
          { field: 'scopes', problem: 'is required' },
          { field: 'colour', problem: 'is not a known field' },
        ],
      },
    })
    expect(await call('PATCH', '/apps/over-http', { refresh_days: 1 })).toMatchObject({ status: 400, rescode: 20007 })
    expect(await call('POST', '/apps/over-http/rotate-secret', { overlap_s: -1 })).toMatchObject({ rescode: 20007 })
    expect(await call('POST', '/apps')).toMatchObject({
      data: { problems: [{ field: 'body', problem: 'is required' }] },
    })
  })

  it.each([
    ['application/json', '{"name":'],
    ['application/json', ''],
    ['application/json', '{"__proto__":{}}'],
    ['text/plain', '{}'],
    ['application/xml', '<x/>'],
  ])('answers an unreadable body (%s, %s) with 20007', async (type, payload) => {
    const headers = { ...authorized, 'content-type': type }
    const response = await world.app.inject({ method: 'POST', url: '/admin/v1/apps', headers, payload })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({ rescode: 20007 })
  })

  it.each([
    ['GET', '/apps/unknown'],
    ['PATCH', '/apps/unknown'],
    ['POST', '/apps/unknown/approve'],
    ['POST', '/apps/unknown/suspend'],
    ['POST', '/apps/unknown/rotate-secret'],
    ['GET', '/nothing'],
    ['GET', ''],
    ['GET', `/apps/${'x'.repeat(200)}`],
  ] as const)('%s %s is not found', async (method, path) => {
    const answer = await call(method, path, method === 'PATCH' ? {} : undefined)
    expect(answer).toMatchObject({ status: 404, rescode: 20007 })
  })
})

describe('operator authentication', () => {
  const requests: [string, InjectOptions][] = [
    ['no header', {}],
    ['a wrong token', { headers: { authorization: 'Bearer wrong' } }],
    ['a longer token', { headers: { authorization: `Bearer ${ADMIN_TOKEN}x` } }],
    ['an empty token', { headers: { authorization: 'Bearer ' } }],
    ['another scheme', { headers: { authorization: `Basic ${ADMIN_TOKEN}` } }],
    ['the token in the query', { query: { access_token: ADMIN_TOKEN } }],
  ]

  it.each(requests)('fails with %s', async (_, options) => {
    for (const url of ['/admin/v1/apps', '/admin/v1/nothing']) {
      const response = await world.app.inject({ ...options, method: 'GET', url })
      expect(response.statusCode).toBe(401)
      expect(response.headers['www-authenticate']).toBe('Bearer')
      expect(response.json()).toEqual({ rescode: 20015, data: { message: 'Unauthorized' } })
    }
  })

  it('comes before the body is parsed', async () => {
    const headers = { 'content-type': 'application/json' }
    const response = await world.app.inject({ method: 'POST', url: '/admin/v1/apps', headers, payload: '{' })
    expect(response.statusCode).toBe(401)
  })

  it('accepts the scheme in any case', async () => {
    const headers = { authorization: `bearer ${ADMIN_TOKEN}` }
    expect((await world.app.inject({ url: '/admin/v1/apps', headers })).statusCode).toBe(200)
  })

  it('always fails without ADMIN_TOKEN', async () => {
    const bare = await openWorld({ ADMIN_TOKEN: '' })
    try {
      for (const authorization of [`Bearer ${ADMIN_TOKEN}`, 'Bearer undefined', 'Bearer ']) {
        const response = await bare.app.inject({ url: '/admin/v1/apps', headers: { authorization } })
        expect(response.statusCode).toBe(401)
      }
      expect(bare.logged()).toContain('ADMIN_TOKEN is not set')
    } finally {
      await bare.close()
    }
  })
})
