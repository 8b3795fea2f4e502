import type { ServerResponse } from 'node:http'
import { createServer } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createUser } from '../../src/authorization/account/index.ts'
import { UPSTREAM_LIMITS } from '../../src/platform/config/call-limits.ts'
import type { Browser } from '../acceptance/browser.ts'
import { Client, pkcePair } from '../acceptance/client.ts'
import { consentForm } from '../acceptance/form.ts'
import { type Answer, header, injectWire } from '../acceptance/http.ts'
import { ALICE } from '../account/people.ts'
import { openWorld, type World } from '../harness.ts'
import { CALLBACK, StandardApp, tokensOf } from '../oidc/app.ts'
import { CLIENT_ID, CLIENT_SECRET, TestProvider } from './provider.ts'

/** Sign-in at an upstream OpenID provider: its claims, forged responses, and failures. */

let provider: TestProvider
let world: World
let client: Client
let rp: StandardApp

const SETTINGS = {
  UPSTREAM_CLIENT_ID: CLIENT_ID,
  UPSTREAM_CLIENT_SECRET: CLIENT_SECRET,
  UPSTREAM_CID: 'tenant',
  PUBLIC_URL: 'http://127.0.0.1:8000',
  AUTHORIZE_PER_MINUTE: '100000',
}

/** Opens a service whose clock agrees with the provider's. */
async function open(issuer: string, settings: Record<string, string> = {}): Promise<World> {
  const opened = await openWorld({ ...SETTINGS, UPSTREAM_ISSUER: issuer, ...settings })
  syncClock(opened)
  return opened
}

/** On a busy machine these tests take longer than the tolerated difference between two clocks. */
function syncClock({ clock }: World): void {
  clock.advance(Math.max(0, (Date.now() - clock.now().getTime()) / 1000))
}

beforeAll(async () => {
  provider = await TestProvider.open()
  world = await open(provider.issuer)
  client = new Client(injectWire(world.app), SETTINGS.PUBLIC_URL)
  rp = await StandardApp.make(client)
})
afterAll(async () => {
  await provider?.close()
  await world?.close()
})
afterEach(() => {
  provider.instead.clear()
  provider.metadata = {}
  provider.userInfo = undefined
  provider.forger = undefined
  provider.takesCodesAgain = false
})

let browser: Browser
beforeEach(() => {
  browser = client.newBrowser()
  syncClock(world)
})

const { verifier, challenge } = pkcePair()
/** A request of the standard dialect. */
const standard = (changes: Record<string, string> = {}): string =>
  rp.authorizeUrl({ code_challenge: challenge, code_challenge_method: 'S256', ...changes })

const PERSON = { tenant: 5, sub: 'p-1', name: 'Petra Provider' }
const locationOf = (answer: Answer): URL => new URL(header(answer, 'location'), SETTINGS.PUBLIC_URL)
const pathOf = ({ pathname, search }: URL): string => pathname + search

/** Opens a page that needs a sign-in; returns the authorization request to the provider. */
async function begin(path = '/account', by = browser): Promise<URL> {
  const answer = await by.open(path)
  expect(answer.status, answer.text).toBe(303)
  const authorize = locationOf(answer)
  expect(authorize.origin).toBe(provider.issuer)
  return authorize
}

/** Lets the provider answer the request; returns the response of our callback. */
async function callback(asked: URL, claims: object = {}, answer: Record<string, string> = {}, by = browser) {
  return by.send('GET', pathOf(provider.code(asked, { ...PERSON, ...claims }, answer)))
}

async function signIn(claims: object = {}, path = '/account', by = browser): Promise<Answer> {
  return by.follow(await callback(await begin(path, by), claims, {}, by))
}

const usersOf = async (cid: number) => {
  const { rows } = await world.pool.query(
    `select p.user_id, p.name, p.phone_number, p.gender, c.passport, c.password_hash from user_profile p
     left join user_credential c using (routing_key, cid, user_id) where p.cid = $1 order by p.user_id`,
    [cid],
  )
  return rows
}

