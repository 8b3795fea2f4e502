import OAuth2Strategy from 'passport-oauth2'
import OpenIDConnectStrategy from 'passport-openidconnect'
import { beforeAll, describe, expect, it } from 'vitest'
import { settingsOf } from '../../src/authorization/developer/quickstart.ts'
import { ALICE, Client } from '../acceptance/client.ts'
import { httpWire } from '../acceptance/http.ts'
import { sharedSystem } from '../acceptance/system.ts'
import { DEMO_OIDC, DEMO_OIDC_CALLBACK, EVERYTHING } from './app.ts'
import { visit } from './person.ts'

/** passport-oauth2 and passport-openidconnect from npm, used the way passport uses them. */

let origin: string
let client: Client
/** passport-openidconnect does not support PKCE, so it needs an app that does not require it. */
let plain: { id: string; secret: string }
beforeAll(async () => {
  ;({ origin } = await sharedSystem())
  client = new Client(httpWire(origin), origin)
  const made = await client.makeApp({ redirect_uris: [DEMO_OIDC_CALLBACK], require_pkce: false })
  plain = { id: made.app_key, secret: made.app_secret }
})

interface Known {
  readonly profile: Readonly<Record<string, unknown>>
  readonly accessToken: string
  readonly refreshToken: string
}

const endpoints = () => ({
  authorizationURL: `${origin}/oauth2/authorize`,
  tokenURL: `${origin}/oauth2/token`,
  callbackURL: DEMO_OIDC_CALLBACK,
})

type Callback = (error: unknown, first?: unknown, second?: unknown) => void
const promised = (call: (callback: Callback) => void): Promise<unknown[]> =>
  new Promise((resolve, reject) => {
    call((error, ...results) => (error ? reject(error) : resolve(results)))
  })

/** A strategy as applications write it: the base class leaves the profile to its subclass. */
class Gatehouse extends OAuth2Strategy {
  constructor(secret = DEMO_OIDC.secret) {
    const options = { ...endpoints(), clientID: DEMO_OIDC.id, clientSecret: secret }
    super(
      { ...options, scope: EVERYTHING.split(' '), scopeSeparator: ' ', pkce: true, state: true },
      (accessToken: string, refreshToken: string, profile: Known['profile'], verified: OAuth2Strategy.VerifyCallback) =>
        verified(null, { profile, accessToken, refreshToken } as Express.User),
    )
    this._oauth2.useAuthorizationHeaderforGET(true)
  }

  override userProfile(accessToken: string, done: (error?: unknown, profile?: unknown) => void): void {
    this._oauth2.get(`${origin}/oauth2/userinfo`, accessToken, (error, body) =>
      error ? done(error) : done(null, JSON.parse(String(body))),
    )
  }

  /** Refreshes as passport-oauth2-refresh does. */
  async refresh(refreshToken: string): Promise<Omit<Known, 'profile'>> {
    const [accessToken, next] = await promised((got) =>
      this._oauth2.getOAuthAccessToken(refreshToken, { grant_type: 'refresh_token' }, got),
    )
    return { accessToken: String(accessToken), refreshToken: String(next) }
  }

  profileOf = async (accessToken: string) =>
    (await promised((got) => this.userProfile(accessToken, got)))[0] as Known['profile']
}

const openId = (credentials = plain, options: { nonce?: boolean; maxAge?: number } = {}) =>
  new OpenIDConnectStrategy(
    {
      ...endpoints(),
      issuer: origin,
      userInfoURL: `${origin}/oauth2/userinfo`,
      clientID: credentials.id,
      clientSecret: credentials.secret,
      scope: ['profile', 'phone', 'offline_access'],
      skipUserProfile: false,
      // The types demand a string, but the strategy generates the nonce itself.
      ...(options.nonce ? { nonce: 'made' } : {}),
      ...(options.maxAge === undefined ? {} : { maxAge: String(options.maxAge) }),
    },
    (
      _issuer: string,
      profile: unknown,
      _context: object,
      _idToken: string | object,
      accessToken: string | object,
      refreshToken: string,
      verified: OpenIDConnectStrategy.VerifyCallback,
    ) => verified(null, { profile, accessToken, refreshToken } as Express.User),
  )

type Outcome =
  | { readonly redirect: string }
  | { readonly user: Known }
  | { readonly failed: unknown }
  | { readonly error: Error & { code?: string; oauthError?: { statusCode?: number } } }

/** Does what passport.authenticate() does with a strategy, for one request of one browser session. */
const authenticate = (strategy: OAuth2Strategy | OpenIDConnectStrategy, session: object, query: object = {}) =>
  new Promise<Outcome>((resolve) => {
    const once = Object.assign(Object.create(strategy), {
      redirect: (redirect: string) => resolve({ redirect }),
      success: (user: Known) => resolve({ user }),
      fail: (failed: unknown) => resolve({ failed }),
      error: (error: Error) => resolve({ error }),
    })
    once.authenticate({ query, session }, {})
  })

type Strategy = Parameters<typeof authenticate>[0]

