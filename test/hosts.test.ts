import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openWorld, type World } from './harness.ts'
import { newSandboxPartner, get as open, type SandboxPartner, sessionOf } from './sandbox/partners.ts'

/** One service with three addresses: pages at PUBLIC_URL, A2–A6 at API_URL, calls of partners at PARTNER_URL. */

const HOSTS = {
  PUBLIC_URL: 'https://gate.example',
  API_URL: 'https://api.gate.example',
  PARTNER_URL: 'https://partners.gate.example',
}
const PARTNER_HOST = new URL(HOSTS.PARTNER_URL).host

let world: World
let partner: SandboxPartner

beforeAll(async () => {
  world = await openWorld(HOSTS)
  partner = await newSandboxPartner(world)
})
afterAll(() => world?.close())

describe('the sandbox', () => {
  it('tells the partner to call PARTNER_URL', async () => {
    const { body } = await open(world, '/sandbox/signature', await sessionOf(world, partner))
    expect(body).toContain(`${HOSTS.PARTNER_URL}/mtp/api/order/test/ba`)
    expect(body).toContain(`name="host" value="${PARTNER_HOST}"`)
    expect(body).not.toContain(`${HOSTS.PUBLIC_URL}/mtp/`)
  })
})

describe('hosts', () => {
  it.each(Object.values(HOSTS).map((url) => new URL(url).host))('%s serves every path', async (host) => {
    const headers = { host, accept: 'text/html' }
    const page = await world.app.inject({ url: '/sign-in', headers })
    expect(page.statusCode).toBe(200)
    expect(page.headers['strict-transport-security']).toMatch(/^max-age=/)
    const token = await world.app.inject({ method: 'POST', url: '/oauth/v2/api/token', headers: { host } })
    expect(token.json()).toMatchObject({ rescode: 20001 })
    const notice = await world.app.inject({ method: 'POST', url: '/mtp/api/order/consume/notice', headers: { host } })
    expect(notice.json()).toMatchObject({ code: 300, describe: 'BA verification failed' })
  })

  it('bind a cookie to the host that set it, and accept a form only from the same origin', async () => {
    const post = (headers: Record<string, string>) =>
      world.app.inject({ method: 'POST', url: '/sign-out', headers: { host: 'api.gate.example', ...headers } })
    const out = await post({ origin: HOSTS.PUBLIC_URL })
    expect(out.statusCode).toBe(303)
    expect(String(out.headers['set-cookie'])).toMatch(/^__Host-gatehouse_session=;(?!.*Domain)/)
    expect((await post({ origin: HOSTS.API_URL, 'sec-fetch-site': 'same-origin' })).statusCode).toBe(303)
    expect((await post({ origin: HOSTS.API_URL, 'sec-fetch-site': 'same-site' })).statusCode).toBe(403)
  })
})