describe('a sign-in at the provider', () => {
  it('uses PKCE, state and nonce, and returns to where it began', async () => {
    const asked = await begin('/account/reads')
    expect(Object.fromEntries(asked.searchParams)).toEqual({
      client_id: CLIENT_ID,
      response_type: 'code',
      redirect_uri: `${SETTINGS.PUBLIC_URL}/sign-in/callback`,
      scope: 'openid profile phone',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      state: expect.stringMatching(/^[\w-]{100,300}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      ui_locales: 'en',
    })
    const answer = await callback(asked)
    expect([answer.status, header(answer, 'location')]).toEqual([303, '/account/reads'])
    expect((await browser.open('/account/reads')).text).toContain('Petra Provider')
  })

  it('creates a person from the claims at the first time, and updates them later', async () => {
    provider.userInfo = {
      sub: 'p-new',
      phone_number: '+86 138-0000-0001',
      gender: 'female',
      preferred_username: 'petra',
    }
    await signIn({ tenant: 6, sub: 'p-new' })
    await signIn({ tenant: 6, sub: 'p-new', name: 'Petra Renamed' }, '/account', client.newBrowser())
    const changed = async () =>
      (await world.pool.query("select updated_at::text from user_profile where user_id = 'p-new'")).rows[0].updated_at
    const before = await changed()
    expect(before).not.toBeNull()
    world.clock.advance(1)
    await signIn({ tenant: 6, sub: 'p-new', name: 'Petra Renamed' }, '/account', client.newBrowser())
    await signIn({ tenant: 6, sub: 'p-new', name: '\u200b' }, '/account', client.newBrowser())
    expect(await changed()).toBe(before)
    const [person, ...others] = await usersOf(6)
    expect(others).toEqual([])
    expect(person).toMatchObject({
      user_id: 'p-new',
      name: 'Petra Renamed',
      phone_number: '+8613800000001',
      gender: '2',
    })
    expect(person.passport).toBe('petra')
  })

  it('matches an existing person', async () => {
    await createUser(world.deps, { ...ALICE, cid: 7, user_id: '4711', passport: 'alice-of-7' })
    const answer = await signIn({ tenant: '7', sub: '4711', name: 'Alice There' })
    expect(answer.text).toContain('Alice There')
    expect(await usersOf(7)).toMatchObject([{ user_id: '4711', passport: 'alice-of-7', phone_number: '13800000001' }])
  })

  it('creates one person if first sign-ins are concurrent', async () => {
    const browsers = Array.from({ length: 8 }, () => client.newBrowser())
    const asked = await Promise.all(browsers.map((one) => begin('/account', one)))
    const answers = await Promise.all(
      browsers.map((one, at) => callback(asked[at] as URL, { tenant: 8, sub: 'p-both' }, {}, one)),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 303))
    expect(await usersOf(8)).toHaveLength(1)
    for (const one of browsers) expect((await one.open('/account')).status).toBe(200)
  })

  it('gives a person another passport if their preferred_username is taken', async () => {
    await signIn({ tenant: 9, sub: 'p-1', preferred_username: 'taken' })
    await signIn({ tenant: 9, sub: 'p-2', preferred_username: 'taken' }, '/account', client.newBrowser())
    expect((await usersOf(9)).map(({ passport }) => passport)).toEqual(['taken', '9-p-2'])
  })

  it('accepts as passport no unverified mail address, and no name of the generated form', async () => {
    const wished = async (sub: string, claims: object) =>
      signIn({ tenant: 23, sub, ...claims }, '/account', client.newBrowser())
    await wished('p-a', { preferred_username: 'ceo@corp.example' })
    await wished('p-b', { preferred_username: 'ceo@corp.example', email: 'ceo@corp.example', email_verified: false })
    await wished('p-c', { preferred_username: '23-p-d' })
    await wished('p-d', {})
    await wished('p-e', { preferred_username: 'own@corp.example', email: 'own@corp.example', email_verified: true })
    expect((await usersOf(23)).map(({ passport }) => passport).sort()).toEqual(
      ['23-p-a', '23-p-b', '23-p-c', '23-p-d', 'own@corp.example'].sort(),
    )
  })

  it('ignores a phone number that the provider calls unverified', async () => {
    await signIn({ tenant: 24, sub: 'p-f', phone_number: '+8613800000002', phone_number_verified: false })
    expect((await usersOf(24))[0]?.phone_number).toBeNull()
  })

  it('creates an erased person anew', async () => {
    await signIn({ tenant: 12, sub: 'p-gone' })
    await client.admin('POST', '/users/erase', { cid: 12, user_id: 'p-gone' })
    expect(locationOf(await browser.open('/account')).origin).toBe(provider.issuer)
    expect((await signIn({ tenant: 12, sub: 'p-gone' })).status).toBe(200)
    expect(await usersOf(12)).toHaveLength(1)
  })

  it('works in two tabs at a time, each with its own return address', async () => {
    const [one, other] = [await begin('/account/reads'), await begin('/account/data')]
    expect(header(await callback(other), 'location')).toBe('/account/data')
    expect(header(await callback(one), 'location')).toBe('/account/reads')
  })

  it('gets an app of the contract dialect its code', async () => {
    const app = await client.makeApp()
    const consent = await signIn({}, client.authorizePath(client.request(app)))
    const form = consentForm(consent.text)
    expect(form, consent.text).toBeDefined()
    if (!form) return
    const answer = await browser.submit(form, { decision: 'approve' })
    expect(locationOf(answer).searchParams.get('code')).toMatch(/^ghac_/)
  })
})

