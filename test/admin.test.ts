import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMicroApp } from '../src/authorization/registry/micro-app.ts'
import { newMicroApp } from '../src/authorization/registry/wire.ts'
import { createPartner } from '../src/ticketing/partners/partner.ts'
import { newPartner } from '../src/ticketing/partners/wire.ts'
import { ADMIN_TOKEN, openWorld, type World } from './harness.ts'

/** Behaviour that all operator routes share. */

let world: World
beforeAll(async () => {
  world = await openWorld()
  const app = { app_key: 'mine', name: 'Mine', hosts: ['example.com'], scopes: ['USER_INFO'] }
  await createMicroApp(world.deps, newMicroApp.parse(app))
  await createPartner(world.deps, newPartner.parse({ partner_id: 7, name: 'Seller' }))
})
afterAll(() => world.close())

const authorization = `Bearer ${ADMIN_TOKEN}`
const ask = (method: 'GET' | 'POST' | 'PATCH', url: string, body?: string, headers = {}) =>
  world.app.inject({
    method,
    url: `/admin/v1${url}`,
    headers: { authorization, ...headers },
    ...(body === undefined ? {} : { payload: body }),
  })

describe('an empty JSON body', () => {
  const json = { 'content-type': 'application/json' }

  it.each(['/apps/mine/suspend', '/apps/mine/approve', '/apps/mine/rotate-secret'])(
    'counts as no body: POST %s',
    async (url) => {
      expect((await ask('POST', url, undefined, json)).statusCode).toBe(200)
      expect((await ask('POST', url, '', { ...json, 'content-length': '0' })).statusCode).toBe(200)
    },
  )

  it.each(['/partners/7/suspend', '/partners/7/activate', '/partners/7/rotate-secret'])(
    'counts as no body: POST %s',
    async (url) => {
      expect((await ask('POST', url, undefined, json)).statusCode).toBe(200)
    },
  )

  it('does not create a micro-app', async () => {
    const { statusCode, json: read } = await ask('POST', '/apps', undefined, json)
    expect([statusCode, read()]).toMatchObject([400, { rescode: 20007, data: { problems: [{ field: 'body' }] } }])
  })

  it('unlike a malformed one, which is rejected', async () => {
    const { statusCode, body } = await ask('POST', '/apps/mine/suspend', '{"a":', json)
    expect([statusCode, body]).toEqual([400, expect.stringContaining('20007')])
  })
})

describe('the query string of a list', () => {
  it.each([
    ['/apps?status=closed', 'status'],
    ['/users?password=alice', 'password'],
    ['/partners?limit=0', 'limit'],
    ['/partners/7?secrets=no', 'secrets'],
    ['/partners/7/products?state=on_sale', 'state'],
    ['/orders?sate=paid', 'sate'],
    ['/orders?limit=0', 'limit'],
    ['/orders?limit=1001', 'limit'],
    ['/orders?limit=5&limit=6', 'limit'],
    ['/orders?sandbox=maybe', 'sandbox'],
    ['/grants?cid=1&user_id=1&state=x', 'state'],
    ['/jobs?task=', 'task'],
    ['/jobs?limit=', 'limit'],
    ['/jobs?failed=yes', 'failed'],
    ['/jobs?failed=true&failed=true', 'failed'],
  ])('is rejected when a parameter is unknown, malformed or repeated: %s', async (url, field) => {
    const { statusCode, json } = await ask('GET', url)
    expect([statusCode, json().rescode]).toEqual([400, 20007])
    expect(json().data.problems.map((problem: { field: string }) => problem.field)).toEqual([field])
  })

  it.each(['/apps', '/users?', '/orders?limit=5&sandbox=true', '/jobs?failed=true&limit=5'])(
    'is accepted: %s',
    async (url) => {
      expect((await ask('GET', url)).statusCode).toBe(200)
    },
  )
})

describe('a partner URL without TLS', () => {
  const WARNED = ['base_url', 'interface_urls.order-create']
  const urls = {
    base_url: 'http://tickets.example.com',
    interface_urls: { 'order-create': 'http://8.8.8.8/create', poi: 'https://tickets.example.com/poi' },
  }

  it('is accepted, with a warning in the response and in the log', async () => {
    const answer = await ask('POST', '/partners', JSON.stringify({ name: 'Plain', ...urls }), {
      'content-type': 'application/json',
    })
    expect(answer.statusCode).toBe(200)
    expect(answer.json().data.warnings.map((warning: { field: string }) => warning.field)).toEqual(WARNED)
    expect(world.logged()).toContain('partner URLs without TLS')
  })

  it('causes no warning if it is on loopback', async () => {
    const body = { base_url: 'http://127.0.0.1:3002', interface_urls: { poi: 'https://a.example/poi' } }
    const answer = await ask('PATCH', '/partners/7', JSON.stringify(body), { 'content-type': 'application/json' })
    expect([answer.statusCode, answer.json().data.warnings]).toEqual([200, undefined])
  })
})
