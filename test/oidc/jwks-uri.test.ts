import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ClientKeys } from '../../src/authorization/oidc/client-keys.ts'
import { epochSeconds } from '../../src/platform/lib/clock.ts'
import { Client } from '../acceptance/client.ts'
import { injectWire } from '../acceptance/http.ts'
import { freePort } from '../free-port.ts'
import { openWorld, type World } from '../harness.ts'
import { StandardApp } from './app.ts'

/** A private_key_jwt client that publishes its keys at a URL (RFC 7591 §2 jwks_uri). */

const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

type Pair = Awaited<ReturnType<typeof generateKeyPair>>

let world: World
let client: Client
let keys: Readonly<Record<'one' | 'two', Pair>>
let published: object[]
let fetches = 0
let answer: RequestListener
let server: Server
let url: string
const servesKeys: RequestListener = (_request, response) => response.end(JSON.stringify({ keys: published }))

beforeAll(async () => {
  server = createServer((request, response) => {
    fetches++
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  url = `http://127.0.0.1:${port}/jwks`
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: `127.0.0.1:${port}` })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  const make = () => generateKeyPair('ES256', { extractable: true })
  keys = { one: await make(), two: await make() }
})
afterAll(async () => {
  server?.closeAllConnections()
  server?.close()
  await world?.close()
})
afterEach(() => {
  fetches = 0
})

const jwkOf = async (kid: 'one' | 'two') => ({ ...(await exportJWK(keys[kid].publicKey)), kid, use: 'sig' })

let serial = 0
/** A URL that no other test has used. */
const freshUrl = () => `${url}/${++serial}`

async function makeApp(jwks_uri: string): Promise<StandardApp> {
  answer = servesKeys
  published = [await jwkOf('one')]
  return StandardApp.make(client, { token_auth_methods: ['private_key_jwt'], jwks_uri })
}

async function authenticate({ app, post }: Pick<StandardApp, 'app'> & { post: StandardApp['post'] }, kid = 'one') {
  const now = epochSeconds(world.clock.now())
  const aud = `${world.deps.config.PUBLIC_URL}/oauth2/token`
  const payload = { iss: app.app_key, sub: app.app_key, aud, jti: `jti-${++serial}`, iat: now, exp: now + 60 }
  const key = keys[kid === 'two' ? 'two' : 'one'].privateKey
  const client_assertion = await new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid }).sign(key)
  const parameters = { token: 'x', client_assertion_type: TYPE, client_assertion }
  const { status, text } = await post('introspect', parameters)
  return `${status} ${JSON.parse(text).error ?? 'ok'}`
}
const callerFor = (rp: StandardApp) => ({ app: rp.app, post: rp.post.bind(rp) })