describe('odd values', () => {
  it.each([
    ['acr', { acr: 'a\u0000b' }],
    ['amr', { amr: ['a\u0000b'] }],
    ['name', { name: 'a\u0000b' }],
    ['preferred_username', { preferred_username: 'a\u0000b', sub: 'p-odd' }],
    ['picture', { picture: 'https://a.example/\u0000' }],
    ['phone_number', { phone_number: '\u0000' }],
    ['an auth_time beyond the range of dates', { auth_time: 1e300 }],
    ['an auth_time in the far past', { auth_time: 0.5 }],
  ])('in %s do not prevent a sign-in', async (_name, claims) => {
    const answer = await callback(await begin(), claims)
    expect(answer.status, answer.text).toBe(303)
  })

  it.each([
    'app=%00',
    'return_to=%2F%00',
    'login_hint=%00',
    'acr_values=%00',
    'prompt=%00',
    'max_age=-1',
    'max_age=1e9',
  ])('in the query of the sign-in page (%s) are ignored', async (query) => {
    const answer = await browser.send('GET', `/sign-in?${query}`)
    expect(answer.status, answer.text).toBe(303)
    expect((await callback(locationOf(answer))).status).toBe(303)
  })
})

describe('the identity of the person', () => {
  const VALID_CIDS = [
    ['a number', { tenant: 5 }, '5'],
    ['a number as string', { tenant: '5' }, '5'],
  ] as const
  it.each(VALID_CIDS)('may have %s as cid', async (_name, claims) => {
    expect((await signIn(claims)).status).toBe(200)
  })

  it.each([
    ['no cid', { tenant: undefined }],
    ['a cid with a leading zero', { tenant: '05' }],
    ['a cid with an exponent', { tenant: '5e0' }],
    ['a cid with a space', { tenant: ' 5' }],
    ['a cid with a fraction', { tenant: 5.5 }],
    ['a negative cid', { tenant: -5 }],
    ['a cid that is too large', { tenant: 2_147_483_648 }],
    ['a list', { tenant: [5] }],
    ['true', { tenant: true }],
    ['null', { tenant: null }],
    ['a user_id that is too long', { sub: 'x'.repeat(129) }],
    ['a user_id with a space around', { sub: ' p-1' }],
    ['a user_id with a line break', { sub: 'p\n1' }],
  ])('is refused with %s, and nobody is created', async (_name, claims) => {
    const before = await world.pool.query('select count(*) from user_profile')
    const answer = await callback(await begin(), claims)
    expect(answer.status).toBe(403)
    expect(answer.text).toMatch(/You are not signed in/)
    expect(browser.cookies.has('gatehouse_session')).toBe(false)
    expect((await world.pool.query('select count(*) from user_profile')).rows).toEqual(before.rows)
  })

  it.each([
    ['1e21', 1e21],
    ['a number that JSON has rounded', 2 ** 53],
    ['a fraction', 1.5],
  ])('is refused with %s as user_id', async (_name, id) => {
    const other = await open(provider.issuer, { UPSTREAM_USER_ID: 'id', UPSTREAM_CID: '3' })
    try {
      const theirs = new Client(injectWire(other.app), SETTINGS.PUBLIC_URL).newBrowser()
      expect((await callback(await begin('/account', theirs), { id }, {}, theirs)).status).toBe(403)
      const right = await callback(await begin('/account', theirs), { id: 1001 }, {}, theirs)
      expect(right.status).toBe(303)
      const { rows } = await other.pool.query('select cid, user_id from user_profile')
      expect(rows).toEqual([{ cid: 3, user_id: '1001' }])
    } finally {
      await other.close()
    }
  })

  it('appears in the log as the name of the bad claim, without its value', async () => {
    await callback(await begin(), { tenant: 'secret-tenant', name: 'Nobody Knows' })
    expect(world.logged()).toContain('claim tenant is no cid (string)')
    expect(world.logged()).not.toMatch(/secret-tenant|Nobody Knows/)
  })
})

