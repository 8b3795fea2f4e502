import { inspect } from 'node:util'
import { Auth, type AuthConfig } from '@auth/core'
import { beforeAll, describe, expect, it } from 'vitest'
import { settingsOf } from '../../src/authorization/developer/quickstart.ts'
import { ALICE, Client } from '../acceptance/client.ts'
import { httpWire } from '../acceptance/http.ts'
import { sharedSystem } from '../acceptance/system.ts'
import { EVERYTHING } from './app.ts'
import { visit } from './person.ts'

/** @auth/core (Auth.js) from npm, given only the issuer, a client id and a secret, against a running service. */

const SITE = 'http://127.0.0.1:3999'

let origin: string
let client: Client
let credentials: { readonly clientId: string; readonly clientSecret: string }
beforeAll(async () => {
  ;({ origin } = await sharedSystem())
  client = new Client(httpWire(origin), origin)
  const made = await client.makeApp({ redirect_uris: ['http://127.0.0.1/auth/callback/gatehouse'] })
  credentials = { clientId: made.app_key, clientSecret: made.app_secret }
})

interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
}

/** A site that uses Auth.js, with the cookies of one browser. */
class Site {
  /** The tokens that the site's `jwt` callback received at sign-in. */
  tokens: Tokens | undefined
  readonly errors: Error[] = []
  readonly details: unknown[] = []
  readonly #config: AuthConfig
  readonly #cookies = new Map<string, string>()

  constructor(changes: object = {}) {
    this.#config = {
      providers: [
        {
          id: 'gatehouse',
          name: 'Gatehouse',
          type: 'oidc',
          issuer: origin,
          ...credentials,
          authorization: { params: { scope: EVERYTHING } },
          checks: ['pkce', 'state', 'nonce'],
          idToken: false, // the claims of profile and phone come from userinfo
          ...changes,
        },
      ],
      basePath: '/auth',
      secret: 'a secret of the site that is used for its own cookies',
      trustHost: true,
      logger: {
        error: (error) => this.errors.push(error),
        debug: (...said) => this.details.push(said),
        warn: () => {},
      },
      callbacks: {
        jwt: ({ token, account, profile }) => {
          if (account) this.tokens = account as unknown as Tokens
          return profile ? { ...token, sub: profile.sub ?? '', phone: profile.phone_number } : token
        },
        session: ({ session, token }) => ({
          ...session,
          user: { ...session.user, id: token.sub ?? '', phone: token.phone },
        }),
      },
    }
  }

  async request(path: string, form?: Record<string, string>): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { cookie, ...(form ? { 'content-type': 'application/x-www-form-urlencoded' } : {}) }
    const body = form ? { method: 'POST', body: new URLSearchParams(form) } : {}
    const answer = await Auth(new Request(new URL(path, SITE), { headers, ...body }), this.#config)
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '' || /max-age=0/i.test(line)) this.#cookies.delete(name)
      else this.#cookies.set(name, value)
    }
    return answer
  }

  async post(path: string): Promise<Response> {
    const { csrfToken } = await (await this.request('/auth/csrf')).json()
    return this.request(path, { csrfToken, callbackUrl: `${SITE}/home` })
  }

  session = async (): Promise<unknown> => (await this.request('/auth/session')).json()

  /** Signs in; returns the callback URL to which the browser is sent. */
  async callbackAfterSignIn(decision: 'approve' | 'refuse' = 'approve'): Promise<URL> {
    const sent = await this.post('/auth/signin/gatehouse')
    const { location } = await visit(client.newBrowser(), sent.headers.get('location') ?? '', { user: ALICE, decision })
    return location
  }

  /** Opens the callback; returns where the site redirects then. */
  async finish(location: URL): Promise<string> {
    const answer = await this.request(location.pathname + location.search)
    return answer.headers.get('location') ?? `${answer.status}`
  }
}

/** The site's log: names of errors, and the server's responses. */
const logged = ({ errors, details }: Site): string => inspect([errors, details], { depth: 6 })

