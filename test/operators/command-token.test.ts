import { once } from 'node:events'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { issueCommandToken } from '../../src/operations/operators/index.ts'
import { deriveKeys } from '../../src/platform/lib/crypto/keys.ts'
import { openWorld, SECRET_KEY, type World } from '../harness.ts'

/** Commands on the machine of the service sign their requests with a key derived from SECRET_KEY. */

const OLD = 'the SECRET_KEY that was replaced by another one'
let world: World
let port: number
beforeAll(async () => {
  world = await openWorld({ ADMIN_PORT: '', TRUST_PROXY: 'loopback' })
  await world.app.listen({ host: '0.0.0.0', port: 0 })
  port = (world.app.server.address() as AddressInfo).port
})
afterAll(() => world.close())

const LIST = { method: 'GET', target: '/admin/v1/operators', body: '' }
const CREATE = { method: 'POST', target: '/admin/v1/operators', body: '{"name":"one","role":"viewer"}' }
const signed = (sent = LIST, key = SECRET_KEY, user = 'lin') =>
  issueCommandToken(deriveKeys(key), { ...sent, user }, world.clock.now())

async function send(token: string, sent = LIST, { host = '127.0.0.1', headers = {} } = {}) {
  const asked = request({
    host,
    port,
    method: sent.method,
    path: sent.target,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
  })
  asked.end(sent.body)
  const [response] = await once(asked, 'response')
  return { status: response.statusCode as number, answer: (await json(response)) as { data: { message: string } } }
}

describe('the signed request of a command', () => {
  it('acts as an admin, recorded in the audit log with the name of the system user', async () => {
    expect((await send(signed())).status).toBe(200)
    expect((await send(signed(CREATE), CREATE)).status).toBe(200)
    const { rows } = await world.pool.query(
      "select actor, actor_name, address from audit_event where event = 'operator_created'",
    )
    expect(rows).toEqual([{ actor: 'cli', actor_name: 'lin', address: '127.0.0.1' }])
  })

  it('is rejected with another method, path, query or body', async () => {
    const more = { ...CREATE, body: '{"name":"two","role":"admin"}' }
    for (const [of, sent] of [
      [LIST, { ...LIST, target: '/admin/v1/apps' }],
      [LIST, { ...LIST, target: '/admin/v1/operators?limit=1' }],
      [LIST, CREATE],
      [CREATE, more],
      [CREATE, { ...CREATE, body: '' }],
      [{ ...CREATE, body: '' }, more],
    ] as const)
      expect((await send(signed(of), sent)).status, JSON.stringify(sent)).toBe(401)
    const { rows } = await world.pool.query("select name from operator where name = 'two'")
    expect(rows).toEqual([])
  })

  it('is valid for half a minute, even if a clock is wrong', async () => {
    const token = signed()
    world.clock.advance(29)
    expect((await send(token)).status).toBe(200)
    world.clock.advance(1)
    expect((await send(token)).status).toBe(401)
    world.clock.advance(120)
    const ahead = signed()
    world.clock.advance(-120)
    expect((await send(ahead)).status).toBe(401)
  })

  it('is rejected if made with another SECRET_KEY, truncated or altered', async () => {
    const [claims = '', mac = ''] = signed().split('.')
    const other = Buffer.from(JSON.stringify({ user: 'x', expires_at: 2_000_000_000, body: '' })).toString('base64url')
    for (const token of [signed(LIST, OLD), claims, `${claims}.`, `${claims}.${mac.slice(1)}`, `ghmc_${other}.${mac}`])
      expect((await send(token)).status, token).toBe(401)
  })

  it('is accepted with a key of SECRET_KEYS_OLD too', async () => {
    const rotating = await openWorld()
    Object.assign(rotating.deps.keys, deriveKeys(SECRET_KEY, [OLD]))
    const ask = (key: string) =>
      rotating.app.inject({ url: LIST.target, headers: { authorization: `Bearer ${signed(LIST, key)}` } })
    expect((await ask(OLD)).statusCode).toBe(200)
    expect((await ask(SECRET_KEY)).statusCode).toBe(200)
    await rotating.close()
  })

  it('is accepted only from this machine, and not from a proxy on it', async () => {
    for (const header of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip'])
      expect((await send(signed(), LIST, { headers: { [header]: '127.0.0.1' } })).status, header).toBe(401)
    const elsewhere = await world.app.inject({
      url: LIST.target,
      remoteAddress: '203.0.113.7',
      headers: { authorization: `Bearer ${signed()}` },
    })
    expect(elsewhere.statusCode).toBe(401)
  })

  const own = Object.values(networkInterfaces())
    .flat()
    .find((one) => one && !one.internal && one.family === 'IPv4')?.address
  it.skipIf(!own)('is accepted at another address of this machine', async () => {
    expect((await send(signed(), LIST, { host: own ?? '' })).status).toBe(200)
  })

  it('never appears in the log, unlike the name of its user', async () => {
    const token = signed()
    await send(token)
    await send(token, CREATE)
    expect(world.logged()).not.toContain(token.slice(5, 40))
    expect(world.logged()).toContain('lin (cli)')
  })
})