describe('not accepted is', () => {
  const refused = async (answer: Answer) => {
    expect(answer.status, answer.text).toBe(403)
    expect(answer.text).toContain('You are not signed in')
    expect(browser.cookies.has('gatehouse_session')).toBe(false)
  }

  it.each([
    ['another nonce', { nonce: 'another' }],
    ['no nonce', { nonce: undefined }],
    ['another issuer', { iss: 'https://another.example' }],
    ['another audience', { aud: 'another' }],
    ['an exp in the past', { exp: Math.floor(Date.now() / 1000) - 120, iat: Math.floor(Date.now() / 1000) - 400 }],
    ['an nbf in the future', { nbf: Math.floor(Date.now() / 1000) + 300 }],
    ['two audiences without azp', { aud: [CLIENT_ID, 'another'] }],
    ['a non-numeric auth_time', { auth_time: 'now' }],
  ])('an id_token with %s', async (_name, claims) => {
    await refused(await callback(await begin(), claims))
  })

  it('an id_token signed with another key', async () => {
    await provider.forge()
    await refused(await callback(await begin()))
  })

  it('a response of another provider (iss)', async () => {
    await refused(await callback(await begin(), {}, { iss: 'https://another.example' }))
    await refused(await callback(await begin(), {}, { iss: '' }))
  })

  it('another state', async () => {
    await refused(await callback(await begin(), {}, { state: 'x'.repeat(43) }))
    await refused(await callback(await begin(), {}, { state: '' }))
  })

  it('userinfo about another person', async () => {
    provider.userInfo = { sub: 'somebody-else', name: 'Somebody Else' }
    await refused(await callback(await begin()))
  })

  it.each([false, true])('a repeated callback, with the provider accepting its code again: %s', async (isTaken) => {
    provider.takesCodesAgain = isTaken
    const back = provider.code(await begin(), PERSON)
    expect((await browser.send('GET', pathOf(back))).status).toBe(303)
    const again = client.newBrowser()
    for (const [name, value] of browser.cookies) if (name === 'gatehouse_upstream') again.cookies.set(name, value)
    const answer = await again.send('GET', pathOf(back))
    expect(answer.status).toBe(403)
    expect(again.cookies.has('gatehouse_session')).toBe(false)
  })

  it('a callback of a sign-in begun in another browser', async () => {
    const back = provider.code(await begin(), PERSON)
    const victim = client.newBrowser()
    await begin('/account', victim)
    for (const one of [victim, client.newBrowser()]) {
      expect((await one.send('GET', pathOf(back))).status).toBe(403)
      expect(one.cookies.has('gatehouse_session')).toBe(false)
    }
    expect((await browser.send('GET', pathOf(back))).status).toBe(303)
  })

  it('a callback after more than half an hour', async () => {
    const other = await open(provider.issuer)
    try {
      const theirs = new Client(injectWire(other.app), SETTINGS.PUBLIC_URL).newBrowser()
      const asked = await begin('/account', theirs)
      other.clock.advance(1_801)
      expect((await callback(asked, {}, {}, theirs)).status).toBe(403)
    } finally {
      await other.close()
    }
  })

  it('a log entry with state, nonce, secret or code', async () => {
    const asked = await begin()
    await callback(asked)
    for (const name of ['state', 'nonce']) expect(world.logged()).not.toContain(asked.searchParams.get(name))
    expect(world.logged()).not.toContain(CLIENT_SECRET)
    expect(world.logged()).not.toContain('code-')
  })
})

