import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO_ADMIN_TOKEN } from '../../src/platform/config/problems.ts'
import { FORM, form } from '../account/people.ts'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'

/** The ADMIN_TOKEN of the demo is public: a page on a host name that resolves to this machine must not be able to use it. */

let demo: World
let other: World
beforeAll(async () => {
  demo = await openWorld({ ADMIN_TOKEN: DEMO_ADMIN_TOKEN })
  other = await openWorld()
})
afterAll(async () => {
  await demo?.close()
  await other?.close()
})

type Ask = (host: string, world?: World, token?: string) => Promise<number>

const asking =
  (method: 'GET' | 'POST', url: string, payload = ''): Ask =>
  async (host, world = demo, token = DEMO_ADMIN_TOKEN) => {
    const headers = { host, authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const { statusCode } = await world.app.inject({ method, url, headers, ...(payload ? { payload } : {}) })
    return statusCode
  }

const signIn: Ask = async (host, world = demo, token = DEMO_ADMIN_TOKEN) => {
  const payload = form({ token })
  const headers = { ...FORM, host }
  return (await world.app.inject({ method: 'POST', url: '/console/sign-in', headers, payload })).statusCode
}

const ASKED: readonly [what: string, ask: Ask, status: number][] = [
  ['a list', asking('GET', '/admin/v1/apps'), 200],
  ['a change', asking('POST', '/admin/v1/apps/no-such-app/block', '{}'), 404],
  ['a path that does not exist', asking('GET', '/admin/v1/nothing'), 404],
  ['metrics', asking('GET', '/metrics'), 200],
  ['the sign-in page of the console', asking('GET', '/console/sign-in'), 200],
  ['a page of the console', asking('GET', '/console'), 302],
]

const FOREIGN = [
  'evil.example:3000',
  'evil.example',
  'localhost.evil.example',
  '192.168.1.5:3000',
  'localhost:1@evil.example',
]
const OWN = ['localhost:3000', 'localhost', 'LOCALHOST:3000', '127.0.0.1:41234', '[::1]:3000']

describe.each(ASKED)('with the ADMIN_TOKEN of the demo, %s', (_what, ask, status) => {
  it.each(FOREIGN)('is rejected with the Host %s', async (host) => {
    expect(await ask(host)).toBe(403)
  })

  it.each(OWN)('is answered with the Host %s', async (host) => {
    expect(await ask(host)).toBe(status)
  })
})

it('the ADMIN_TOKEN of the demo cannot sign in to the console on another host', async () => {
  expect([await signIn('evil.example:3000'), await signIn('localhost:3000')]).toEqual([403, 303])
})

it('a secret ADMIN_TOKEN is accepted on every host', async () => {
  for (const [what, ask, status] of ASKED) expect(await ask('gate.example', other, ADMIN_TOKEN), what).toBe(status)
})

it('endpoints for programs are answered on every host', async () => {
  for (const url of ['/healthz', '/oauth/v2/api/resource/get_userinfo?access_token=x', '/mtp/api/order/test/ba']) {
    const method = url === '/healthz' ? 'GET' : 'POST'
    const { statusCode } = await demo.app.inject({ method, url, headers: { host: 'host.docker.internal:3000' } })
    expect(statusCode, url).toBe(200)
  }
})

it('the error says what to do', async () => {
  const headers = { host: 'evil.example', authorization: `Bearer ${DEMO_ADMIN_TOKEN}` }
  const answer = await demo.app.inject({ url: '/admin/v1/apps', headers })
  expect(answer.json().data.message).toMatch(/open this as http:\/\/localhost/)
})
