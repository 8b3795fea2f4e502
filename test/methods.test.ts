import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../src/app.ts'
import { openMetrics } from '../src/platform/lib/metrics.ts'
import { Client } from './acceptance/client.ts'
import { injectWire } from './acceptance/http.ts'
import { type Filled, fill, USER } from './console/filled.ts'
import { adminTokenHolder, COOKIE } from './console/person.ts'
import { ADMIN_TOKEN, openWorld, type World } from './harness.ts'
import { sessionOf } from './sandbox/partners.ts'

/** For every route of the app: HEAD answers like GET and changes nothing; other methods get 405 with Allow. */

/** HEAD is not allowed here: a GET of these issues, spends or records something, or never ends. */
const NO_HEAD = [
  '/account/data/person.json',
  '/oauth/v2/authorize',
  '/oauth2/authorize',
  '/oauth2/userinfo',
  '/admin/v1/traffic/:id',
  '/admin/v1/users/:cid/:user_id',
  '/admin/v1/users/:cid/:user_id/accesses',
  '/admin/v1/users/:cid/:user_id/export',
  '/console/users/accesses',
  '/admin/v1/users/:cid/:user_id/sessions',
  '/console/users/sessions',
  '/admin/v1/users/:cid/:user_id/sign-ins',
  '/console/users/sign-ins',
  '/sandbox/run/:run_id/events',
]
/** Headers that differ between any two responses, or that describe the transfer of a body. */
const VOLATILE_HEADERS = new Set([
  'date',
  'x-request-id',
  'set-cookie',
  'connection',
  'keep-alive',
  'transfer-encoding',
])

interface Route {
  readonly method: string | string[]
  readonly url: string
}

const routes: { method: string; url: string }[] = []
let world: World
let filled: Filled
let headers: Record<string, string>
let counting: string
let pool: Pool

const watch = (message: unknown): void => {
  const { fastify } = message as { fastify: { addHook(name: string, hook: (route: Route) => void): void } }
  fastify.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) routes.push({ method: each, url })
  })
}

beforeAll(async () => {
  subscribe('fastify.initialization', watch)
  world = await openWorld({ SECURITY_CONTACT: 'mailto:security@gate.example', LOG_LEVEL: 'info' })
  unsubscribe('fastify.initialization', watch)
  filled = await fill(world)
  const client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  const user = await client.makeUser()
  const browser = await client.signedIn(user, await client.makeApp())
  const operator = await adminTokenHolder(world)
  headers = {
    accept: 'text/html, */*',
    'accept-language': 'en',
    authorization: `Bearer ${ADMIN_TOKEN}`,
    cookie: [browser.cookieHeader, `${COOKIE}=${operator.cookie}`, await sessionOf(world, filled)].join('; '),
  }
  await world.app.listen({ host: '127.0.0.1', port: 0 })
  pool = new Pool(`http://127.0.0.1:${(world.app.server.address() as AddressInfo).port}`, { connections: 1 })
  // Without tables that count guesses and refusals of any method: a HEAD that was not counted would be a free guess.
  const { rows } = await world.pool.query(
    `select tablename from pg_tables where schemaname = 'public' and tablename not in ('rate_count', 'failed_attempt', 'refused_request')`,
  )
  counting = rows
    .map(
      ({ tablename }) =>
        `select '${tablename}' as name, count(*)::int as rows, max(xmin::text::bigint) as last from ${tablename}`,
    )
    .join(' union all ')
})
afterAll(async () => {
  await pool?.close()
  await world?.close()
})

const addressOf = (url: string): string => {
  const values: Record<string, string> = { ...filled, cid: String(USER.cid), user_id: USER.user_id, format: 'har' }
  return url
    .replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? 'nobody'))
    .replace('*', 'gatehouse.css')
}
const send = (method: string, url: string) => world.app.inject({ method, url, headers } as never)
/** Over real HTTP, because light-my-request shows bodies that Node does not send. */
const ask = async (method: 'GET' | 'HEAD', path: string) => {
  const answer = await pool.request({ method, path, headers })
  return { statusCode: answer.statusCode, headers: answer.headers, body: await answer.body.text() }
}
const stableHeaders = (all: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(all).filter(([name]) => !VOLATILE_HEADERS.has(name) && !name.startsWith('x-ratelimit')),
  )