describe('error responses', () => {
  const ERRORS = [
    ['access_denied', 403, 'cancelled or not allowed'],
    ['temporarily_unavailable', 503, 'does not answer'],
    ['server_error', 503, 'does not answer'],
    ['invalid_scope', 403, 'does not belong to this sign-in'],
    ['<script>', 403, 'does not belong to this sign-in'],
  ] as const
  it.each(ERRORS)('(%s) get a page that explains the error, with a link to try again', async (error, status, text) => {
    const asked = await begin('/account/reads')
    const answer = await callback(asked, {}, { error, code: '' })
    expect(answer.status).toBe(status)
    expect(answer.text).toContain(text)
    expect(answer.text).toContain('/sign-in?return_to=%2Faccount%2Freads')
    expect(answer.text).not.toContain('<script>')
  })

  it('can be continued in the other language', async () => {
    const answer = await callback(await begin('/account/reads'), {}, { error: 'access_denied', code: '' })
    const [, link = ''] = /href="\?([^"]*zh-CN)"/.exec(answer.text) ?? []
    const asked = await begin(`/sign-in/callback?${link.replaceAll('&amp;', '&')}`)
    expect(asked.searchParams.get('ui_locales')).toBe('zh-CN')
    expect(header(await callback(asked), 'location')).toBe('/account/reads')
  })

  it('name the app for which the sign-in was', async () => {
    const asked = await begin(standard())
    const answer = await callback(asked, {}, { error: 'access_denied', code: '' })
    expect(answer.text).toMatch(/You wanted to continue to Test app/)
  })
})