/** Signs a person in; returns the session and the query of the callback. */
async function callbackAfterSignIn(strategy: Strategy, decision: 'approve' | 'refuse' = 'approve') {
  const session = {}
  const sent = await authenticate(strategy, session)
  if (!('redirect' in sent)) throw new Error(`was not sent to sign in: ${JSON.stringify(sent)}`)
  const url = new URL(sent.redirect)
  if (decision === 'refuse') url.searchParams.set('prompt', 'consent')
  const { location } = await visit(client.newBrowser(), url, { user: ALICE, decision })
  return { session, query: Object.fromEntries(location.searchParams) }
}

async function signedIn(strategy: Strategy): Promise<Known> {
  const { session, query } = await callbackAfterSignIn(strategy)
  const outcome = await authenticate(strategy, session, query)
  if (!('user' in outcome)) throw new Error(`was not signed in: ${JSON.stringify(outcome)}`)
  return outcome.user
}

/** The OAuth error code, or else the message. */
const errorOf = (outcome: Outcome): string => {
  if ('failed' in outcome) return `failed: ${(outcome.failed as { message?: string }).message}`
  if (!('error' in outcome)) return 'nothing was refused'
  return outcome.error.code ?? outcome.error.message
}

const status = async (accessToken: string) =>
  (await fetch(`${origin}/oauth2/userinfo`, { headers: { authorization: `Bearer ${accessToken}` } })).status

describe('passport-oauth2', () => {
  it('signs a person in with PKCE, reads userinfo, and refreshes', async () => {
    const strategy = new Gatehouse()
    const known = await signedIn(strategy)
    expect(known.profile).toMatchObject({ sub: '1-10001', phone_number: '+8613800000001' })
    const next = await strategy.refresh(known.refreshToken)
    expect(next.refreshToken).not.toBe(known.refreshToken)
    expect(await strategy.profileOf(next.accessToken)).toMatchObject({ sub: '1-10001' })
  })

  it('recognizes a revoked refresh token and access token', async () => {
    const strategy = new Gatehouse()
    const { accessToken, refreshToken } = await signedIn(strategy)
    const body = new URLSearchParams({ client_id: DEMO_OIDC.id, client_secret: DEMO_OIDC.secret, token: refreshToken })
    expect((await fetch(`${origin}/oauth2/revoke`, { method: 'POST', body })).status).toBe(200)
    await expect(strategy.refresh(refreshToken)).rejects.toMatchObject({
      statusCode: 400,
      data: expect.stringContaining('"invalid_grant"'),
    })
    await expect(strategy.profileOf(accessToken)).rejects.toMatchObject({
      statusCode: 401,
      data: expect.stringContaining('"invalid_token"'),
    })
  })
})

describe('passport-openidconnect', () => {
  it.each([{}, { nonce: true }, { maxAge: 3_600 }])('signs a person in and reads userinfo: %o', async (options) => {
    const { profile, accessToken } = await signedIn(openId(plain, options))
    expect(profile).toMatchObject({ id: '1-10001', displayName: '爱丽丝 Alice' })
    expect(await status(accessToken)).toBe(200)
  })

  it('signs a person in with the settings that /connect shows', async () => {
    const values = { issuer: origin, clientId: plain.id, clientSecret: plain.secret }
    const shown = settingsOf('passport', values).replace('https://app.example.com/callback', DEMO_OIDC_CALLBACK)
    const code = shown.replace(/^import .*$/m, '')
    const made: Strategy[] = []
    const passport = { use: (strategy: Strategy) => made.push(strategy) }
    new Function('Strategy', 'passport', code)(OpenIDConnectStrategy, passport)
    expect(await signedIn(made[0] as Strategy)).toEqual({ id: '1-10001', name: '爱丽丝 Alice' })
  })
})

describe.each<[string, () => Strategy, () => Strategy]>([
  ['passport-oauth2', () => new Gatehouse(), () => new Gatehouse('wrong')],
  ['passport-openidconnect', () => openId(), () => openId({ ...plain, secret: 'wrong' })],
])('%s recognizes', (_name, right, wrong) => {
  it('a wrong secret', async () => {
    const { session, query } = await callbackAfterSignIn(right())
    expect(errorOf(await authenticate(wrong(), session, query))).toBe('invalid_client')
  })

  it('a replayed code', async () => {
    const strategy = right()
    const { session, query } = await callbackAfterSignIn(strategy)
    const again = structuredClone(session)
    expect(await authenticate(strategy, session, query)).toHaveProperty('user')
    expect(errorOf(await authenticate(strategy, again, query))).toBe('invalid_grant')
  })

  it('a person’s refusal', async () => {
    const { session, query } = await callbackAfterSignIn(right(), 'refuse')
    expect(errorOf(await authenticate(right(), session, query))).toBe('failed: the user denied the request')
  })

  it('an injected code, by its own state', async () => {
    const { session, query } = await callbackAfterSignIn(right())
    const outcome = await authenticate(right(), session, { ...query, state: 'another' })
    expect(errorOf(outcome)).toMatch(/^failed: /)
  })
})

it('passport-oauth2 recognizes a code issued to another browser', async () => {
  const strategy = new Gatehouse()
  const [theirs, mine] = [await callbackAfterSignIn(strategy), await callbackAfterSignIn(strategy)]
  const slippedIn = { ...mine.query, code: theirs.query.code }
  expect(errorOf(await authenticate(strategy, mine.session, slippedIn))).toBe('invalid_grant')
})
