import { SignJWT } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Browser } from '../acceptance/browser.ts'
import { Client } from '../acceptance/client.ts'
import { header, injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { CLIENT_ID, CLIENT_SECRET, TestProvider } from './provider.ts'

/** The provider says that a session there is over (OpenID Connect Back-Channel Logout 1.0), or somebody says so in its name. */

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
/** Each from another network, so that what one test has refused does not count in the next one. */
async function tell(token: string | undefined, remoteAddress = `192.0.2.${++callers}`, app = world.app) {
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

describe('a session that is over at the provider', () => {
  it('is over here, and no other of the person', async () => {
    const [one, other] = [await signedIn({ sub: 'p-1', sid: 's-1' }), await signedIn({ sub: 'p-1', sid: 's-2' })]
    expect(await tell(await provider.logoutToken({ sub: undefined, sid: 's-1' }))).toEqual(DONE)
    expect([await isSignedIn(one), await isSignedIn(other)]).toEqual([false, true])
    expect(await tell(await provider.logoutToken({ sub: 'p-1', sid: 's-2' }))).toEqual(DONE)
    expect(await isSignedIn(other)).toBe(false)
    const { rows } = await world.pool.query(
      `select user_id, detail from audit_event where event = 'user_sessions_ended' order by at`,
    )
    const row = { user_id: 'p-1', detail: { by: 'provider', sessions: 1 } }
    expect(rows).toEqual([row, row])
  })

  it('is over for all sessions of the person where it names the person alone, and for nobody else', async () => {
    const theirs = [await signedIn({ sub: 'p-2', sid: 's-3' }), await signedIn({ sub: 'p-2' })]
    const stranger = await signedIn({ sub: 'p-3', sid: 's-4' })
    expect(await tell(await provider.logoutToken({ sub: 'p-2' }))).toEqual(DONE)
    expect(await Promise.all(theirs.map(isSignedIn))).toEqual([false, false])
    expect(await isSignedIn(stranger)).toBe(true)
    // A session of somebody else is not theirs to end.
    expect(await tell(await provider.logoutToken({ sub: 'p-2', sid: 's-4' }))).toEqual(DONE)
    expect(await isSignedIn(stranger)).toBe(true)
  })

  it('of which there is none here is answered alike', async () => {
    expect(await tell(await provider.logoutToken({ sub: 'nobody' }, { typ: 'JWT' }))).toEqual(DONE)
  })

  it('is told once, also to two processes at once', async () => {
    const token = await provider.logoutToken({ sub: 'p-4' })
    const answers = await Promise.all(Array.from({ length: 6 }, () => tell(token)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400, 400])
    const browser = await signedIn({ sub: 'p-4' })
    expect(await tell(token)).toEqual(REFUSED)
    expect(await isSignedIn(browser)).toBe(true)
  })

  it('is told with a key that the provider has made meanwhile', async () => {
    const own = await TestProvider.open()
    const [former, kept] = [provider, world]
    provider = own
    world = await open()
    try {
      expect(await tell(await own.logoutToken())).toEqual(DONE)
      await own.rotate()
      // Keys are read twice a minute at most: until then the provider is told to come back, and its token is not lost.
      const token = await own.logoutToken()
      expect(await tell(token)).toEqual(AWAY)
      expect(own.asked.filter((call) => call === 'GET /jwks').length).toBe(1)
      world.clock.advance(30)
      expect(await tell(token)).toEqual(DONE)
      expect(own.asked.filter((call) => call === 'GET /jwks').length).toBe(2)
      // The former key is none any more.
      await own.forge()
      expect(await tell(await own.logoutToken())).toEqual(REFUSED)
    } finally {
      await world.close()
      await own.close()
      provider = former
      world = kept
    }
  })
})

describe('what is not believed', () => {
  it.each<[string, Record<string, unknown>, { typ?: string }?]>([
    ['another issuer', { iss: 'https://another.example' }],
    ['another audience', { aud: 'another' }],
    ['no audience', { aud: undefined }],
    ['no iat', { iat: undefined }],
    ['an iat of six minutes and more ago', { iat: seconds() - 400 }],
    ['an iat of the future', { iat: seconds() + 120 }],
    ['no exp', { exp: undefined }],
    ['an exp of the past', { exp: seconds() - 90 }],
    ['no jti', { jti: undefined }],
    ['an empty jti', { jti: '' }],
    ['no events', { events: undefined }],
    ['another event', { events: { 'http://schemas.openid.net/event/another': {} } }],
    ['an event that is no object', { events: { [EVENT]: true } }],
    ['a nonce', { nonce: 'n' }],
    ['neither sub nor sid', { sub: undefined }],
    ['a sub that is no text', { sub: 7 }],
    ['a sid that is no text', { sid: ['s'] }],
    ['the type of an access token', {}, { typ: 'at+jwt' }],
  ])('a token with %s', async (_name, claims, options) => {
    const browser = await signedIn({ sub: 'p-1', sid: 's-9' })
    expect(await tell(await provider.logoutToken(claims, options))).toEqual(REFUSED)
    expect(await isSignedIn(browser)).toBe(true)
  })

  it('a token of another key, of none, of a secret, and what is no token', async () => {
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
      expect(await tell(token), token?.slice(0, 40)).toEqual(REFUSED)
    }
    expect(await isSignedIn(browser)).toBe(true)
    expect(world.logged()).toContain('a logout token was refused')
    expect(world.logged()).not.toContain(payload)
  })

  it('an id_token, and a token in the address', async () => {
    const browser = await signedIn({ sub: 'p-1' })
    const token = await provider.logoutToken({ events: undefined, nonce: 'n', auth_time: seconds() }, { typ: 'JWT' })
    expect(await tell(token)).toEqual(REFUSED)
    const query = new URLSearchParams({ logout_token: await provider.logoutToken() })
    for (const method of ['GET', 'POST'] as const) {
      const { statusCode } = await world.app.inject({ method, url: `${PATH}?${query}`, remoteAddress: '192.0.2.250' })
      expect(statusCode).toBeGreaterThanOrEqual(400)
    }
    expect(await isSignedIn(browser)).toBe(true)
  })

  it('guesses without end: sixty a minute of one network get an answer, and what the provider says counts', async () => {
    const statuses: number[] = []
    for (let n = 0; n < 62; n++) statuses.push((await tell('x.y.z', '198.51.100.1')).status)
    expect(statuses.slice(58)).toEqual([400, 400, 429, 429])
    const browser = await signedIn({ sub: 'p-8' })
    expect(await tell(await provider.logoutToken({ sub: 'p-8' }), '198.51.100.1')).toEqual(DONE)
    expect(await isSignedIn(browser)).toBe(false)
    expect(await tell(await provider.logoutToken({ sub: 'nobody' }), '198.51.100.2')).toEqual(DONE)
  })
})

describe('a provider that is away', () => {
  it('gets a 503, and nothing has ended', async () => {
    const own = await TestProvider.open()
    const [former, kept] = [provider, world]
    provider = own
    world = await open()
    try {
      own.instead.set('/jwks', (response) => void response.writeHead(500).end())
      const token = await own.logoutToken()
      // Of strangers, too: for five seconds its keys are not asked for again.
      const answers = await Promise.all(Array.from({ length: 100 }, () => tell(token)))
      expect(answers).toEqual(answers.map(() => AWAY))
      for (let n = 0; n < 20; n++) expect(await tell(await own.logoutToken())).toEqual(AWAY)
      const asked = () => own.asked.filter((call) => call === 'GET /jwks').length
      expect(asked()).toBe(1)
      own.instead.clear()
      world.clock.advance(5)
      expect(await tell(token)).toEqual(DONE)
      // What was read counts for an hour while it cannot be read again.
      own.instead.set('/jwks', (response) => void response.writeHead(200).end('{"keys": 7}'))
      world.clock.advance(660)
      const soon = Math.floor(world.clock.now().getTime() / 1000)
      const later = { iat: soon, exp: soon + 120 }
      for (let n = 0; n < 5; n++) expect(await tell(await own.logoutToken(later))).toEqual(DONE)
      expect(asked()).toBe(3)
      world.clock.advance(3_600)
      const last = Math.floor(world.clock.now().getTime() / 1000)
      expect(await tell(await own.logoutToken({ iat: last, exp: last + 120 }))).toEqual(AWAY)
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
      expect(await tell(await own.logoutToken())).toEqual(AWAY)
    } finally {
      await world.close()
      await own.close()
      provider = former
      world = kept
    }
  })

  it('is unknown where people sign in here', async () => {
    const plain = await openWorld()
    try {
      expect((await plain.app.inject({ method: 'POST', url: PATH })).statusCode).toBe(404)
    } finally {
      await plain.close()
    }
  })
})