describe('a provider that fails', () => {
  const away = async (answer: Answer) => {
    expect(answer.status, answer.text).toBe(503)
    expect(header(answer, 'retry-after')).toBe('10')
    expect(answer.text).toContain('does not answer')
    expect(answer.text).toContain('Try again')
  }
  const huge = (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    for (let at = 0; at < 40; at++) response.write(`${' '.repeat(65_536)}`)
    response.end()
  }

  it.each([
    ['500', (response: ServerResponse) => response.writeHead(500).end()],
    ['a redirect', (response: ServerResponse) => response.writeHead(302, { location: 'http://localhost:1/' }).end()],
    [
      'no JSON',
      (response: ServerResponse) => response.writeHead(200, { 'content-type': 'application/json' }).end('<html>'),
    ],
    ['HTML', (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
    ['far too much data', huge],
    ['a closed connection', (response: ServerResponse) => response.destroy()],
    [
      'half a response',
      (response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
        response.write('{')
        response.destroy()
      },
    ],
  ])('at the token endpoint gets an error page: %s', async (_name, answer) => {
    const asked = await begin()
    provider.instead.set('/token', answer)
    await away(await callback(asked))
    expect(world.logged()).toContain('a sign-in at the OpenID provider has failed')
  })

  it.each(['/jwks', '/userinfo'])('at %s gets an error page', async (path) => {
    const other = await TestProvider.open()
    const here = await open(other.issuer)
    try {
      const theirs = new Client(injectWire(here.app), SETTINGS.PUBLIC_URL).newBrowser()
      for (const answer of [(response: ServerResponse) => response.writeHead(500).end(), huge]) {
        const asked = locationOf(await theirs.open('/account'))
        other.instead.set(path, answer)
        await away(await theirs.send('GET', pathOf(other.code(asked, PERSON))))
      }
      expect((await here.pool.query('select from user_profile')).rowCount).toBe(0)
    } finally {
      await here.close()
      await other.close()
    }
  })

  it('does not have its responses logged', async () => {
    for (const body of [
      '{"access_token":"gh-secret",',
      '"gh-secret"',
      'gh-secret',
      '{"error":"gh secret","error_description":"gh-secret"}',
    ]) {
      for (const status of [200, 400]) {
        const asked = await begin()
        const answer = (response: ServerResponse) =>
          response.writeHead(status, { 'content-type': 'application/json' }).end(body)
        provider.instead.set('/token', answer)
        expect((await callback(asked)).status).toBeGreaterThan(400)
      }
    }
    expect(world.logged()).not.toMatch(/gh.secret/)
  })

  it('is protected by a limit of sign-ins per minute and address', async () => {
    const here = await open(provider.issuer, { AUTHORIZE_PER_MINUTE: '3' })
    try {
      const theirs = new Client(injectWire(here.app), SETTINGS.PUBLIC_URL).newBrowser()
      const statuses = []
      for (let at = 0; at < 4; at++) statuses.push((await theirs.send('GET', '/sign-in')).status)
      expect(statuses).toEqual([303, 303, 303, 429])
    } finally {
      await here.close()
    }
  })

  it('cannot be used to fill the database: unfinished sign-ins leave no rows', async () => {
    const rows = async () => {
      const { rows: tables } = await world.pool.query(
        `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
      )
      const counts = await Promise.all(
        tables.map(async ({ name }) => [name, (await world.pool.query(`select from "${name}"`)).rowCount]),
      )
      return Object.fromEntries(counts.filter(([name]) => name !== 'rate_count'))
    }
    const before = await rows()
    const path = `/account?${'x'.repeat(3_000)}`
    for (let at = 0; at < 20; at++) {
      const asked = await begin(`/sign-in?${new URLSearchParams({ return_to: path })}`, client.newBrowser())
      expect(asked.href.length).toBeLessThan(8_000)
      await browser.send('GET', `/sign-in/callback?state=${asked.searchParams.get('state')}&code=x`)
    }
    expect(await rows()).toEqual(before)
    const tooLong = `/sign-in?${new URLSearchParams({ return_to: `/account?${'x'.repeat(6_000)}` })}`
    expect((await browser.send('GET', tooLong)).status).toBe(400)
  })

  it('times out after a few seconds if it is silent', async () => {
    const asked = await begin()
    provider.instead.set('/token', () => {})
    const from = performance.now()
    await away(await callback(asked))
    expect(performance.now() - from).toBeLessThan(4 * UPSTREAM_LIMITS.totalMs)
  })

  it('times out if it sends byte by byte', async () => {
    const asked = await begin()
    const timers: NodeJS.Timeout[] = []
    provider.instead.set('/token', (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      timers.push(setInterval(() => response.write(' '), 200))
    })
    const from = performance.now()
    await away(await callback(asked))
    for (const timer of timers) clearInterval(timer)
    expect(performance.now() - from).toBeLessThan(4 * UPSTREAM_LIMITS.totalMs)
  })

  it.each([
    ['is missing', undefined],
    ['has another issuer', { issuer: 'https://another.example' }],
    ['has no token endpoint', { token_endpoint: undefined }],
  ])('whose discovery document %s gets an error page, and is retried later', async (_name, metadata) => {
    const other = await TestProvider.open()
    const here = await open(other.issuer)
    try {
      if (metadata) other.metadata = metadata
      else {
        other.instead.set('/.well-known/openid-configuration', (response) => {
          here.clock.advance(6) // as long as it may take
          response.writeHead(404).end()
        })
      }
      const theirs = new Client(injectWire(here.app), SETTINGS.PUBLIC_URL).newBrowser()
      await away(await theirs.open('/account'))
      await away(await theirs.open('/account'))
      expect(other.asked).toHaveLength(1)
      other.metadata = {}
      other.instead.clear()
      here.clock.advance(6)
      expect(locationOf(await theirs.open('/account')).origin).toBe(other.issuer)
    } finally {
      await here.close()
      await other.close()
    }
  })

  it('by refusing connections gets an error page', async () => {
    const server = createServer()
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as { port: number }
    await new Promise((done) => server.close(done))
    const here = await open(`http://127.0.0.1:${port}`)
    try {
      const theirs = new Client(injectWire(here.app), SETTINGS.PUBLIC_URL).newBrowser()
      await away(await theirs.open('/account'))
      expect((await theirs.open('/')).status).toBe(200)
    } finally {
      await here.close()
    }
  })

  it('is asked for its document and keys once, and for new keys after a rotation', async () => {
    const other = await TestProvider.open()
    const here = await open(other.issuer)
    try {
      const wire = injectWire(here.app)
      const visit = async () => {
        const theirs = new Client(wire, SETTINGS.PUBLIC_URL).newBrowser()
        const asked = locationOf(await theirs.open('/account'))
        return (await theirs.send('GET', pathOf(other.code(asked, PERSON)))).status
      }
      expect([await visit(), await visit(), await visit()]).toEqual([303, 303, 303])
      const count = (call: string) => other.asked.filter((one) => one === call).length
      expect(count('GET /.well-known/openid-configuration')).toBe(1)
      expect(count('GET /jwks')).toBe(1)
      await other.rotate()
      // The keys were fetched a moment ago: one sign-in is refused, and the next one uses the new keys.
      expect([await visit(), await visit()]).toEqual([403, 303])
      expect(count('GET /jwks')).toBeLessThanOrEqual(3)
    } finally {
      await here.close()
      await other.close()
    }
  })
})

describe('the parameters of an authorization request', () => {
  it('login_hint, acr_values and max_age are passed on', async () => {
    const asked = await begin(standard({ login_hint: 'petra', max_age: '600', acr_values: 'phr 0' }))
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      login_hint: 'petra',
      max_age: '600',
      acr_values: 'phr 0',
    })
  })

  it('max_age=0 is passed on with prompt=login', async () => {
    const asked = await begin(standard({ max_age: '0' }))
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({ prompt: 'login', max_age: '0' })
  })

  it.each(['login', 'select_account'])('prompt=%s requires a new sign-in, proved by auth_time', async (prompt) => {
    await signIn()
    const asked = await begin(standard({ prompt }))
    expect(asked.searchParams.get('prompt')).toBe(prompt === 'login' ? 'login' : 'login select_account')
    expect(asked.searchParams.get('max_age')).toBe('0')
    const old = await callback(asked, { auth_time: Math.floor(Date.now() / 1000) - 300 })
    expect(old.status).toBe(403)
    expect(old.text).toContain('did not ask you again')
    const silent = await callback(await begin(standard({ prompt })), { auth_time: undefined })
    expect(silent.status).toBe(403)
    const answer = await signIn({}, standard({ prompt }))
    expect(consentForm(answer.text), answer.text).toBeDefined()
  })

  it('max_age and prompt cannot be removed on the way', async () => {
    await signIn({ auth_time: Math.floor(Date.now() / 1000) - 3_000 })
    for (const changes of [{ prompt: 'login' }, { max_age: '600' }]) {
      const page = await browser.send('GET', standard(changes))
      const bare = new URLSearchParams({ return_to: locationOf(page).searchParams.get('return_to') ?? '' })
      const asked = locationOf(await browser.send('GET', `/sign-in?${bare}`))
      expect(asked.searchParams.has('max_age')).toBe(false)
      const answer = await browser.follow(await callback(asked, { auth_time: Math.floor(Date.now() / 1000) - 3_000 }))
      expect(locationOf(answer).origin).toBe(provider.issuer)
    }
  })

  it('prompt=none never leads to the provider', async () => {
    const answer = await browser.open(standard({ prompt: 'none' }))
    expect(locationOf(answer).searchParams.get('error')).toBe('login_required')
  })

  it('acr, amr and auth_time in the id_token are those of the provider', async () => {
    const auth_time = Math.floor(Date.now() / 1000) - 100
    const codeOf = async (claims: object, changes: Record<string, string>) => {
      const by = client.newBrowser()
      let answer = await signIn({ auth_time, ...claims }, standard(changes), by)
      const form = consentForm(answer.text)
      if (form) answer = await by.submit(form, { decision: 'approve' })
      const location = locationOf(answer)
      const { id_token } = tokensOf(
        await rp.post('token', {
          ...rp.credentials,
          grant_type: 'authorization_code',
          code: location.searchParams.get('code') ?? '',
          redirect_uri: CALLBACK,
          code_verifier: verifier,
        }),
      )
      return JSON.parse(Buffer.from(id_token.split('.')[1] ?? '', 'base64url').toString())
    }
    const asks = { acr_values: 'urn:gold urn:silver' }
    expect(await codeOf({ acr: 'urn:gold', amr: ['hwk'] }, asks)).toMatchObject({
      acr: 'urn:gold',
      amr: ['hwk'],
      auth_time,
    })
    const unsaid = await codeOf({ auth_time: undefined }, asks)
    expect(unsaid).not.toHaveProperty('acr')
    expect(unsaid).not.toHaveProperty('amr')
    expect(unsaid).not.toHaveProperty('auth_time')
    const odd = await codeOf({ acr: 7, amr: 'pwd' }, asks)
    expect(odd).not.toHaveProperty('acr')
    expect(odd).not.toHaveProperty('amr')
  })

  it('acr_values leads to the provider once more, even if consent is remembered', async () => {
    const first = await signIn({}, standard())
    const form = consentForm(first.text)
    if (form) await browser.submit(form, { decision: 'approve' })
    expect(locationOf(await browser.open(standard())).searchParams.has('code')).toBe(true)
    const asked = await begin(standard({ acr_values: 'urn:gold' }))
    const answer = await browser.follow(await callback(asked, { acr: 'urn:silver', auth_time: 1_700_000_000 }))
    expect(locationOf(answer).searchParams.has('code')).toBe(true)
  })

  it('do not help a person who is blocked here', async () => {
    await signIn({ tenant: 10, sub: 'p-blocked' })
    await client.block({ cid: 10, user_id: 'p-blocked', passport: '', password: '' })
    const by = client.newBrowser()
    const answer = await signIn({ tenant: 10, sub: 'p-blocked' }, standard(), by)
    expect(locationOf(answer).searchParams.get('error')).toBe('access_denied')
    const app = await client.makeApp()
    expect((await by.open(client.authorizePath(client.request(app)))).text).toContain('20016')
  })

  it('include prompt=login and max_age=0 for changes that require a recent sign-in', async () => {
    await signIn({ auth_time: Math.floor(Date.now() / 1000) - 3_000 })
    const asked = await begin('/sign-in?confirm=1&return_to=%2Faccount%2Fdata')
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({ prompt: 'login', max_age: '0' })
  })
})

describe('signing out', () => {
  const signOut = (returnTo = '/') => browser.send('POST', '/sign-out', { return_to: returnTo })

  it('goes through the provider and back', async () => {
    await signIn()
    const there = locationOf(await signOut('/connect'))
    expect(there.origin + there.pathname).toBe(`${provider.issuer}/logout`)
    expect(there.searchParams.get('post_logout_redirect_uri')).toBe(`${SETTINGS.PUBLIC_URL}/sign-out/callback`)
    expect(there.searchParams.get('id_token_hint')?.split('.')).toHaveLength(3)
    expect(browser.cookies.has('gatehouse_session')).toBe(false)
    const back = await browser.send('GET', `/sign-out/callback?state=${there.searchParams.get('state')}`)
    expect(header(back, 'location')).toBe('/connect')
    const stranger = await client
      .newBrowser()
      .send('GET', `/sign-out/callback?state=${there.searchParams.get('state')}`)
    expect(header(stranger, 'location')).toBe('/')
  })

  it('ends the session here if the provider has no end_session_endpoint', async () => {
    await signIn()
    const session = browser.cookies.get('gatehouse_session') ?? ''
    provider.metadata = { end_session_endpoint: undefined }
    world.clock.advance(3_601)
    expect(header(await signOut(), 'location')).toBe('/')
    browser.cookies.set('gatehouse_session', session)
    expect(locationOf(await browser.open('/account')).origin).toBe(provider.issuer)
    await signIn({ exp: Math.floor(Date.now() / 1000) + 7_200 })
    expect(header(await signOut('/account'), 'location')).toBe('/sign-in?return_to=%2Faccount&confirm=1')
  })
})

describe('features that the provider takes over', () => {
  it('are replaced on the security page by a link to the provider', async () => {
    const page = await signIn({}, '/account/security')
    expect(page.text).toContain(`Your sign-in is at ${new URL(provider.issuer).host}`)
    expect(page.text).not.toMatch(/href="\/password|account\/security\/sign-in/)
  })

  it.each(['/password', '/sign-in/forgotten', '/sign-in/code', '/sign-in/passkey', '/account/security/sign-in'])(
    'are replaced at %s by a page that names the provider',
    async (path) => {
      const page = await browser.send('GET', path)
      expect(page.status).toBe(200)
      expect(page.text).toContain(`Your sign-in is at ${new URL(provider.issuer).host}`)
      expect((await browser.send('POST', path, { passport: 'alice', password: 'x' })).status).toBe(403)
    },
  )

  it('include the profile, which cannot be changed here', async () => {
    await signIn({ tenant: 14 })
    expect((await browser.open('/account/profile')).text).not.toMatch(/<input[^>]* name="(name|phone|mail)"/)
    await browser.send('POST', '/account/profile', { name: 'Somebody Else' })
    expect(await usersOf(14)).toMatchObject([{ name: 'Petra Provider' }])
  })

  it('include passwords, so that operators cannot make password links', async () => {
    await createUser(world.deps, { ...ALICE, cid: 13, passport: 'alice-of-13' })
    const link = client.admin('POST', '/users/reset-password', { cid: 13, user_id: ALICE.user_id })
    await expect(link).rejects.toThrow(/this service keeps no passwords: people sign in at UPSTREAM_ISSUER/)
  })

  it('include sign-in with a password, which is refused here', async () => {
    await createUser(world.deps, { ...ALICE, cid: 11, passport: 'alice-of-11' })
    const answer = await browser.send('POST', '/sign-in', { passport: 'alice-of-11', password: ALICE.password })
    expect([answer.status, header(answer, 'location')]).toEqual([303, '/sign-in?return_to=%2F'])
    expect(browser.cookies.has('gatehouse_session')).toBe(false)
  })
})
