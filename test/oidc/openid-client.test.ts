import * as oidc from 'openid-client'
import { beforeAll, describe, expect, it } from 'vitest'
import { ALICE, BOB, Client } from '../acceptance/client.ts'
import { consentForm } from '../acceptance/form.ts'
import { header, httpWire } from '../acceptance/http.ts'
import { sharedSystem } from '../acceptance/system.ts'
import { DEMO_OIDC as CLIENT, EVERYTHING, DEMO_OIDC_CALLBACK as REDIRECT_URI } from './app.ts'
import { visit } from './person.ts'

/** openid-client from npm, given only the issuer, a client id and a secret, against a running service. */

let issuer: URL
let client: Client
beforeAll(async () => {
  const { origin } = await sharedSystem()
  issuer = new URL(origin)
  client = new Client(httpWire(origin), origin)
})

const INSECURE = { execute: [oidc.allowInsecureRequests] }
const discover = (authentication?: oidc.ClientAuth, secret = CLIENT.secret) =>
  oidc.discovery(issuer, CLIENT.id, secret, authentication, INSECURE)

async function begin(config: oidc.Configuration, changes: Record<string, string> = {}) {
  const verifier = oidc.randomPKCECodeVerifier()
  const [state, nonce] = [oidc.randomState(), oidc.randomNonce()]
  const parameters = {
    redirect_uri: REDIRECT_URI,
    scope: EVERYTHING,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
    ...changes,
  }
  const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true }
  return { parameters, checks, url: oidc.buildAuthorizationUrl(config, parameters) }
}

async function signedIn(config: oidc.Configuration, user = ALICE, browser = client.newBrowser()) {
  const { url, checks } = await begin(config)
  const { location, pages } = await visit(browser, url, { user })
  return { browser, pages, tokens: await oidc.authorizationCodeGrant(config, location, checks) }
}

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing was refused',
    (error: { error?: string; code?: string; status?: number; cause?: unknown }) =>
      `${error.status} ${error.error ?? error.code}`,
  )