const post = (path: string, form: Record<string, string>) => {
  const { clientId: client_id, clientSecret: client_secret } = credentials
  const body = new URLSearchParams({ client_id, client_secret, ...form })
  return fetch(`${origin}/oauth2/${path}`, { method: 'POST', body })
}

describe('@auth/core', () => {
  it('signs a person in, reads userinfo, and signs out', async () => {
    const site = new Site()
    expect(await site.finish(await site.callbackAfterSignIn())).toBe(`${SITE}/home`)
    expect(await site.session()).toMatchObject({
      user: {
        id: '1-10001',
        name: '爱丽丝 Alice',
        phone: '+8613800000001',
        image: expect.stringContaining('/assets/'),
      },
    })
    await site.post('/auth/signout')
    expect(await site.session()).toBeNull()
    expect(site.errors).toEqual([])
  })

  it.each(['client_secret_basic', 'client_secret_post'])('authenticates by %s', async (method) => {
    const site = new Site({ client: { token_endpoint_auth_method: method } })
    expect(await site.finish(await site.callbackAfterSignIn())).toBe(`${SITE}/home`)
  })

  it('signs a person in with the settings that /connect shows', async () => {
    const shown = settingsOf('authjs', { issuer: origin, ...credentials })
    const { gatehouse } = await import(`data:text/javascript,${encodeURIComponent(shown)}`)
    const site = new Site(gatehouse)
    expect(await site.finish(await site.callbackAfterSignIn())).toBe(`${SITE}/home`)
    expect(await site.session()).toMatchObject({
      user: { id: '1-10001', name: '爱丽丝 Alice', image: expect.stringContaining('/assets/') },
    })
  })

  // Auth.js leaves refreshing to the site; this is the request of its guide.
  it('gives the site tokens that it can refresh and revoke', async () => {
    const site = new Site()
    await site.finish(await site.callbackAfterSignIn())
    const { access_token = '', refresh_token = '' } = site.tokens ?? {}
    const next = (await (await post('token', { grant_type: 'refresh_token', refresh_token })).json()) as Tokens
    expect(next.access_token).not.toBe(access_token)
    expect((await post('revoke', { token: next.refresh_token })).status).toBe(200)
    expect((await post('token', { grant_type: 'refresh_token', refresh_token: next.refresh_token })).status).toBe(400)
  })
})

const FAILED = `${SITE}/auth/error?error=Configuration`

describe('@auth/core recognizes', () => {
  it('a wrong secret', async () => {
    const site = new Site({ clientSecret: 'wrong' })
    expect(await site.finish(await site.callbackAfterSignIn())).toBe(FAILED)
    expect(logged(site)).toContain('status: 401')
    expect(await site.session()).toBeNull()
  })

  it('a replayed code', async () => {
    const site = new Site()
    const location = await site.callbackAfterSignIn()
    const { searchParams } = location
    const other = { grant_type: 'authorization_code', code: searchParams.get('code') ?? '', redirect_uri: 'x' }
    await site.finish(location)
    expect(await (await post('token', other)).json()).toMatchObject({ error: 'invalid_grant' })
    const second = new Site()
    const own = await second.callbackAfterSignIn()
    own.searchParams.set('code', searchParams.get('code') ?? '')
    expect(await second.finish(own)).toBe(FAILED)
    expect(logged(second)).toContain('invalid_grant')
  })

  it('a person’s refusal', async () => {
    const site = new Site({ authorization: { params: { scope: EVERYTHING, prompt: 'consent' } } })
    expect(await site.finish(await site.callbackAfterSignIn('refuse'))).toMatch(
      /\/auth\/signin\?error=|\/auth\/error\?error=/,
    )
    expect(logged(site)).toContain('access_denied')
  })

  it('a response of another server by its iss', async () => {
    const site = new Site()
    const location = await site.callbackAfterSignIn()
    location.searchParams.set('iss', 'https://other.example')
    expect(await site.finish(location)).toBe(FAILED)
    expect(site.tokens).toBeUndefined()
  })
})
