import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { openMetrics } from '../../src/platform/lib/metrics.ts'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'

/** Operator paths exist only on the listener of operators, and not without a token for requests through a proxy. */

let world: World
let app: FastifyInstance
const settings = { ADMIN_PORT: '3999', PAGES_PER_MINUTE: '20' }
beforeAll(async () => {
  world = await openWorld(settings)
  app = await buildApp({
    deps: { ...world.deps, metrics: openMetrics() },
    log: world.log,
    readiness: { draining: false },
    isForOperators: ({ headers }) => headers['x-listener'] === 'operators',
  })
  await app.ready()
})
afterAll(async () => {
  await app.close()
  await world.close()
})

const OURS = { 'x-listener': 'operators', host: '127.0.0.1:3999' }
const bearer = { authorization: `Bearer ${ADMIN_TOKEN}` }
let address = 1
const ask = (url: string, headers: Record<string, string> = {}) =>
  app.inject({ url, headers, remoteAddress: `203.0.113.${address}` })
const statusOf = async (url: string, headers: Record<string, string> = {}) => (await ask(url, headers)).statusCode

describe('/metrics on a loopback ADMIN_HOST', () => {
  it.each(['127.0.0.1:3999', 'localhost:3999', '[::1]:3999', 'localhost'])('needs no token at %s', async (host) => {
    expect(await statusOf('/metrics', { ...OURS, host })).toBe(200)
  })

  it.each([
    ['X-Forwarded-For', '198.51.100.7'],
    ['X-Forwarded-Proto', 'https'],
    ['X-Forwarded-Host', 'localhost'],
    ['X-Real-IP', '127.0.0.1'],
    ['Forwarded', 'for=198.51.100.7'],
    ['Via', '1.1 proxy'],
    ['Host', 'attacker.example'],
    ['Host', '127.0.0.1.attacker.example:3999'],
    ['Host', 'localhost@attacker.example'],
  ])('needs a token if a proxy or a page of another host may have sent the request: %s: %s', async (name, value) => {
    const headers = { ...OURS, [name.toLowerCase()]: value }
    const refused = await ask('/metrics', headers)
    expect([refused.statusCode, refused.json().rescode]).toEqual([401, 20015])
    expect(await statusOf('/metrics', { ...headers, ...bearer })).toBe(200)
  })

  it('does not exist on PORT', async () => {
    address++
    expect(await statusOf('/metrics', { host: '127.0.0.1:3000', ...bearer })).toBe(404)
  })
})

describe('on PORT', () => {
  it('/readyz does not say why it is not ready', async () => {
    const failing = new Error('no route to db.internal')
    const broken = { ...world.deps.db, many: () => Promise.reject(failing) }
    const down = await buildApp({
      deps: { ...world.deps, metrics: openMetrics(), db: { ...world.deps.db, reserved: () => broken } },
      log: world.log,
      readiness: { draining: false },
      isForOperators: ({ headers }) => headers['x-listener'] === 'operators',
    })
    const readyz = async (headers: Record<string, string>) => (await down.inject({ url: '/readyz', headers })).json()
    expect(await readyz({ ...bearer, ...OURS })).toMatchObject({ why: expect.any(String) })
    expect(await readyz(bearer)).not.toHaveProperty('why')
    expect(await readyz(OURS)).not.toHaveProperty('why')
    await down.close()
  })

  it('paths of the console look like any other unknown path', async () => {
    address++
    const headers = { accept: 'text/html', 'accept-language': 'en' }
    const [ours, nowhere] = [await ask('/console/sign-in', headers), await ask('/nowhere', headers)]
    expect(ours.statusCode).toBe(404)
    const bare = (text: string) => text.replaceAll(/\/console\/sign-in|\/nowhere/g, '').replaceAll(/[0-9a-f-]{36}/g, '')
    expect(bare(ours.body)).toBe(bare(nowhere.body))
    expect(bare((await ask('/console/no-such-page', headers)).body)).toBe(bare(nowhere.body))
  })

  it.each(['/console', '/console/no-such-page', '/admin/v1/apps', '/metrics'])(
    '%s is rate-limited like a page',
    async (path) => {
      address++
      const statuses = []
      for (let asked = 0; asked < 22; asked++) statuses.push(await statusOf(path, bearer))
      expect(statuses).toEqual([...Array(20).fill(404), 429, 429])
    },
  )
})