describe('keys at a URL', () => {
  it('are fetched once in five minutes, even for concurrent requests', async () => {
    const rp = callerFor(await makeApp(freshUrl()))
    const answers = await Promise.all(Array.from({ length: 20 }, () => authenticate(rp)))
    expect(new Set(answers)).toEqual(new Set(['200 ok']))
    world.clock.advance(299)
    expect(await authenticate(rp)).toBe('200 ok')
    expect(fetches).toBe(1)
    world.clock.advance(1)
    expect(await authenticate(rp)).toBe('200 ok')
    expect(fetches).toBe(2)
  })

  it('are fetched again for an unknown key, at most once a minute', async () => {
    const rp = callerFor(await makeApp(freshUrl()))
    expect(await authenticate(rp)).toBe('200 ok')
    expect(await authenticate(rp, 'two')).toBe('401 invalid_client')
    published = [await jwkOf('one'), await jwkOf('two')]
    for (const kid of ['two', 'three', 'four']) expect(await authenticate(rp, kid)).toBe('401 invalid_client')
    expect(fetches).toBe(1)
    world.clock.advance(60)
    expect(await authenticate(rp, 'two')).toBe('200 ok')
    expect(await authenticate(rp, 'three')).toBe('401 invalid_client')
    expect(fetches).toBe(2)
  })

  it('that are removed from the set stop working after five minutes', async () => {
    const rp = callerFor(await makeApp(freshUrl()))
    expect(await authenticate(rp)).toBe('200 ok')
    published = [await jwkOf('two')]
    world.clock.advance(300)
    expect(await authenticate(rp)).toBe('401 invalid_client')
    expect(await authenticate(rp, 'two')).toBe('200 ok')
  })

  it.each([404, 410])('stop working at the next fetch if the URL answers %i', async (status) => {
    const rp = callerFor(await makeApp(freshUrl()))
    expect(await authenticate(rp)).toBe('200 ok')
    answer = (_request, response) => response.writeHead(status).end()
    world.clock.advance(300)
    expect(await authenticate(rp)).toBe('401 invalid_client')
    answer = servesKeys
    world.clock.advance(10)
    expect(await authenticate(rp)).toBe('200 ok')
  })

  it('keep working for an hour while the URL fails, which is retried every ten seconds', async () => {
    const rp = callerFor(await makeApp(freshUrl()))
    expect(await authenticate(rp)).toBe('200 ok')
    answer = (_request, response) => response.writeHead(503).end()
    world.clock.advance(300)
    for (let times = 0; times < 5; times++) expect(await authenticate(rp)).toBe('200 ok')
    expect(fetches).toBe(2)
    world.clock.advance(10)
    expect(await authenticate(rp)).toBe('200 ok')
    expect(fetches).toBe(3)
    world.clock.advance(3_300)
    expect(await authenticate(rp)).toBe('401 invalid_client')
  })

  it('may be mixed with unusable ones', async () => {
    const rp = callerFor(await makeApp(freshUrl()))
    const secret = { ...(await exportJWK(keys.two.privateKey)), kid: 'two' }
    published = [{ kty: 'oct', k: 'AA', kid: 'x' }, secret, { kty: 'AKP' }, 'nonsense' as never, ...published]
    expect(await authenticate(rp)).toBe('200 ok')
    expect(await authenticate(rp, 'two')).toBe('401 invalid_client')
  })

  it.each<[string, RequestListener]>([
    ['a redirect to the keys', (_request, response) => response.writeHead(302, { location: url }).end()],
    ['an answer beyond 64 KiB', (_request, response) => response.end(JSON.stringify({ keys: ['x'.repeat(65_536)] }))],
    ['too many keys', (_request, response) => response.end(JSON.stringify({ keys: Array(51).fill(published[0]) }))],
    ['a page', (_request, response) => response.end('<h1>keys</h1>')],
    ['nothing', (request) => request.socket.destroy()],
  ])('are unavailable with %s', async (_name, listener) => {
    const rp = callerFor(await makeApp(freshUrl()))
    answer = listener
    expect(await authenticate(rp)).toBe('401 invalid_client')
    expect(await authenticate(rp)).toBe('401 invalid_client')
    expect(fetches).toBe(1)
  })

  it('are not fetched if the app uses another method, or for an unknown client', async () => {
    const rp = await makeApp(freshUrl())
    await client.update(rp.app, { token_auth_methods: ['client_secret_basic'] })
    expect(await authenticate(callerFor(rp))).toBe('401 invalid_client')
    const nobody = { app: { ...rp.app, app_key: 'nobody' }, post: rp.post.bind(rp) }
    expect(await authenticate(nobody)).toBe('401 invalid_client')
    expect(fetches).toBe(0)
  })
})

describe('a URL in the private network', () => {
  it.each([
    ['by its address', (port: number) => `https://127.0.0.1:${port}/jwks`],
    ['by a name', (port: number) => `https://localhost:${port}/jwks`],
    ['by an IPv4-mapped address', (port: number) => `https://[::ffff:127.0.0.1]:${port}/jwks`],
    ['of a cloud metadata service', () => 'https://169.254.169.254/latest/meta-data'],
  ])('is not called: %s', async (_name, at) => {
    let connections = 0
    const inside = createServer().on('connection', () => connections++)
    const port = await freePort()
    await new Promise<void>((resolve) => inside.listen(port, '::', resolve))
    const rp = callerFor(await makeApp(at(port)))
    expect(await authenticate(rp)).toBe('401 invalid_client')
    expect(connections).toBe(0)
    expect(world.logged()).toContain('HttpCallError address')
    inside.close()
  })
})

it('a process caches the keys of the hundred most recently used URLs', async () => {
  answer = servesKeys
  const known = new ClientKeys(world.deps)
  const [first, second, ...others] = Array.from({ length: 101 }, freshUrl)
  for (const one of [first ?? '', second ?? '', ...others.slice(0, 98)]) await known.at(one, 'one')
  await known.at(first ?? '', 'one')
  await known.at(others[98] ?? '', 'one')
  expect(fetches).toBe(101)
  await known.at(first ?? '', 'one')
  expect(fetches).toBe(101)
  await known.at(second ?? '', 'one')
  expect(fetches).toBe(102)
})

describe('the registry', () => {
  const problems = (changes: Record<string, unknown>) =>
    StandardApp.make(client, changes).then(
      () => 'accepted',
      (error: Error) => error.message,
    )

  it.each([
    ['http://app.example.com/jwks', 'must begin with https://'],
    ['nonsense', 'must be an absolute http:// or https:// URL'],
    ['https://user:password@app.example.com/jwks', 'must not contain a user name or password'],
  ])('refuses %s', async (jwks_uri, problem) => {
    expect(await problems({ jwks_uri })).toContain(problem)
  })

  it('accepts keys or a URL, never both', async () => {
    const [jwks, jwks_uri] = [{ keys: [await jwkOf('one')] }, 'https://app.example.com/jwks']
    expect(await problems({ jwks, jwks_uri })).toContain('cannot be combined with jwks')
    const rp = await StandardApp.make(client, { jwks })
    await expect(client.update(rp.app, { jwks_uri })).rejects.toThrow('cannot be combined with jwks')
    expect(await client.update(rp.app, { jwks: null, jwks_uri })).toMatchObject({ jwks: null, jwks_uri })
  })
})
