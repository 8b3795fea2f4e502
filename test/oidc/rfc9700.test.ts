import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Browser } from '../acceptance/browser.ts'
import { Client, pkcePair, type User } from '../acceptance/client.ts'
import { consentForm, signInForm } from '../acceptance/form.ts'
import { header, injectWire, queryOf } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { bodyOf, CALLBACK, type Parameters, StandardApp, tokensOf } from './app.ts'
import { visit } from './person.ts'

/** The attacks of RFC 9700 (Best Current Practice for OAuth 2.0 Security), each tried once; titles begin with the section. */

let world: World
let client: Client
/** Does not require PKCE, so that tests can tell what PKCE alone prevents. */
let rp: StandardApp
let other: StandardApp
let user: User
let browser: Browser
beforeAll(async () => {
  world = await openWorld({ AUTHORIZE_PER_MINUTE: '1000000' })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  rp = await StandardApp.make(client, { require_pkce: false, cors_origins: ['https://app.example.com'] })
  other = await StandardApp.make(client, { require_pkce: false })
  user = await client.makeUser()
  browser = client.newBrowser()
  await rp.code(browser, user)
})
afterAll(() => world?.close())

const outcomeOf = (answer: { status: number; text: string }) => `${answer.status} ${JSON.parse(answer.text).error}`
const errorAt = async (app: StandardApp, changes: Parameters) => {
  const answer = await browser.open(app.authorizeUrl(changes))
  const location = header(answer, 'location')
  return location ? new URL(location).searchParams.get('error') : `page ${answer.status}`
}

describe('grants', () => {
  it('2.1.2: there is no implicit and no hybrid flow, so no token ever appears in a URL', async () => {
    for (const response_type of ['token', 'id_token', 'id_token token', 'code token', 'code id_token', 'none']) {
      expect(await errorAt(rp, { response_type })).toBe('unsupported_response_type')
    }
  })

  it.each(['password', 'client_credentials', 'implicit'])('2.4: there is no grant_type %s', async (grant_type) => {
    const { passport: username, password } = user
    const parameters = { ...rp.credentials, grant_type, username, password, scope: 'openid' }
    expect(outcomeOf(await rp.post('token', parameters))).toBe('400 unsupported_grant_type')
  })
})

describe('4.1: redirect URIs', () => {
  it.each([
    `${CALLBACK}/`,
    `${CALLBACK}?next=https://evil.example`,
    `${CALLBACK}%2f..%2fopen`,
    'https://app.example.com/callback/../open',
    'https://app.example.com.evil.example/callback',
    'https://evil.example/https://app.example.com/callback',
    'https://app.example.com@evil.example/callback',
    'https://app.example.com/callback#x',
    'https://app.example.com/Callback',
    'http://app.example.com/callback',
    '//app.example.com/callback',
    ' https://app.example.com/callback',
  ])('are compared exactly: %s', async (redirect_uri) => {
    const answer = await browser.open(rp.authorizeUrl({ redirect_uri }))
    expect([answer.status, header(answer, 'location')]).toEqual([400, ''])
  })

  it('are compared at the token endpoint too', async () => {
    const code = await rp.code(browser, user)
    expect(outcomeOf(await rp.exchange(code, { redirect_uri: `${CALLBACK}/` }))).toBe('400 invalid_grant')
  })
})

describe('leaks', () => {
  it('4.2: no page and no redirect sends a referrer', async () => {
    const pages = [
      await client.newBrowser().open(rp.authorizeUrl()),
      await browser.open(rp.authorizeUrl({ prompt: 'consent' })),
      await browser.send('GET', rp.authorizeUrl()),
    ]
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 303])
    for (const answer of pages) expect(header(answer, 'referrer-policy')).toBe('no-referrer')
  })

  it('4.3: a code from the browser history is useless, and no token is accepted in a query', async () => {
    const code = await rp.code(browser, user)
    const { access_token } = tokensOf(await rp.exchange(code))
    expect(outcomeOf(await rp.exchange(code))).toBe('400 invalid_grant')
    const answer = await client.call('GET', `/oauth2/userinfo?${queryOf({ access_token })}`)
    expect(answer.status).toBe(401)
  })
})

it('4.4: responses name their issuer, errors included, and discovery announces it', async () => {
  const issuer = world.deps.config.PUBLIC_URL
  for (const changes of [{}, { scope: 'nothing' }, { prompt: 'none', max_age: '0' }]) {
    world.clock.advance(1)
    const answer = await browser.send('GET', rp.authorizeUrl(changes))
    expect(new URL(header(answer, 'location')).searchParams.get('iss')).toBe(issuer)
  }
  const found = bodyOf(await client.call('GET', '/.well-known/oauth-authorization-server'))
  expect(found).toMatchObject({ issuer, authorization_response_iss_parameter_supported: true })
})

