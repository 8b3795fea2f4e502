import { createServer, type Server } from 'node:https'
import { networkInterfaces } from 'node:os'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sendAppEvents } from '../../src/authorization/app-events/index.ts'
import { epochSeconds } from '../../src/platform/lib/clock.ts'
import { translator } from '../../src/platform/lib/web/locale.ts'
import { addressGuard } from '../../src/platform/outbound/address-guard.ts'
import { hostResolver } from '../../src/platform/outbound/resolve-host.ts'
import { visibleText } from '../acceptance/form.ts'
import { header, queryOf } from '../acceptance/http.ts'
import { acceptAnyCertificate } from '../any-certificate.ts'
import { openWorld, type World } from '../harness.ts'
import { FORM } from '../oidc/app.ts'
import { answerTo, closeNameServers, nameServer, record, typeOf } from '../outbound/name-server.ts'
import { SELF_SIGNED } from '../sandbox/certificates.ts'
import { clientOf, type Developer, founder, registered, withAuthenticator } from '../teams/people.ts'

/**
 * DNS rebinding: host names of an app's webhook and key set that start to resolve to this machine after registration.
 * 127.0.0.2 stands for the Internet, 127.0.0.1 and ::1 for what must not be reached; all listen on the same port.
 */

const PUBLIC = [127, 0, 0, 2]
const PRIVATE = [127, 0, 0, 1]
const V6_LOOPBACK = [...Array(15).fill(0), 1]
const MAPPED = [...Array(10).fill(0), 255, 255, ...PRIVATE]
const hasV6 = Object.values(networkInterfaces())
  .flat()
  .some((one) => one?.address === '::1')
const t = translator('en')

/** The name server's answers: each query for an address family gets the next one, and the last one repeats. */
let answers: number[][][] = []
let queries = { v4: 0, v6: 0 }
/** The response of the public server. */
let answer: { status: number; headers?: Record<string, string>; body?: string } = { status: 200 }
const calls = { public: 0, private: 0 }

let world: World
let owner: Developer & { team: string }
let port: number
const servers: Server[] = []
const closing: (() => void)[] = []

async function listen(host: string, at: 'public' | 'private', wanted = 0): Promise<number> {
  const server = createServer(SELF_SIGNED, (request, response) => {
    request.resume()
    response.writeHead(answer.status, answer.headers).end(answer.body)
  })
  // Connections are counted, not requests: not even a connection may reach a private address.
  server.on('connection', () => calls[at]++)
  servers.push(server)
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(wanted, host, resolve))
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

beforeAll(async () => {
  world = await openWorld({ DEMO: 'off', PARTNER_ADDRESS_ALLOW: '127.0.0.2' })
  const server = await nameServer((query) => {
    const [family, bytes] = typeOf(query) === 1 ? (['v4', 4] as const) : (['v6', 16] as const)
    const now = answers[Math.min(queries[family]++, answers.length - 1)] ?? []
    const records = now.filter(({ length }) => length === bytes)
    return answerTo(query, 0, ...records.map((one) => record(...one)))
  })
  const askSystem = async () => {
    throw new Error('the system was asked')
  }
  const resolve = hostResolver({ servers: [server], hostsFile: '/dev/null', askSystem })
  Object.assign(world.deps.calls, { guard: addressGuard(world.deps.config, resolve) })
  closing.push(acceptAnyCertificate(), closeNameServers)
  port = await listen('127.0.0.1', 'private')
  await listen('127.0.0.2', 'public', port)
  if (hasV6) await listen('::1', 'private', port)
  owner = await founder(world)
  await withAuthenticator(world, owner)
})
afterAll(async () => {
  for (const close of closing) close()
  for (const server of servers) server.close()
  await world?.close()
})
beforeEach(() => {
  Object.assign(calls, { public: 0, private: 0 })
  answers = [[PUBLIC]]
  answer = { status: 200 }
  queries = { v4: 0, v6: 0 }
})

const PRIVATE_ANSWERS: [string, number[]][] = [
  ['this machine', PRIVATE],
  ['this machine by IPv6', V6_LOOPBACK],
  ['this machine by an IPv4-mapped address', MAPPED],
  ['a private network', [10, 0, 0, 1]],
  ['a cloud metadata service', [169, 254, 169, 254]],
]