it('HEAD answers like GET, without a body, without a cookie, and without writing a row', async () => {
  await ask('GET', '/oauth2/jwks') // the first request creates the signing keys
  const gets = routes.filter(({ method }) => method === 'GET')
  const addresses = gets.map(({ url }) => addressOf(url) + (/^\/(admin|metrics)/.test(url) ? '' : '?ui_locales=zh-CN'))
  const before = (await world.pool.query(counting)).rows
  const heads = []
  for (const address of addresses) heads.push(await ask('HEAD', address))
  expect((await world.pool.query(counting)).rows).toEqual(before)
  const seen: Record<string, unknown> = {}
  const wanted: Record<string, unknown> = {}
  for (const [place, { url }] of gets.entries()) {
    const head = heads[place]
    if (!head) throw new Error(url)
    expect([head.body, head.headers['set-cookie']], url).toEqual(['', undefined])
    if (NO_HEAD.includes(url)) {
      expect([head.statusCode, String(head.headers.allow)], url).toEqual([405, expect.not.stringContaining('HEAD')])
      continue
    }
    const get = await ask('GET', addresses[place] ?? '')
    if (url === '/metrics') for (const one of [head, get]) delete one.headers['content-length'] // counters change
    seen[url] = [head.statusCode, stableHeaders(head.headers)]
    wanted[url] = [get.statusCode, stableHeaders(get.headers)]
  }
  expect(seen).toEqual(wanted)
  expect(Object.keys(seen).length).toBeGreaterThan(80)
})

it.each(['OPTIONS', 'PROPFIND', 'TRACE'] as const)(
  '%s gets 405 with the allowed methods, and a page in a browser',
  async (method) => {
    const preflights = new Set(routes.flatMap((route) => (route.method === 'OPTIONS' ? [route.url] : [])))
    const allowed = new Map<string, Set<string>>()
    for (const { method: known, url } of routes) {
      // Signed calls are rejected in their own format before the method is checked (test/mws, test/sandbox/api.test.ts).
      if (/\/mtp\/api\/|^\/sandbox\/api|\/rhone/.test(url) || (method === 'OPTIONS' && preflights.has(url))) continue
      const methods = allowed.get(url) ?? new Set()
      allowed.set(url, methods.add(known))
      if (known === 'GET' && !NO_HEAD.includes(url)) methods.add('HEAD')
    }
    for (const [url, methods] of allowed) {
      methods.delete('OPTIONS')
      const { statusCode, headers: answered } = await send(method, addressOf(url))
      // Allow may list more: `/products/pull` also matches `/products/:id` and its methods.
      const listed = String(answered.allow).split(', ')
      expect([statusCode, [...methods].filter((one) => !listed.includes(one)), listed.includes(method)], url).toEqual([
        405,
        [],
        false,
      ])
    }
    const page = await send(method, '/sign-in')
    expect(page.headers['content-type']).toContain('text/html')
    expect(page.body).toContain('20010')
  },
)

describe('on a keep-alive connection', () => {
  it.each([
    '/healthz',
    '/readyz',
    '/',
    '/docs',
    '/assets/gatehouse.css',
    '/.well-known/openid-configuration',
    '/oauth2/jwks',
  ])('HEAD %s sends only headers, and the connection stays usable', async (path) => {
    for (let n = 0; n < 2; n++) {
      const head = await pool.request({ method: 'HEAD', path })
      expect(await head.body.text()).toBe('')
      const get = await pool.request({ method: 'GET', path })
      expect(head.statusCode).toBe(200)
      expect(Buffer.byteLength(await get.body.text())).toBe(Number(head.headers['content-length']))
    }
  })

  it('HEAD is logged as HEAD', async () => {
    await pool.request({ method: 'HEAD', path: '/oauth/v2/authorize' })
    await expect.poll(() => world.logged()).toContain('"method":"HEAD"')
  })
})

it('with ADMIN_PORT, operator paths do not exist on the public listener, whatever the method', async () => {
  const app = await buildApp({
    deps: { ...world.deps, metrics: openMetrics() },
    log: world.log,
    readiness: { draining: false },
    isForOperators: () => false,
  })
  for (const url of ['/admin/v1/apps', '/metrics', '/console', '/console/apps', '/%6detrics', '/%61dmin/v1/apps']) {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE'] as const) {
      const { statusCode, headers: answered } = await app.inject({ method, url })
      expect([statusCode, answered.allow], `${method} ${url}`).toEqual([404, undefined])
    }
  }
  await app.close()
})