describe('codes and tokens in the wrong hands', () => {
  it('4.5: a code injected into another session does not match its verifier', async () => {
    const [victim, attacker] = [await rp.code(browser, user), await rp.code(browser, user)]
    const injected = { code: victim.code, verifier: attacker.verifier }
    expect(outcomeOf(await rp.exchange(injected))).toBe('400 invalid_grant')
  })

  it('4.5: a code works for its own client only', async () => {
    const code = await rp.code(browser, user)
    expect(outcomeOf(await other.exchange(code))).toBe('400 invalid_grant')
  })

  it('4.5.3: without PKCE the nonce reveals a code of another session', async () => {
    const code = await rp.code(browser, user, {
      ...{ nonce: 'of the victim', code_challenge: undefined, code_challenge_method: undefined },
    })
    const { id_token } = tokensOf(await rp.exchange({ code: code.code, verifier: '' }))
    expect(JSON.parse(atob(id_token.split('.')[1] ?? '')).nonce).toBe('of the victim')
  })

  it('4.6: at_hash binds the access token to the id_token, and aud binds that to the client', async () => {
    const [mine, theirs] = [await rp.tokens(browser, user), await rp.tokens(browser, user)]
    const claims = ({ id_token }: { id_token: string }) => JSON.parse(atob(id_token.split('.')[1] ?? ''))
    const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(mine.access_token))
    expect(claims(mine).at_hash).toBe(Buffer.from(hash.slice(0, 16)).toString('base64url'))
    expect(claims(mine).at_hash).not.toBe(claims(theirs).at_hash)
    expect(claims(mine).aud).toBe(rp.app.app_key)
  })

  it('4.8: a verifier without a challenge is refused, and so is a challenge without its verifier', async () => {
    const { code, verifier } = await rp.code(browser, user, {
      code_challenge: undefined,
      code_challenge_method: undefined,
    })
    expect(outcomeOf(await rp.exchange({ code, verifier }))).toBe('400 invalid_grant')
    const challenged = await rp.code(browser, user)
    expect(outcomeOf(await rp.exchange(challenged, { code_verifier: undefined }))).toBe('400 invalid_grant')
  })

  it('4.8: public clients and clients with require_pkce cannot omit PKCE; plain is refused', async () => {
    const none = { code_challenge: undefined, code_challenge_method: undefined }
    const strict = await StandardApp.make(client)
    const open = await StandardApp.make(client, { token_auth_methods: ['none'], require_pkce: false })
    for (const app of [strict, open]) expect(await errorAt(app, none)).toBe('invalid_request')
    const plain = { code_challenge: pkcePair().verifier, code_challenge_method: 'plain' }
    expect(await errorAt(rp, plain)).toBe('invalid_request')
  })

  it('2.1: a public client needs an exact redirect URI in the contract’s dialect too', async () => {
    const of = {
      token_auth_methods: ['none'],
      redirect_uris: ['https://app.example.com/callback'],
      hosts: ['app.example.com'],
    }
    const { app } = await StandardApp.make(client, of)
    const asked = {
      app_key: app.app_key,
      app_secret: '',
      redirect_uri: 'https://app.example.com/redirector?to=elsewhere',
    }
    const { challenge } = pkcePair()
    const own = { code_challenge: challenge, code_challenge_method: 'S256' }
    const answer = await browser.open(`${client.authorizePath(client.request(asked))}&${new URLSearchParams(own)}`)
    expect(answer.text).toContain('20012')
    expect(consentForm(answer.text)).toBeUndefined()
  })

  it('4.10: a revoked token stops working at once', async () => {
    const { access_token } = await rp.tokens(browser, user)
    await rp.post('revoke', { ...rp.credentials, token: access_token })
    expect((await rp.userInfo(access_token)).status).toBe(401)
  })
})

