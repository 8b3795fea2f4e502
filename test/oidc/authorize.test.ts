import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Browser } from '../acceptance/browser.ts'
import { Client, pkcePair, type User } from '../acceptance/client.ts'
import { consentForm, signInForm } from '../acceptance/form.ts'
import { type Answer, header, injectWire, queryOf } from '../acceptance/http.ts'
import { MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'
import { bodyOf, CALLBACK, FORM, type Parameters, StandardApp, tokensOf } from './app.ts'
import { visit } from './person.ts'

/** The authorization endpoint: when it asks for sign-in and consent, and where it may redirect. */

let world: World
let client: Client
let rp: StandardApp
let user: User
let browser: Browser
beforeAll(async () => {
  world = await openWorld({ ...MANY_CONNECTIONS, AUTHORIZE_PER_MINUTE: '1000000' })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  rp = await StandardApp.make(client)
  user = await client.makeUser()
  browser = client.newBrowser()
  await rp.code(browser, user)
})
afterAll(() => world?.close())

const PKCE = { code_challenge: pkcePair().challenge, code_challenge_method: 'S256' }
const authorize = (changes: Parameters = {}, by = browser) => by.open(rp.authorizeUrl({ ...PKCE, ...changes }))
const shows = ({ text }: Answer): string => (signInForm(text) ? 'sign-in' : consentForm(text) ? 'consent' : 'neither')
const answered = (answer: Answer): Record<string, string> => {
  expect(answer.status, answer.text.slice(0, 300)).toBe(303)
  const location = new URL(header(answer, 'location'))
  expect(location.origin + location.pathname).toBe(CALLBACK)
  return Object.fromEntries(location.searchParams)
}
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

describe('an authorization response', () => {
  it('has the code, the unchanged state and the issuer', async () => {
    expect(answered(await authorize())).toEqual({
      code: expect.stringMatching(/^ghac_/),
      state: 'a state, with äöü',
      iss: world.deps.config.PUBLIC_URL,
    })
  })

  it('has no state if none was sent', async () => {
    expect(Object.keys(answered(await authorize({ state: undefined })))).toEqual(['code', 'iss'])
  })

  it('is a 303 redirect without a referrer', async () => {
    const answer = await authorize()
    expect([answer.status, header(answer, 'referrer-policy'), header(answer, 'cache-control')]).toEqual([
      303,
      'no-referrer',
      'no-store',
    ])
  })

  it.each<[string, Parameters, string]>([
    ['another response_type', { response_type: 'token' }, 'unsupported_response_type'],
    ['no response_type', { response_type: undefined }, 'invalid_request'],
    ['a fragment', { response_mode: 'fragment' }, 'invalid_request'],
    ['no scope', { scope: undefined }, 'invalid_scope'],
    ['only unknown scopes', { scope: 'email toString' }, 'invalid_scope'],
    ['an over-long scope', { scope: `openid ${'x'.repeat(1_100)}` }, 'invalid_request'],
    ['no challenge', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    ['a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['no challenge method', { code_challenge_method: undefined }, 'invalid_request'],
    ['a malformed challenge', { code_challenge: 'x' }, 'invalid_request'],
    ['a request object', { request: 'ey.ey.ey' }, 'request_not_supported'],
    ['a foreign request_uri', { request_uri: 'https://app.example.com/request' }, 'request_uri_not_supported'],
    ['a registration', { registration: '{}' }, 'registration_not_supported'],
    ['an unknown prompt', { prompt: 'create' }, 'invalid_request'],
    ['prompt none and another', { prompt: 'none login' }, 'invalid_request'],
    ['a negative max_age', { max_age: '-1' }, 'invalid_request'],
    ['an over-long nonce', { nonce: 'n'.repeat(513) }, 'invalid_request'],
  ])('reports %s to the app', async (_name, changes, error) => {
    expect(answered(await authorize(changes))).toMatchObject({
      error,
      error_description: expect.any(String),
      state: 'a state, with äöü',
      iss: world.deps.config.PUBLIC_URL,
    })
  })

  it('omits a state that is too long', async () => {
    expect(Object.keys(answered(await authorize({ state: 's'.repeat(1_025) })))).toEqual([
      'error',
      'error_description',
      'iss',
    ])
    expect(answered(await authorize({ state: 's'.repeat(1_024) }))).toMatchObject({ state: 's'.repeat(1_024) })
  })

  it.each(['scope=openid', 'state=x', 'nonce=x', 'prompt=none', 'code_challenge=x'])(
    'reports a repeated parameter, %s, to the app',
    async (extra) => {
      const known = rp.authorizeUrl({ ...PKCE, nonce: 'n', prompt: 'none' })
      expect(answered(await browser.open(`${known}&${extra}`)).error).toBe('invalid_request')
    },
  )

  it('ignores unknown parameters, even repeated ones', async () => {
    const url = rp.authorizeUrl({ ...PKCE, acr_values: 'x', claims_locales: 'fr' })
    for (const unknown of ['resource=a&resource=b', 'continue=x', 'continue=x&continue=y', 'pushed=x'])
      expect(answered(await browser.open(`${url}&${unknown}`)).code, unknown).toBeDefined()
  })

  it('reports scopes that the app does not hold, and that it is suspended', async () => {
    const phone = await StandardApp.make(client, { scopes: ['PHONE_NUMBER'] })
    const url = phone.authorizeUrl({ ...PKCE, scope: 'openid profile' })
    expect(answered(await browser.open(url)).error).toBe('invalid_scope')
    await client.suspend(phone.app)
    expect(answered(await browser.open(url)).error).toBe('unauthorized_client')
  })
})

describe('without a known app and a registered redirect_uri', () => {
  it.each<[string, Parameters]>([
    ['an unknown client', { client_id: 'nobody' }],
    ['no client', { client_id: undefined }],
    ['no redirect_uri', { redirect_uri: undefined }],
    ['another path', { redirect_uri: `${CALLBACK}/more` }],
    ['another query', { redirect_uri: `${CALLBACK}?a=b` }],
    ['another port', { redirect_uri: 'https://app.example.com:8443/callback' }],
    ['another spelling', { redirect_uri: 'HTTPS://APP.example.com/callback' }],
    ['a host that the contract dialect would accept', { redirect_uri: 'https://app.example.com/other' }],
    ['a script', { redirect_uri: 'javascript:alert(1)' }],
    ['a NUL', { redirect_uri: `${CALLBACK}\0` }],
    ['an over-long request', { login_hint: 'x'.repeat(9_000) }],
    ['a request_uri that was never issued', { request_uri: 'urn:ietf:params:oauth:request_uri:nothing' }],
  ])('%s gets an error page, never a redirect', async (_name, changes) => {
    const answer = await client.call('GET', rp.authorizeUrl({ ...PKCE, ...changes }), { accept: 'text/html' })
    expect([header(answer, 'location'), header(answer, 'content-type')]).toEqual(['', 'text/html; charset=utf-8'])
    expect([400, 401]).toContain(answer.status)
    expect(header(answer, 'content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
  })

  it.each(['', '&ui_locales=en'])('a forged continuation gets an error page too: %s', async (more) => {
    const answer = await client.call('GET', `/oauth2/authorize?continue=e30.AAAA${more}`, { accept: 'text/html' })
    expect([answer.status, header(answer, 'location')]).toEqual([400, ''])
  })

  it.each(['client_id', 'redirect_uri'])('a repeated %s gets an error page', async (name) => {
    const answer = await browser.open(`${rp.authorizeUrl(PKCE)}&${name}=${encodeURIComponent(CALLBACK)}`)
    expect([answer.status, header(answer, 'location')]).toEqual([400, ''])
  })

  it('an app that has registered only hosts cannot use the standard dialect', async () => {
    const hosts = new StandardApp(client, await client.makeApp())
    expect((await browser.open(hosts.authorizeUrl(PKCE))).text).toContain('redirect_uri is not registered')
  })

  it('an app with redirect URIs needs no hosts, here or at A1', async () => {
    const app = await StandardApp.make(client, { hosts: [] })
    expect((await visit(browser, app.authorizeUrl(PKCE))).location.searchParams.has('code')).toBe(true)
    const target = { ...app.app, redirect_uri: CALLBACK }
    expect((await client.getCode(browser, target)).code).toMatch(/^ghac_/)
    expect(
      (await browser.open(client.authorizePath(client.request(app.app, { redirect_uri: `${CALLBACK}2` })))).text,
    ).toContain('20012')
  })

  it('plain http is for apps with http_allowed, or for the loopback interface', async () => {
    const uris = ['http://app.example.com/callback', 'http://localhost:9/callback']
    const app = await StandardApp.make(client, { redirect_uris: uris, http_allowed: false })
    const to = (redirect_uri: string) => browser.open(app.authorizeUrl({ ...PKCE, redirect_uri }))
    expect((await to(uris[0] ?? '')).status).toBe(400)
    expect(shows(await to(uris[1] ?? ''))).toBe('consent')
  })

  it.each([
    ['http://127.0.0.1:54321/cb', 'consent'],
    ['http://127.0.0.1/cb', 'consent'],
    ['http://[::1]:1/cb', 'consent'],
    ['http://127.0.0.1:54321/cb/', 'neither'],
    ['http://127.0.0.1:99999/cb', 'neither'],
    ['http://127.0.0.1:1@evil.example/cb', 'neither'],
    ['https://127.0.0.1:54321/cb', 'neither'],
    ['http://localhost:54321/cb', 'neither'],
    ['http://127.0.0.2/cb', 'neither'],
  ])('a native app may use any port of the loopback interface: %s %s', async (redirect_uri, expected) => {
    const uris = ['http://127.0.0.1/cb', 'http://[::1]:7/cb', 'http://localhost:7/cb']
    const native = await StandardApp.make(client, { redirect_uris: uris })
    expect(shows(await browser.open(native.authorizeUrl({ ...PKCE, redirect_uri })))).toBe(expected)
  })
})

describe('consent', () => {
  it('is remembered for the union of consented scopes', async () => {
    const app = await StandardApp.make(client)
    const pages = async (scope: string) => (await visit(browser, app.authorizeUrl({ ...PKCE, scope }))).pages
    expect(await pages('openid profile')).toEqual(['consent'])
    expect(await pages('openid')).toEqual([])
    expect(await pages('openid phone')).toEqual(['consent'])
    expect(await pages('openid profile phone')).toEqual([])
    expect(await pages('openid offline_access')).toEqual(['consent'])
  })

  it('is requested each time if the app or the request demands it', async () => {
    expect(shows(await authorize({ prompt: 'consent' }))).toBe('consent')
    await client.update(rp.app, { always_ask: true })
    expect(shows(await authorize())).toBe('consent')
    expect(answered(await authorize({ prompt: 'none' })).error).toBe('consent_required')
    await client.update(rp.app, { always_ask: false })
  })

  it('of the contract’s dialect is not remembered', async () => {
    const app = await StandardApp.make(client)
    await client.getCode(browser, { ...app.app, redirect_uri: CALLBACK })
    expect(shows(await browser.open(app.authorizeUrl({ ...PKCE, scope: 'USER_INFO' })))).toBe('consent')
  })

  it('that is refused is reported to the app, and nothing is remembered', async () => {
    const app = await StandardApp.make(client)
    const { location } = await visit(browser, app.authorizeUrl(PKCE), { decision: 'refuse' })
    expect(location.searchParams.get('error')).toBe('access_denied')
    expect(shows(await browser.open(app.authorizeUrl(PKCE)))).toBe('consent')
  })

  it('that is refused after approval is forgotten', async () => {
    const app = await StandardApp.make(client)
    const form = consentForm((await browser.open(app.authorizeUrl(PKCE))).text)
    if (!form) throw new Error('no form')
    expect((await browser.submit(form, { decision: 'approve' })).status).toBe(303)
    expect((await browser.submit(form, { decision: 'refuse' })).status).toBe(400)
    expect(shows(await browser.open(app.authorizeUrl(PKCE)))).toBe('consent')
  })

  it.each(['/oauth2/consent', '/oauth/v2/consent'])(
    'form of one dialect is not accepted by the other: %s',
    async (action) => {
      const app = await StandardApp.make(client)
      const standard = consentForm(
        (await browser.open(app.authorizeUrl({ ...PKCE, scope: 'USER_INFO', state: 'x' }))).text,
      )
      const contract = await client.consentFormFor(browser, client.request({ ...app.app, redirect_uri: CALLBACK }))
      const form = action === standard?.action ? contract : standard
      if (!form) throw new Error('no form')
      const answer = await browser.submit({ ...form, action }, { decision: 'approve' })
      expect(header(answer, 'location')).toBe('')
      expect(await client.grants(user)).not.toContainEqual(expect.objectContaining({ app_key: app.app.app_key }))
    },
  )

  it('form from another site is refused', async () => {
    const form = consentForm((await authorize({ prompt: 'consent' })).text)
    const headers = {
      'content-type': FORM,
      cookie: browser.cookieHeader,
      origin: 'https://evil.example',
      'sec-fetch-site': 'cross-site',
    }
    const body = queryOf({ ...form?.fields, decision: 'approve' })
    expect((await client.call('POST', '/oauth2/consent', headers, body)).status).toBe(400)
  })
})

describe('consent of a public client', () => {
  const uris = ['http://127.0.0.1/cb', 'http://[::1]:7/cb', 'http://localhost:7/cb', CALLBACK]
  const openerFor = async (method: string) => {
    const app = await StandardApp.make(client, { redirect_uris: uris, token_auth_methods: [method] })
    await visit(browser, app.authorizeUrl({ ...PKCE, redirect_uri: 'http://127.0.0.1:5001/cb' }))
    return (changes: Parameters) => browser.open(app.authorizeUrl({ ...PKCE, ...changes }))
  }

  it.each(['http://127.0.0.1:5001/cb', 'http://127.0.0.1:6666/cb', 'http://[::1]:6666/cb', 'http://localhost:7/cb'])(
    'is requested each time for an address where any program may listen: %s',
    async (redirect_uri) => {
      const open = await openerFor('none')
      expect(shows(await open({ redirect_uri }))).toBe('consent')
      const silent = new URL(header(await open({ redirect_uri, prompt: 'none' }), 'location'))
      expect([silent.searchParams.get('error'), silent.searchParams.get('code')]).toEqual(['consent_required', null])
    },
  )

  it('is remembered for an https address, and for a loopback address of a client with a secret', async () => {
    expect(answered(await (await openerFor('none'))({ redirect_uri: CALLBACK })).code).toBeDefined()
    const answer = await (await openerFor('client_secret_post'))({ redirect_uri: 'http://127.0.0.1:6666/cb' })
    expect(header(answer, 'location')).toMatch(/^http:\/\/127.0.0.1:6666\/cb\?code=/)
  })
})

describe('silent grants', () => {
  const grantsOf = async ({ app }: StandardApp) =>
    (await client.grants(user)).filter(({ app_key }) => app_key === app.app_key).length
  const again = (app: StandardApp, by = browser, changes: Parameters = {}) =>
    by.open(app.authorizeUrl({ ...PKCE, ...changes }))

  it('are limited, even if a page makes the browser request many at once', async () => {
    const app = await StandardApp.make(client)
    const first = await app.tokens(browser, user)
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(Array.from({ length: 60 }, () => again(app)))
      expect(answers.every((answer) => answered(answer).code !== undefined)).toBe(true)
    }
    // The grant with a consent page is kept in addition to the newest fifty silent ones.
    for (let more = 0; more < 2; more++) await again(app)
    expect(await grantsOf(app)).toBe(51)
    expect((await app.userInfo(first.access_token)).status).toBe(200)
    expect(tokensOf(await app.exchange(await app.code(browser, user))).id_token).toMatch(/^ey/)
  })

  it('do not end grants of other browsers or with exchanged codes, since any page can make them', async () => {
    const app = await StandardApp.make(client)
    const elsewhere = client.newBrowser()
    await app.code(browser, user)
    const [other, own] = [await app.tokens(elsewhere, user), await app.tokens(browser, user)]
    const short = await app.tokens(browser, user, { scope: 'openid' })
    for (let times = 0; times < 55; times++) {
      world.clock.advance(1)
      await again(app, browser, { scope: 'openid' })
    }
    expect((await app.userInfo(short.access_token)).status).toBe(200)
    for (const { access_token, refresh_token } of [other, own]) {
      expect((await app.userInfo(access_token)).status).toBe(200)
      tokensOf(await app.refresh(refresh_token))
    }
  })

  it('that were ended leave no working code', async () => {
    const app = await StandardApp.make(client)
    await app.code(browser, user)
    const code = await app.code(browser, user)
    for (let times = 0; times < 55; times++) {
      world.clock.advance(1)
      await again(app)
    }
    expect(bodyOf(await app.exchange(code), 400).error).toBe('invalid_grant')
  })
})

describe('acr', () => {
  it.each([
    ['0', '0'],
    ['urn:mace:incommon:iap:silver phr', '0'],
    [undefined, undefined],
    ['', undefined],
  ])('for acr_values %s is %s, after a refresh too', async (acr_values, acr) => {
    const first = await rp.tokens(browser, user, { acr_values, prompt: 'consent' })
    expect(claimsOf(first.id_token).acr).toBe(acr)
    expect(claimsOf(tokensOf(await rp.refresh(first.refresh_token)).id_token).acr).toBe(acr)
    expect(claimsOf((await rp.tokens(browser, user, { acr_values })).id_token).acr).toBe(acr)
  })

  it('is announced by discovery', async () => {
    expect(bodyOf(await client.call('GET', '/.well-known/openid-configuration'))).toMatchObject({
      acr_values_supported: ['0', 'http://schemas.openid.net/pape/policies/2007/06/multi-factor', 'phr'],
      claims_supported: expect.arrayContaining(['acr', 'amr']),
    })
  })
})

describe('a browser session', () => {
  it('that is missing leads to the sign-in page with the login_hint filled in', async () => {
    const stranger = client.newBrowser()
    const page = await authorize({ login_hint: user.passport, ui_locales: 'zh-CN' }, stranger)
    expect(signInForm(page.text)?.fields.passport).toBe(user.passport)
    expect(page.text).toContain('lang="zh-CN"')
    expect(answered(await authorize({ prompt: 'none' }, client.newBrowser())).error).toBe('login_required')
  })

  it.each(['login', 'select_account', 'login consent'])(
    'is not enough for prompt=%s: the person signs in again, once',
    async (prompt) => {
      world.clock.advance(60)
      const { location, pages } = await visit(browser, rp.authorizeUrl({ ...PKCE, prompt }), { user })
      expect(pages).toEqual(prompt.includes('consent') ? ['sign-in', 'consent'] : ['sign-in'])
      expect(location.searchParams.get('code')).not.toBeNull()
    },
  )

  it('older than max_age requires signing in again; auth_time says when', async () => {
    const first = await rp.tokens(browser, user, { prompt: 'login', nonce: 'first' })
    world.clock.advance(100)
    expect(answered(await authorize({ max_age: '100' })).code).toBeDefined()
    const same = await rp.tokens(browser, user, { max_age: '100' })
    expect(claimsOf(same.id_token).auth_time).toBe(claimsOf(first.id_token).auth_time)
    // Java’s greatest int, and more seconds than a Date can hold: no limit
    for (const max_age of ['2147483647', '9'.repeat(20)])
      expect(answered(await authorize({ max_age })).code).toBeDefined()
    world.clock.advance(1)
    expect(answered(await authorize({ max_age: '100', prompt: 'none' })).error).toBe('login_required')
    const { pages } = await visit(browser, rp.authorizeUrl({ ...PKCE, max_age: '0' }), { user })
    expect(pages).toEqual(['sign-in'])
    const again = await rp.tokens(browser, user, { max_age: '0' })
    expect(claimsOf(again.id_token)).toMatchObject({ auth_time: claimsOf(first.id_token).auth_time + 101 })
    expect(claimsOf(first.id_token).nonce).toBe('first')
    expect(claimsOf(again.id_token)).not.toHaveProperty('nonce')
  })

  it('of another person than the id_token_hint requires signing in as that person', async () => {
    const { id_token: id_token_hint } = await rp.tokens(browser, user)
    const other = await client.makeUser()
    const theirs = client.newBrowser()
    await rp.code(theirs, other)
    expect(answered(await authorize({ id_token_hint, prompt: 'none' }, theirs)).error).toBe('login_required')
    const asked = rp.authorizeUrl({ ...PKCE, id_token_hint })
    expect((await visit(theirs, asked, { user: other })).location.searchParams.get('error')).toBe('login_required')
    expect((await visit(theirs, asked, { user })).location.searchParams.get('code')).not.toBeNull()
    expect(answered(await authorize({ id_token_hint, prompt: 'none' })).code).toBeDefined()
  })

  it('of a blocked person gives the app access_denied', async () => {
    const blocked = await client.makeUser()
    const theirs = client.newBrowser()
    await rp.code(theirs, blocked)
    await client.block(blocked)
    expect(answered(await authorize({}, theirs)).error).toBe('access_denied')
  })

  it.each(['approve', 'refuse'])('of a person who was blocked before pressing %s does so too', async (decision) => {
    const blocked = await client.makeUser()
    const theirs = client.newBrowser()
    await rp.code(theirs, blocked)
    const form = consentForm((await authorize({ prompt: 'consent' }, theirs)).text)
    if (!form) throw new Error('no consent form')
    await client.block(blocked)
    expect(answered(await theirs.submit(form, { decision }))).toMatchObject({
      error: 'access_denied',
      state: 'a state, with äöü',
    })
    await client.unblock(blocked)
    expect(answered(await theirs.submit(form, { decision: 'approve' })).code, 'nothing was decided').toBeDefined()
  })
})

describe('a consent page that was left open', () => {
  const formOf = async (changes: Parameters, by = browser) => {
    const form = consentForm((await authorize({ prompt: 'consent', ...changes }, by)).text)
    if (!form) throw new Error('no consent form')
    return form
  }

  it('leads to a sign-in if the request demands a recent one, and to consent again', async () => {
    const theirs = client.newBrowser()
    await rp.code(theirs, user)
    const form = await formOf({ max_age: '600' }, theirs)
    world.clock.advance(31 * 60)
    const { location, pages } = await visitAfter(theirs, await theirs.submit(form, { decision: 'approve' }))
    expect(pages).toEqual(['sign-in', 'consent'])
    expect(location.searchParams.get('code')).not.toBeNull()
  })

  it('is no way around prompt=login: a sign-in of half an hour ago does not satisfy it', async () => {
    const theirs = client.newBrowser()
    const page = await authorize({ prompt: 'login' }, theirs)
    const return_to = signInForm(page.text)?.fields.return_to ?? ''
    await rp.code(theirs, user)
    expect(answered(await theirs.open(return_to)).code).toBeDefined()
    world.clock.advance(31 * 60)
    expect(shows(await theirs.open(return_to))).toBe('sign-in')
  })

  it.each(['approve', 'refuse'])('in an ended session leads on %s to sign-in and consent again', async (decision) => {
    const theirs = client.newBrowser()
    await rp.code(theirs, user)
    const form = await formOf({ prompt: undefined, scope: 'USER_INFO openid' }, theirs).catch(() => formOf({}, theirs))
    theirs.cookies.delete('gatehouse_session')
    const { pages } = await visitAfter(theirs, await theirs.submit(form, { decision }))
    expect(pages).toEqual(['sign-in', 'consent'])
  })

  it('by another person grants nothing: the person signed in now is asked', async () => {
    const [one, other] = [client.newBrowser(), client.newBrowser()]
    await rp.code(one, user)
    await rp.code(other, await client.makeUser({ name: 'Somebody else' }))
    const answer = await other.follow(await other.submit(await formOf({}, one), { decision: 'approve' }))
    expect([shows(answer), answer.text.includes('Somebody else')]).toEqual(['consent', true])
  })

  async function visitAfter(theirs: Browser, answer: Answer) {
    expect([answer.status, header(answer, 'location')]).toEqual([303, expect.stringMatching(/^\/oauth2\/authorize\?/)])
    return visit(theirs, header(answer, 'location'), { user })
  }
})

describe('a request by POST', () => {
  const post = (changes: Parameters = {}) => rp.post('authorize', rp.request({ ...PKCE, ...changes }))

  it('from another site is repeated by GET, so that the browser sends its cookie', async () => {
    const answer = await post({ nonce: 'n' })
    expect([answer.status, header(answer, 'location')]).toEqual([
      303,
      expect.stringMatching(/^\/oauth2\/authorize\?continue=/),
    ])
    expect(answered(await browser.open(header(answer, 'location'))).code).toBeDefined()
  })

  it('shows its pages in the language that the app asks for', async () => {
    const path = header(await post({ prompt: 'consent', ui_locales: 'zh-CN' }), 'location')
    expect((await browser.open(path)).text).toContain('<html lang="zh-CN">')
  })

  it('reports an error to the app or as a page', async () => {
    expect(answered(await post({ scope: 'x' })).error).toBe('invalid_scope')
    expect(bodyOf(await post({ client_id: 'nobody' }), 400)).toMatchObject({ error: 'invalid_client' })
  })

  it('can be continued later, and is checked again then', async () => {
    const app = await StandardApp.make(client)
    const path = header(await app.post('authorize', app.request(PKCE)), 'location')
    await app.code(browser, user)
    world.clock.advance(1_801)
    expect(answered(await browser.open(path)).code).toBeDefined()
    await client.update(app.app, { scopes: ['USER_INFO'] })
    expect(answered(await browser.open(path)).error).toBe('invalid_scope')
    await client.suspend(app.app)
    expect(answered(await browser.open(path)).error).toBe('unauthorized_client')
    await client.update(app.app, { redirect_uris: ['https://app.example.com/moved'] })
    expect([(await browser.open(path)).status, header(await browser.send('GET', path), 'location')]).toEqual([400, ''])
  })
})

describe('response_mode=form_post', () => {
  it('is a page with a form that a script or the person submits', async () => {
    const page = await authorize({ response_mode: 'form_post', state: '"><script>' })
    expect(page.status).toBe(200)
    expect(header(page, 'content-security-policy')).toMatch(/script-src 'self'.*base-uri 'none'/)
    expect(header(page, 'content-security-policy')).not.toContain('form-action')
    expect(page.text).toContain(`action="${CALLBACK}"`)
    expect(page.text).toContain('value="&quot;>&lt;script>"'.replaceAll('>', '&gt;'))
    expect(page.text).not.toContain('"><script>')
    expect(page.text).toMatch(/<script src="\/assets\/oidc-form-post/)
  })

  it('carries errors too', async () => {
    const page = await authorize({ response_mode: 'form_post', scope: 'x' })
    expect(page.text).toContain('name="error" value="invalid_scope"')
  })

  it('also where only the refused request object says so, and the state', async () => {
    const objectOf = (claims: object) =>
      `${btoa('{"alg":"none"}')}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`
    const asked = (request: string) => authorize({ state: undefined, request })
    const page = await asked(objectOf({ response_mode: 'form_post', state: 'within' }))
    expect(page.text).toContain('name="error" value="request_not_supported"')
    expect(page.text).toContain('name="state" value="within"')
    for (const request of [objectOf({ response_mode: 1, state: ['x'] }), objectOf([]), 'a.b.c', 'a.b.c.d.e', 'x'])
      expect(answered(await asked(request))).toMatchObject({ error: 'request_not_supported' })
  })
})

describe('a pushed request', () => {
  const push = (changes: Parameters = {}) =>
    rp.post('par', { ...rp.request({ ...PKCE, ...changes }), ...rp.credentials })
  const uriOf = async (changes?: Parameters) => String(bodyOf(await push(changes), 201).request_uri)
  const openWith = (request_uri: string, by = rp) =>
    browser.open(`/oauth2/authorize?${queryOf({ client_id: by.app.app_key, request_uri })}`)

  it('can be reopened by the same browser only, by GET or POST, until it is answered', async () => {
    const theirs = client.newBrowser()
    const query = queryOf({ client_id: rp.app.app_key, request_uri: await uriOf() })
    const path = `/oauth2/authorize?${query}`
    for (let visits = 0; visits < 3; visits++) expect(shows(await theirs.open(path))).toBe('sign-in')
    expect((await browser.open(path)).status).toBe(400)
    const byForm = await theirs.follow(
      await theirs.send('POST', '/oauth2/authorize', Object.fromEntries(new URLSearchParams(query))),
    )
    expect(shows(byForm)).toBe('sign-in')
    await client.update(rp.app, { always_ask: true })
    const form = signInForm((await theirs.open(path)).text)
    if (!form) throw new Error('no form')
    const signedIn = await theirs.submit(form, { passport: user.passport, password: user.password })
    expect(shows(await theirs.follow(signedIn))).toBe('consent')
    const shown = consentForm((await theirs.open(path)).text)
    if (!shown) throw new Error('no consent form')
    expect(answered(await theirs.submit(shown, { decision: 'approve' })).code).toBeDefined()
    await client.update(rp.app, { always_ask: false })
    expect((await theirs.open(path)).status).toBe(400)
  })

  it('shows its pages in the language that the app asks for', async () => {
    const opened = await openWith(await uriOf({ prompt: 'consent', ui_locales: 'zh-CN' }))
    expect((await browser.follow(opened)).text).toContain('<html lang="zh-CN">')
  })

  it('is used up by a refusal too', async () => {
    const request_uri = await uriOf({ prompt: 'consent' })
    const form = consentForm((await openWith(request_uri)).text)
    if (!form) throw new Error('no consent form')
    expect(answered(await browser.submit(form, { decision: 'refuse' })).error).toBe('access_denied')
    expect((await openWith(request_uri)).status).toBe(400)
  })

  it('continues from a sign-in page that was left open', async () => {
    const theirs = client.newBrowser()
    const query = queryOf({ client_id: rp.app.app_key, request_uri: await uriOf({ prompt: 'login' }) })
    const form = signInForm((await theirs.open(`/oauth2/authorize?${query}`)).text)
    if (!form) throw new Error('no form')
    world.clock.advance(31 * 60)
    const signedIn = await theirs.submit(form, { passport: user.passport, password: user.password })
    expect(answered(await theirs.follow(signedIn)).code).toBeDefined()
  })

  it('can be used once, by its own app, within a minute', async () => {
    const request_uri = await uriOf()
    const other = await StandardApp.make(client)
    expect((await openWith(request_uri, other)).status).toBe(400)
    expect(answered(await openWith(request_uri)).code).toBeDefined()
    expect((await openWith(request_uri)).status).toBe(400)
    const late = await uriOf()
    world.clock.advance(61)
    expect((await openWith(late)).status).toBe(400)
  })

  it('can be used by only one of many concurrent browsers', async () => {
    const request_uri = await uriOf()
    const path = `/oauth2/authorize?${queryOf({ client_id: rp.app.app_key, request_uri })}`
    const answers = await Promise.all(Array.from({ length: 50 }, () => client.call('GET', path)))
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1)
  })

  it('ignores empty parameters', async () => {
    const empty = { request_uri: '', request: '', registration: '', client_assertion: '', client_assertion_type: '' }
    expect(answered(await openWith(await uriOf(empty))).code).toBeDefined()
  })

  it('cannot be changed by parameters in the URL', async () => {
    const path = `/oauth2/authorize?${queryOf({ client_id: rp.app.app_key, request_uri: await uriOf({ state: 'pushed' }), state: 'x' })}`
    expect(answered(await browser.open(path)).state).toBe('pushed')
  })

  it.each<[string, Parameters, string]>([
    ['an unregistered redirect_uri', { redirect_uri: 'https://evil.example/' }, 'invalid_request'],
    ['an unknown scope', { scope: 'x' }, 'invalid_scope'],
    ['a request_uri', { request_uri: 'urn:ietf:params:oauth:request_uri:x' }, 'request_uri_not_supported'],
    ['no challenge', { code_challenge: undefined }, 'invalid_request'],
  ])('is refused for %s', async (_name, changes, error) => {
    expect(bodyOf(await push(changes), 400).error).toBe(error)
  })
})