describe('the webhook of an app', () => {
  let path: string
  let appKey: string
  beforeEach(async () => {
    appKey = await registered(owner)
    path = `/developer/apps/${appKey}/webhook`
    const set = await owner.browser.send('POST', path, { webhook_url: `https://hooks.example.com:${port}/hook` })
    expect(set.status).toBe(200)
  })

  const deliver = async () => {
    expect(header(await owner.browser.send('POST', `${path}/test`, {}), 'location')).toBe(`${path}?done=tested`)
    return sendAppEvents(world.deps, appKey, new AbortController().signal)
  }
  const shown = async () => visibleText((await owner.browser.open(path)).text).replace(/\s+/g, ' ')
  const unreachable = t('developer.webhook.problem.unreachable')

  it.each(PRIVATE_ANSWERS)(
    'is not called once its name resolves to %s, and its team sees why',
    async (_name, address) => {
      expect(await deliver()).toEqual({})
      expect(calls).toEqual({ public: 1, private: 0 })
      expect(await shown()).not.toContain(unreachable)
      answers = [[address]]
      expect(await deliver()).toEqual({ failure: expect.stringMatching(/^webhook: address/) })
      expect(calls).toEqual({ public: 1, private: 0 })
      expect(await shown()).toContain(unreachable)
      // The waiting event is sent once the name is right again.
      answers = [[PUBLIC]]
      expect(await sendAppEvents(world.deps, appKey, new AbortController().signal)).toEqual({})
      expect(calls).toEqual({ public: 2, private: 0 })
    },
  )

  it.each([
    ['first', [PRIVATE, V6_LOOPBACK, PUBLIC]],
    ['last', [PUBLIC, V6_LOOPBACK, PRIVATE]],
  ])('is called only at the public one of several addresses, with the private ones %s', async (_name, addresses) => {
    answers = [addresses]
    expect(await deliver()).toEqual({})
    expect(calls).toEqual({ public: 1, private: 0 })
  })

  it('is not called if only the private one of several addresses answers', async () => {
    // Nothing listens at 127.0.0.2 on this port.
    const other = await registered(owner)
    const silent = await listen('127.0.0.1', 'private')
    path = `/developer/apps/${other}/webhook`
    appKey = other
    await owner.browser.send('POST', path, { webhook_url: `https://hooks.example.com:${silent}/hook` })
    answers = [[PRIVATE, PUBLIC]]
    expect(await deliver()).toEqual({ failure: expect.stringMatching(/^webhook: connect/) })
    expect(calls).toEqual({ public: 0, private: 0 })
    expect(await shown()).toContain(unreachable)
  })

  it('is called at the address that was checked, even if the next query would get another', async () => {
    answers = [[PUBLIC], [PRIVATE]]
    expect(await deliver()).toEqual({})
    expect([calls, queries.v4]).toEqual([{ public: 1, private: 0 }, 1])
    expect(await deliver()).toEqual({ failure: expect.stringMatching(/^webhook: address/) })
    expect(calls).toEqual({ public: 1, private: 0 })
  })

  it.each([301, 302, 307, 308])('cannot redirect to a private address with status %i', async (status) => {
    answer = { status, headers: { Location: `https://127.0.0.1:${port}/` } }
    expect(await deliver()).toEqual({ failure: `webhook: HTTP status ${status}` })
    expect(calls).toEqual({ public: 1, private: 0 })
    expect(await shown()).toContain(t('developer.webhook.status', { status: String(status) }))
  })

  it('looks the same with a private name as with one that does not exist', async () => {
    answers = [[]]
    expect(await deliver()).toEqual({ failure: expect.stringMatching(/^webhook: dns/) })
    expect(await shown()).toContain(unreachable)
  })
})

describe('the keys of an app', () => {
  it('are not fetched once their URL resolves to a private address or redirects to one', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const another = await generateKeyPair('ES256')
    const setOf = async (kid: string, key: CryptoKey) =>
      JSON.stringify({ keys: [{ ...(await exportJWK(key)), kid, alg: 'ES256' }] })
    const client = clientOf(world)
    const { app_key } = await client.makeApp({
      token_auth_methods: ['private_key_jwt'],
      jwks_uri: `https://keys.example.com:${port}/jwks`,
    })
    let serial = 0
    const authenticated = async (kid: string, key: CryptoKey) => {
      const now = epochSeconds(world.clock.now())
      const claims = {
        iss: app_key,
        sub: app_key,
        aud: world.deps.config.PUBLIC_URL,
        jti: `${++serial}`,
        exp: now + 60,
      }
      const client_assertion = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid }).sign(key)
      const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
      const form = queryOf({ client_assertion, client_assertion_type, token: 'x' })
      return (await client.call('POST', '/oauth2/introspect', { 'content-type': FORM }, form)).status === 200
    }
    answer = { status: 200, body: await setOf('one', publicKey) }
    expect(await authenticated('one', privateKey)).toBe(true)
    expect(calls).toEqual({ public: 1, private: 0 })
    // Moving the name could otherwise make the service accept another key.
    answer = { status: 200, body: await setOf('two', another.publicKey) }
    for (const [, address] of PRIVATE_ANSWERS) {
      world.clock.advance(301)
      answers = [[address]]
      expect(await authenticated('two', another.privateKey)).toBe(false)
    }
    expect(calls).toEqual({ public: 1, private: 0 })
    world.clock.advance(301)
    answers = [[PUBLIC]]
    answer = { status: 302, headers: { Location: `https://127.0.0.1:${port}/jwks` } }
    expect(await authenticated('two', another.privateKey)).toBe(false)
    expect(calls).toEqual({ public: 2, private: 0 })
  })
})
