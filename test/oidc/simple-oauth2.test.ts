import { AuthorizationCode, type ModuleOptions } from 'simple-oauth2'
import { beforeAll, describe, expect, it } from 'vitest'
import { ALICE, Client, pkcePair } from '../acceptance/client.ts'
import { httpWire } from '../acceptance/http.ts'
import { laterProcess, sharedSystem } from '../acceptance/system.ts'
import { DEMO_OIDC, DEMO_OIDC_CALLBACK, EVERYTHING } from './app.ts'
import { visit } from './person.ts'

/** simple-oauth2 from npm, given the paths, a client id and a secret, against a running service. */

let origin: string
let client: Client
beforeAll(async () => {
  ;({ origin } = await sharedSystem())
  client = new Client(httpWire(origin), origin)
})

type Options = ModuleOptions['options']

const configured = (options: Options = {}, secret = DEMO_OIDC.secret, tokenHost = origin) =>
  new AuthorizationCode({
    client: { id: DEMO_OIDC.id, secret },
    auth: {
      tokenHost,
      tokenPath: '/oauth2/token',
      revokePath: '/oauth2/revoke',
      authorizeHost: origin,
      authorizePath: '/oauth2/authorize',
    },
    options,
  })

/** Signs Alice in; returns the parameters for the library's exchange. */
async function signedIn(library: AuthorizationCode, scope = EVERYTHING) {
  const { verifier, challenge } = pkcePair()
  // The types lack PKCE, but the library sends all parameters it is given.
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
  const url = library.authorizeURL({ redirect_uri: DEMO_OIDC_CALLBACK, scope, state: 'some-state', ...pkce })
  const { location } = await visit(client.newBrowser(), url, { user: ALICE })
  expect(location.searchParams.get('state')).toBe('some-state')
  const code = location.searchParams.get('code') ?? ''
  return { code, redirect_uri: DEMO_OIDC_CALLBACK, code_verifier: verifier }
}

const userInfo = async (token: unknown, at = origin) => {
  const answer = await fetch(`${at}/oauth2/userinfo`, { headers: { authorization: `Bearer ${token}` } })
  return { status: answer.status, body: await answer.json() }
}

const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing was refused',
    (thrown: { output?: { statusCode: number }; data?: { payload?: { error?: string } } }) =>
      `${thrown.output?.statusCode} ${thrown.data?.payload?.error}`,
  )

describe.each<[string, Options]>([
  ['basic, encoded', { authorizationMethod: 'header' }],
  ['basic, unencoded', { authorizationMethod: 'header', credentialsEncodingMode: 'loose' }],
  ['in the body', { authorizationMethod: 'body' }],
])('simple-oauth2, credentials %s', (_name, options) => {
  it('works from sign-in through userinfo and refresh to revocation', async () => {
    const library = configured(options)
    const tokens = await library.getToken(await signedIn(library))
    expect(tokens.expired()).toBe(false)
    expect(tokens.token).toMatchObject({ token_type: 'Bearer', scope: EVERYTHING, expires_at: expect.any(Date) })
    expect((await userInfo(tokens.token.access_token)).body).toMatchObject({ sub: '1-10001', gender: 'female' })

    const next = await tokens.refresh()
    expect(next.token.refresh_token).not.toBe(tokens.token.refresh_token)
    expect((await userInfo(next.token.access_token)).status).toBe(200)
    const narrow = await next.refresh({ scope: 'openid' })
    expect((await userInfo(narrow.token.access_token)).body).toEqual({ sub: '1-10001' })

    await narrow.revoke('access_token')
    expect((await userInfo(narrow.token.access_token)).status).toBe(401)
    await narrow.revokeAll()
    expect(await refusal(narrow.refresh())).toBe('400 invalid_grant')
  })

  it('recognizes a wrong secret', async () => {
    const request = await signedIn(configured(options))
    expect(await refusal(configured(options, 'wrong').getToken(request))).toBe('401 invalid_client')
  })
})

describe('simple-oauth2 recognizes', () => {
  it('a replayed code', async () => {
    const library = configured()
    const request = await signedIn(library)
    await library.getToken(request)
    expect(await refusal(library.getToken(request))).toBe('400 invalid_grant')
  })

  it('a missing or wrong code_verifier', async () => {
    const library = configured()
    const { code, redirect_uri } = await signedIn(library)
    expect(await refusal(library.getToken({ code, redirect_uri }))).toBe('400 invalid_grant')
    const wrong = { code, redirect_uri, code_verifier: 'x'.repeat(43) }
    expect(await refusal(library.getToken(wrong))).toBe('400 invalid_grant')
  })

  it('that there is no refresh token without offline_access', async () => {
    const library = configured()
    const { token } = await library.getToken(await signedIn(library, 'openid profile'))
    expect(token).not.toHaveProperty('refresh_token')
  })

  it('expired tokens', async () => {
    const library = configured()
    const tokens = await library.getToken(await signedIn(library))
    const { origin: later } = await laterProcess(604_801)
    expect(await userInfo(tokens.token.access_token, later)).toMatchObject({
      status: 401,
      body: { error: 'invalid_token' },
    })
    const inFuture = configured({}, DEMO_OIDC.secret, later).createToken(tokens.token)
    const next = await inFuture.refresh()
    expect((await userInfo(next.token.access_token, later)).status).toBe(200)
    const { origin: muchLater } = await laterProcess(100 * 86_400)
    const stale = configured({}, DEMO_OIDC.secret, muchLater).createToken(next.token)
    expect(await refusal(stale.refresh())).toBe('400 invalid_grant')
  })

  it('the refusal of a JSON body, which OAuth 2.0 does not allow', async () => {
    const library = configured()
    const request = await signedIn(library)
    expect(await refusal(configured({ bodyFormat: 'json' }).getToken(request))).toBe('400 invalid_request')
  })
})