describe('openid-client', () => {
  it.each([
    ['its default', undefined],
    ['client_secret_basic', oidc.ClientSecretBasic(CLIENT.secret)],
    ['client_secret_post', oidc.ClientSecretPost(CLIENT.secret)],
  ])('signs a person in and reads userinfo: %s', async (_name, authentication) => {
    const config = await discover(authentication)
    const { tokens } = await signedIn(config)
    const claims = tokens.claims()
    expect(claims).toMatchObject({ iss: issuer.origin, aud: CLIENT.id, sub: '1-10001' })
    expect(claims?.auth_time).toBeGreaterThan(0)
    expect(tokens.scope).toBe(EVERYTHING)
    expect(await oidc.fetchUserInfo(config, tokens.access_token, '1-10001')).toEqual({
      sub: '1-10001',
      name: '爱丽丝 Alice',
      preferred_username: '爱丽丝 Alice',
      gender: 'female',
      picture: `${issuer.origin}/assets/avatar-alice.svg`,
      updated_at: expect.any(Number),
      phone_number: '+8613800000001',
      phone_number_verified: false,
    })
  })

  it('verifies the signature of the id_token with our keys', async () => {
    const config = await discover()
    oidc.enableNonRepudiationChecks(config)
    expect((await signedIn(config)).tokens.claims()?.sub).toBe('1-10001')
  })

  it('refreshes, and narrows the scope', async () => {
    const config = await discover()
    const { tokens } = await signedIn(config)
    const again = await oidc.refreshTokenGrant(config, tokens.refresh_token ?? '')
    expect(again.refresh_token).not.toBe(tokens.refresh_token)
    expect(again.claims()).toMatchObject({ sub: '1-10001', auth_time: tokens.claims()?.auth_time })
    const less = await oidc.refreshTokenGrant(config, again.refresh_token ?? '', { scope: 'openid' })
    expect(less.scope).toBe('openid')
    expect(await oidc.fetchUserInfo(config, less.access_token, '1-10001')).toEqual({ sub: '1-10001' })
  })

  it('introspects and revokes', async () => {
    const config = await discover()
    const { tokens } = await signedIn(config)
    const { access_token, refresh_token = '' } = tokens
    expect(await oidc.tokenIntrospection(config, access_token)).toMatchObject({
      active: true,
      client_id: CLIENT.id,
      sub: '1-10001',
      scope: EVERYTHING,
      token_type: 'Bearer',
    })
    expect((await oidc.tokenIntrospection(config, refresh_token)).active).toBe(true)
    await oidc.tokenRevocation(config, access_token)
    expect(await oidc.tokenIntrospection(config, access_token)).toEqual({ active: false })
    const next = await oidc.refreshTokenGrant(config, refresh_token)
    await oidc.tokenRevocation(config, next.refresh_token ?? '')
    expect(await oidc.tokenIntrospection(config, next.access_token)).toEqual({ active: false })
    expect(await refusal(oidc.refreshTokenGrant(config, next.refresh_token ?? ''))).toBe('400 invalid_grant')
  })

  it('pushes its request', async () => {
    const config = await discover()
    const { parameters, checks } = await begin(config)
    const url = await oidc.buildAuthorizationUrlWithPAR(config, parameters)
    expect([...url.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri'])
    const browser = client.newBrowser()
    const { location } = await visit(browser, url, { user: BOB })
    expect((await oidc.authorizationCodeGrant(config, location, checks)).claims()?.sub).toBe('1-10002')
    expect((await browser.open(url.pathname + url.search)).text).toContain('invalid_request_uri')
  })

  it('signs the person out', async () => {
    const config = await discover()
    const { browser, tokens } = await signedIn(config)
    const url = oidc.buildEndSessionUrl(config, {
      id_token_hint: tokens.id_token ?? '',
      post_logout_redirect_uri: 'http://127.0.0.1:54321/',
      state: 'bye',
    })
    const page = await browser.open(url.pathname + url.search)
    const form = consentForm(page.text)
    if (!form) throw new Error(page.text)
    const answer = await browser.submit(form, { decision: 'sign-out' })
    expect(header(answer, 'location')).toBe('http://127.0.0.1:54321/?state=bye')
    const { url: next } = await begin(config, { prompt: 'none' })
    expect((await visit(browser, next)).location.searchParams.get('error')).toBe('login_required')
  })

  it('gets no consent page again for remembered scopes', async () => {
    const config = await discover()
    const { browser } = await signedIn(config)
    expect((await signedIn(config, ALICE, browser)).pages).toEqual([])
    const { url, checks } = await begin(config, { prompt: 'none' })
    const { location } = await visit(browser, url)
    expect((await oidc.authorizationCodeGrant(config, location, checks)).claims()?.sub).toBe('1-10001')
  })
})

describe('openid-client recognizes', () => {
  it.each([
    ['basic', oidc.ClientSecretBasic('wrong')],
    ['post', oidc.ClientSecretPost('wrong')],
    ['none', oidc.None()],
  ])('wrong client credentials: %s', async (_name, authentication) => {
    const config = await discover(authentication, 'wrong')
    const { url, checks } = await begin(config)
    const { location } = await visit(client.newBrowser(), url, { user: ALICE })
    expect(await refusal(oidc.authorizationCodeGrant(config, location, checks))).toMatch(
      /^401 (invalid_client|OAUTH_WWW_AUTHENTICATE_CHALLENGE)$/,
    )
  })

  it('a replayed code', async () => {
    const config = await discover()
    const { url, checks } = await begin(config)
    const { location } = await visit(client.newBrowser(), url, { user: ALICE })
    await oidc.authorizationCodeGrant(config, location, checks)
    expect(await refusal(oidc.authorizationCodeGrant(config, location, checks))).toBe('400 invalid_grant')
  })

  it('a wrong code_verifier', async () => {
    const config = await discover()
    const { url, checks } = await begin(config)
    const { location } = await visit(client.newBrowser(), url, { user: ALICE })
    const wrong = { ...checks, pkceCodeVerifier: oidc.randomPKCECodeVerifier() }
    expect(await refusal(oidc.authorizationCodeGrant(config, location, wrong))).toBe('400 invalid_grant')
  })

  it('a person’s refusal', async () => {
    const config = await discover()
    const { url, checks } = await begin(config, { prompt: 'consent' })
    const { location } = await visit(client.newBrowser(), url, { user: ALICE, decision: 'refuse' })
    expect(await refusal(oidc.authorizationCodeGrant(config, location, checks))).toBe('undefined access_denied')
  })

  it('an invalid access token', async () => {
    const config = await discover()
    expect(await refusal(oidc.fetchUserInfo(config, 'nonsense', oidc.skipSubjectCheck))).toBe(
      '401 OAUTH_WWW_AUTHENTICATE_CHALLENGE',
    )
  })
})
