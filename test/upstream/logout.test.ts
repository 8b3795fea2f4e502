import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Browser } from '../acceptance/browser.ts'
import { Client } from '../acceptance/client.ts'
import { header, injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { untilLocked } from '../locks.ts'
import { CLIENT_ID, CLIENT_SECRET, TestProvider } from './provider.ts'

/** OpenID Connect Back-Channel Logout 1.0: logout tokens of the provider, and forged ones. */

const ORIGIN = 'http://127.0.0.1:8000'
const PATH = '/sign-out/backchannel-logout'
const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const seconds = () => Math.floor(Date.now() / 1000)

let provider: TestProvider
let world: World
let client: Client
async function open(): Promise<World> {
  const opened = await openWorld({
    UPSTREAM_ISSUER: provider.issuer,
    UPSTREAM_CLIENT_ID: CLIENT_ID,
    UPSTREAM_CLIENT_SECRET: CLIENT_SECRET,
    UPSTREAM_CID: '5',
    PUBLIC_URL: ORIGIN,
    AUTHORIZE_PER_MINUTE: '100000',
  })
  opened.clock.advance((Date.now() - opened.clock.now().getTime()) / 1000)
  return opened
}
beforeAll(async () => {
  provider = await TestProvider.open()
  world = await open()
  client = new Client(injectWire(world.app), ORIGIN)
})
afterAll(async () => {
  await provider.close()
  await world.close()
})
afterEach(() => {
  provider.forger = undefined
  provider.instead.clear()
})

async function signedIn(claims: Record<string, unknown>): Promise<Browser> {
  const browser = client.newBrowser()
  const asked = new URL(header(await browser.open('/account'), 'location'))
  const back = provider.code(asked, claims)
  expect((await browser.send('GET', back.pathname + back.search)).status).toBe(303)
  return browser
}
const isSignedIn = async (browser: Browser) => (await browser.send('GET', '/account')).status === 200
let callers = 0
/** Sends a logout token, each from another network, so that refusals in one test do not count in the next one. */
async function sendLogoutToken(token: string | undefined, remoteAddress = `192.0.2.${++callers}`, app = world.app) {
  const answer = await app.inject({
    method: 'POST',
    url: PATH,
    remoteAddress,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: token === undefined ? '' : new URLSearchParams({ logout_token: token }).toString(),
  })
  return { status: answer.statusCode, error: answer.json().error, cache: answer.headers['cache-control'] }
}
const DONE = { status: 200, error: undefined, cache: 'no-store' }
const REFUSED = { status: 400, error: 'invalid_request', cache: 'no-store' }
const AWAY = { status: 503, error: 'temporarily_unavailable', cache: 'no-store' }

describe('a logout token', () => {
  it('with a sid ends that session, and no other of the person', async () => {
    const [one, other] = [await signedIn({ sub: 'p-1', sid: 's-1' }), await signedIn({ sub: 'p-1', sid: 's-2' })]
    expect(await sendLogoutToken(await provider.logoutToken({ sub: undefined, sid: 's-1' }))).toEqual(DONE)
    expect([await isSignedIn(one), await isSignedIn(other)]).toEqual([false, true])
    expect(await sendLogoutToken(await provider.logoutToken({ sub: 'p-1', sid: 's-2' }))).toEqual(DONE)
    expect(await isSignedIn(other)).toBe(false)
    const { rows } = await world.pool.query(
      `select user_id, detail from audit_event where event = 'user_sessions_ended' order by at`,
    )
    const row = { user_id: 'p-1', detail: { by: 'provider', sessions: 1 } }
    expect(rows).toEqual([row, row])
  })

  it('with a sub alone ends all sessions of that person, and nobody else’s', async () => {
    const theirs = [await signedIn({ sub: 'p-2', sid: 's-3' }), await signedIn({ sub: 'p-2' })]
    const stranger = await signedIn({ sub: 'p-3', sid: 's-4' })
    expect(await sendLogoutToken(await provider.logoutToken({ sub: 'p-2' }))).toEqual(DONE)
    expect(await Promise.all(theirs.map(isSignedIn))).toEqual([false, false])
    expect(await isSignedIn(stranger)).toBe(true)
    // The session of another person is not ended.
    expect(await sendLogoutToken(await provider.logoutToken({ sub: 'p-2', sid: 's-4' }))).toEqual(DONE)
    expect(await isSignedIn(stranger)).toBe(true)
  })

  it('waits for a change of the person, which may want to end the same sessions', async () => {
    const theirs = [await signedIn({ sub: 'p-5' }), await signedIn({ sub: 'p-5' })]
    const change = await world.pool.connect()
    try {
      await change.query('begin')
      await change.query("select from user_profile where user_id = 'p-5' for update")
      const sent = sendLogoutToken(await provider.logoutToken({ sub: 'p-5' }))
      await Promise.race([sent, untilLocked(world.pool)])
      const { rows } = await world.pool.query("select from browser_session where user_id = 'p-5' for update nowait")
      expect(rows).toHaveLength(2)
      await change.query('commit')
      expect(await sent).toEqual(DONE)
    } finally {
      change.release()
    }
    expect(await Promise.all(theirs.map(isSignedIn))).toEqual([false, false])
  })

  it('for an unknown person is answered in the same way', async () => {
    expect(await sendLogoutToken(await provider.logoutToken({ sub: 'nobody' }, { typ: 'JWT' }))).toEqual(DONE)
  })

  it('is accepted once, even if sent concurrently', async () => {
    const token = await provider.logoutToken({ sub: 'p-4' })
    const answers = await Promise.all(Array.from({ length: 6 }, () => sendLogoutToken(token)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400, 400])
    const browser = await signedIn({ sub: 'p-4' })
    expect(await sendLogoutToken(token)).toEqual(REFUSED)
    expect(await isSignedIn(browser)).toBe(true)
  })

  it('may be signed with a key that the provider has created since', async () => {
    const own = await TestProvider.open()
    const [former, kept] = [provider, world]
    provider = own
    world = await open()
    try {
      expect(await sendLogoutToken(await own.logoutToken())).toEqual(DONE)
      await own.rotate()
      // Keys are fetched at most twice a minute: until then the provider gets 503 and can send its token again.
      const token = await own.logoutToken()
      expect(await sendLogoutToken(token)).toEqual(AWAY)
      expect(own.asked.filter((call) => call === 'GET /jwks').length).toBe(1)
      world.clock.advance(30)
      expect(await sendLogoutToken(token)).toEqual(DONE)
      expect(own.asked.filter((call) => call === 'GET /jwks').length).toBe(2)
      // A key that is not published is refused.
      await own.forge()
      expect(await sendLogoutToken(await own.logoutToken())).toEqual(REFUSED)
    } finally {
      await world.close()
      await own.close()
      provider = former
      world = kept
    }
  })
})

describe('not accepted is', () => {
  it.each<[string, Record<string, unknown>, { typ?: string }?]>([
    ['another issuer', { iss: 'https://another.example' }],
    ['another audience', { aud: 'another' }],
    ['no audience', { aud: undefined }],
    ['no iat', { iat: undefined }],
    ['an iat of more than six minutes ago', { iat: seconds() - 400 }],
    ['an iat in the future', { iat: seconds() + 120 }],
    ['no exp', { exp: undefined }],
    ['an exp in the past', { exp: seconds() - 90 }],
    ['no jti', { jti: undefined }],
    ['an empty jti', { jti: '' }],
    ['no events', { events: undefined }],
    ['another event', { events: { 'http://schemas.openid.net/event/another': {} } }],
    ['a non-object event', { events: { [EVENT]: true } }],
    ['a nonce', { nonce: 'n' }],
    ['neither sub nor sid', { sub: undefined }],
    ['a non-string sub', { sub: 7 }],
    ['a non-string sid', { sid: ['s'] }],
    ['the type of an access token', {}, { typ: 'at+jwt' }],
  ])('a token with %s', async (_name, claims, options) => {
    const browser = await signedIn({ sub: 'p-1', sid: 's-9' })
    expect(await sendLogoutToken(await provider.logoutToken(claims, options))).toEqual(REFUSED)
    expect(await isSignedIn(browser)).toBe(true)
  })

  it('a token signed with another key, unsigned, or with HMAC, or a malformed one', async () => {
    const browser = await signedIn({ sub: 'p-1' })
    const right = await provider.logoutToken()
    const [, payload = ''] = right.split('.')
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.`
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const secret = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256' })
      .sign(Buffer.from(CLIENT_SECRET.repeat(2)))
    await provider.forge()
    const forged = await provider.logoutToken()
    for (const token of [forged, none, secret, `${right}x`, 'x.y.z', '', undefined, 'x'.repeat(9_000)]) {
      expect(await sendLogoutToken(token), token?.slice(0, 40)).toEqual(REFUSED)
    }
    expect(await isSignedIn(browser)).toBe(true)
    expect(world.logged()).toContain('a logout token was refused')
    expect(world.logged()).not.toContain(payload)
  })

  it('a token with an algorithm that the provider does not use for id_tokens', async () => {
    const key = { kid: 'es', ...(await generateKeyPair('ES256', { extractable: true })) }
    const keys = [{ ...(await exportJWK(key.publicKey)), kid: 'es', use: 'sig' }]
    provider.instead.set('/jwks', (response) => response.end(JSON.stringify({ keys })))
    const answerTo = async (algs: string[] | undefined) => {
      provider.metadata = { id_token_signing_alg_values_supported: algs }
      const own = await open()
      const token = await provider.logoutToken({}, { key, alg: 'ES256' })
      const answer = await sendLogoutToken(token, undefined, own.app).finally(() => own.close())
      provider.metadata = {}
      return answer
    }
    expect(await answerTo(['RS256'])).toEqual(REFUSED)
    expect(await answerTo(undefined)).toEqual(REFUSED)
    expect(await answerTo(['RS256', 'ES256'])).toEqual(DONE)
  })

  it('an id_token, or a token in the URL', async () => {
    const browser = await signedIn({ sub: 'p-1' })
    const token = await provider.logoutToken({ events: undefined, nonce: 'n', auth_time: seconds() }, { typ: 'JWT' })
    expect(await sendLogoutToken(token)).toEqual(REFUSED)
    const query = new URLSearchParams({ logout_token: await provider.logoutToken() })
    for (const method of ['GET', 'POST'] as const) {
      const { statusCode } = await world.app.inject({ method, url: `${PATH}?${query}`, remoteAddress: '192.0.2.250' })
      expect(statusCode).toBeGreaterThanOrEqual(400)
    }
    expect(await isSignedIn(browser)).toBe(true)
  })

  it('more than sixty invalid tokens a minute from one network, while valid ones still are', async () => {
    const statuses: number[] = []
    for (let n = 0; n < 62; n++) statuses.push((await sendLogoutToken('x.y.z', '198.51.100.1')).status)
    expect(statuses.slice(58)).toEqual([400, 400, 429, 429])
    const browser = await signedIn({ sub: 'p-8' })
    expect(await sendLogoutToken(await provider.logoutToken({ sub: 'p-8' }), '198.51.100.1')).toEqual(DONE)
    expect(await isSignedIn(browser)).toBe(false)
    expect(await sendLogoutToken(await provider.logoutToken({ sub: 'nobody' }), '198.51.100.2')).toEqual(DONE)
  })
})

describe('a provider whose keys cannot be fetched', () => {
  it('gets a 503 for its logout tokens', async () => {
    const own = await TestProvider.open()
    const [former, kept] = [provider, world]
    provider = own
    world = await open()
    try {
      own.instead.set('/jwks', (response) => void response.writeHead(500).end())
      const token = await own.logoutToken()
      // Its keys are not fetched again for five seconds, even when strangers send tokens.
      const answers = await Promise.all(Array.from({ length: 100 }, () => sendLogoutToken(token)))
      expect(answers).toEqual(answers.map(() => AWAY))
      for (let n = 0; n < 20; n++) expect(await sendLogoutToken(await own.logoutToken())).toEqual(AWAY)
      const asked = () => own.asked.filter((call) => call === 'GET /jwks').length
      expect(asked()).toBe(1)
      own.instead.clear()
      world.clock.advance(5)
      expect(await sendLogoutToken(token)).toEqual(DONE)
      // Fetched keys are used for an hour while they cannot be fetched again.
      own.instead.set('/jwks', (response) => void response.writeHead(200).end('{"keys": 7}'))
      world.clock.advance(660)
      const soon = Math.floor(world.clock.now().getTime() / 1000)
      const later = { iat: soon, exp: soon + 120 }
      for (let n = 0; n < 5; n++) expect(await sendLogoutToken(await own.logoutToken(later))).toEqual(DONE)
      expect(asked()).toBe(3)
      world.clock.advance(3_600)
      const last = Math.floor(world.clock.now().getTime() / 1000)
      expect(await sendLogoutToken(await own.logoutToken({ iat: last, exp: last + 120 }))).toEqual(AWAY)
    } finally {
      await world.close()
      await own.close()
      provider = former
      world = kept
    }
  })

  it.each([
    ['text/html', '<html><body>Back soon</body></html>'],
    ['application/json', '{"keys": ['],
    ['application/json', '[]'],
    ['application/json', 'null'],
  ])('gets a 503 while its keys are %s: %s', async (type, body) => {
    const own = await TestProvider.open()
    const [former, kept] = [provider, world]
    provider = own
    world = await open()
    try {
      own.instead.set('/jwks', (response) => void response.writeHead(200, { 'content-type': type }).end(body))
      expect(await sendLogoutToken(await own.logoutToken())).toEqual(AWAY)
    } finally {
      await world.close()
      await own.close()
      provider = former
      world = kept
    }
  })

  it('has no endpoint if people sign in here', async () => {
    const plain = await openWorld()
    try {
      expect((await plain.app.inject({ method: 'POST', url: PATH })).statusCode).toBe(404)
    } finally {
      await plain.close()
    }
  })
})