describe('4.7: requests from another site', () => {
  const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }

  it('cannot consent', async () => {
    const form = consentForm((await browser.open(rp.authorizeUrl({ prompt: 'consent' }))).text)
    const headers = { ...foreign, cookie: browser.cookieHeader }
    const answer = await rp.post('consent', { ...form?.fields, decision: 'approve' }, headers)
    expect([answer.status, header(answer, 'location')]).toEqual([400, ''])
  })

  it('cannot use the consent form of somebody else', async () => {
    const form = consentForm((await browser.open(rp.authorizeUrl({ prompt: 'consent' }))).text)
    const theirs = client.newBrowser()
    await visit(theirs, rp.authorizeUrl(), { user: await client.makeUser() })
    if (!form) throw new Error('no form')
    const answer = await theirs.submit(form, { decision: 'approve' })
    // The person is asked again, in their own name.
    expect([answer.status, header(answer, 'location')]).toEqual([
      303,
      expect.stringMatching(/^\/oauth2\/authorize\?continue=/),
    ])
    expect(consentForm((await theirs.follow(answer)).text)).toBeDefined()
  })

  it('cannot read the authorization endpoint, even from a registered origin', async () => {
    const headers = { origin: 'https://app.example.com' }
    const answer = await client.call('GET', rp.authorizeUrl(), headers)
    expect(header(answer, 'access-control-allow-origin')).toBe('')
  })

  it('are recognized by the client, as the state is returned unchanged', async () => {
    const { location } = await visit(browser, rp.authorizeUrl({ state: 'only mine: ä&=+' }))
    expect(location.searchParams.get('state')).toBe('only mine: ä&=+')
  })
})

describe('redirects', () => {
  it('4.11.2: never happen before the client and its redirect URI are verified', async () => {
    for (const changes of [{ client_id: 'nobody' }, { redirect_uri: 'https://evil.example/' }]) {
      expect(await errorAt(rp, { ...changes, response_type: 'x' })).toMatch(/^page 40[01]$/)
    }
    const out = await browser.open(`/oauth2/logout?${queryOf({ post_logout_redirect_uri: 'https://evil.example/' })}`)
    expect([out.status, header(out, 'location')]).toEqual([400, ''])
  })

  it('4.12: always use 303, so that no form with a password is forwarded', async () => {
    const stranger = client.newBrowser()
    const page = signInForm((await stranger.open(rp.authorizeUrl())).text)
    if (!page) throw new Error('no form')
    const signedIn = await stranger.submit(page, { passport: user.passport, password: user.password })
    const consented = await stranger.send('GET', header(signedIn, 'location'))
    const posted = await rp.post('authorize', rp.request())
    expect([signedIn.status, consented.status, posted.status]).toEqual([303, 303, 303])
  })
})

describe('4.14: refresh tokens', () => {
  it('work for their own client only', async () => {
    const { refresh_token } = await rp.tokens(browser, user)
    expect(outcomeOf(await other.refresh(refresh_token))).toBe('400 invalid_grant')
    expect(outcomeOf(await rp.refresh(refresh_token, { client_secret: 'wrong' }))).toBe('401 invalid_client')
  })

  it('rotate; reusing an old one later ends the whole grant', async () => {
    const first = await rp.tokens(browser, user)
    const second = tokensOf(await rp.refresh(first.refresh_token))
    world.clock.advance(61)
    expect(outcomeOf(await rp.refresh(first.refresh_token))).toBe('400 invalid_grant')
    expect(outcomeOf(await rp.refresh(second.refresh_token))).toBe('400 invalid_grant')
    expect((await rp.userInfo(second.access_token)).status).toBe(401)
  })

  it('never give more scopes than were granted', async () => {
    const { refresh_token } = await rp.tokens(browser, user, { scope: 'openid offline_access' })
    expect(outcomeOf(await rp.refresh(refresh_token, { scope: 'openid phone' }))).toBe('400 invalid_scope')
  })
})

it('4.15: a client cannot impersonate a person: sub is cid and user id, and clients get no tokens for themselves', async () => {
  const { access_token } = await rp.tokens(browser, user)
  expect(bodyOf(await rp.userInfo(access_token)).sub).toBe(`7-${user.user_id}`)
  expect(outcomeOf(await rp.post('token', { ...rp.credentials, grant_type: 'client_credentials' }))).toBe(
    '400 unsupported_grant_type',
  )
})

it('4.16: no page can be framed', async () => {
  const paths = [rp.authorizeUrl({ prompt: 'consent' }), rp.authorizeUrl({ client_id: 'nobody' }), '/oauth2/logout']
  for (const path of [...paths, rp.authorizeUrl({ response_mode: 'form_post' })]) {
    const answer = await browser.open(path)
    expect(header(answer, 'content-security-policy'), path).toContain("frame-ancestors 'none'")
    expect(header(answer, 'x-frame-options'), path).toBe('DENY')
  }
})

it('4.17: responses are sent by redirect or form, never by postMessage', async () => {
  expect(await errorAt(rp, { response_mode: 'web_message' })).toBe('invalid_request')
})
