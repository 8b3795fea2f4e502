import { createHash, randomBytes } from 'node:crypto'
import { expect } from 'vitest'
import { Browser } from './browser.ts'
import { consentForm, type Form, signInForm } from './form.ts'
import { type Answer, header, queryOf, type Wire } from './http.ts'
import { ADMIN_TOKEN } from './system.ts'

/** What a micro-app, its users and an operator do with the service, over HTTP. */

export interface App {
  readonly app_key: string
  readonly app_secret: string
  readonly redirect_uri: string
}

export interface User {
  readonly passport: string
  readonly password: string
  readonly cid: number
  readonly user_id: string
}

/** What `npm start` seeds on an empty database (src/demo/README.md). */
const demo = (app_key: string, app_secret: string): App => ({
  app_key,
  app_secret,
  redirect_uri: 'http://localhost:9/callback',
})
export const DEMO_APP = demo('demo-app', 'demo-secret-for-local-use-only')
export const PHONE_ONLY_APP = demo('demo-phone-only', 'demo-phone-secret-local-only')
export const PENDING_APP = demo('demo-pending', 'demo-pending-secret-local')
export const ALICE: User = { passport: 'alice', password: 'alice-password', cid: 1, user_id: '10001' }
export const BOB: User = { passport: 'bob', password: 'bob-password', cid: 1, user_id: '10002' }
export const MALLORY = { passport: 'mallory', password: 'mallory-password' }

export const BOTH_SCOPES = 'USER_INFO PHONE_NUMBER'

export interface TokenSet {
  readonly access_token: string
  readonly refresh_token: string
  readonly expires_in: number
  readonly scope: string
  readonly token_type: string
}

export type Parameters = Readonly<Record<string, string | undefined>>

export interface Consented {
  readonly code: string
  readonly state: string
  readonly location: URL
}

export const pkcePair = () => {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

export const newState = (): string => randomBytes(16).toString('hex')

let serial = 0
const unique = (prefix: string): string => `${prefix}-${++serial}-${randomBytes(4).toString('hex')}`

export class Client {
  readonly #wire: Wire
  readonly #home: string

  /** `home` is the service's PUBLIC_URL. */
  constructor(wire: Wire, home: string) {
    this.#wire = wire
    this.#home = new URL(home).origin
  }

  call(method: string, path: string, headers?: Record<string, string>, body?: string): Promise<Answer> {
    return this.#wire({ method, path, headers, body })
  }

  // ---- A1, with a browser

  newBrowser(): Browser {
    return new Browser(this.#wire, this.#home)
  }

  authorizePath(parameters: Parameters): string {
    return `/oauth/v2/authorize?${queryOf(parameters)}`
  }

  /** The parameters of an entirely valid request. */
  request(app: App, changes: Parameters = {}): Parameters {
    return {
      app_key: app.app_key,
      redirect_uri: app.redirect_uri,
      response_type: 'code',
      scope: BOTH_SCOPES,
      state: newState(),
      ...changes,
    }
  }

  /** A browser in which `user` has signed in through an authorization request of `app`. */
  async signedIn(user: { passport: string; password: string }, app: App = DEMO_APP): Promise<Browser> {
    const browser = this.newBrowser()
    const page = await browser.open(this.authorizePath(this.request(app)))
    const form = signInForm(page.text)
    if (!form) throw new Error(`no sign-in form: ${page.status} ${page.text.slice(0, 500)}`)
    const { passport, password } = user
    const answer = await browser.submit(form, { passport, password })
    expect(answer.status, 'sign-in answers with a redirect').toBe(303)
    await browser.follow(answer)
    return browser
  }

  /** The consent form for a request, shown to a browser that has signed in. */
  async consentFormFor(browser: Browser, parameters: Parameters): Promise<Form> {
    const page = await browser.open(this.authorizePath(parameters))
    const form = consentForm(page.text)
    if (!form) throw new Error(`no consent form: ${page.status} ${page.text.slice(0, 500)}`)
    return form
  }

  async getCode(browser: Browser, app: App, changes: Parameters = {}): Promise<Consented> {
    const parameters = this.request(app, changes)
    const form = await this.consentFormFor(browser, parameters)
    const answer = await browser.submit(form, { decision: 'approve' })
    expect(answer.status, answer.text.slice(0, 500)).toBe(303)
    const location = new URL(header(answer, 'location'))
    const code = location.searchParams.getAll('code').at(-1) ?? ''
    const state = location.searchParams.getAll('state').at(-1) ?? ''
    expect(code, 'a code comes back').not.toBe('')
    expect(state).toBe(parameters.state)
    return { code, state, location }
  }

  // ---- A2, A3: the micro-app's server

  token(parameters: Parameters): Promise<Answer> {
    return this.call('POST', `/oauth/v2/api/token?${queryOf(parameters)}`)
  }

  exchangeParameters(app: App, { code, state }: { code: string; state: string }, changes: Parameters = {}): Parameters {
    const { app_key, app_secret, redirect_uri } = app
    return { app_key, app_secret, grant_type: 'authorization_code', code, state, redirect_uri, ...changes }
  }

  refreshParameters(app: App, refresh_token: string, changes: Parameters = {}): Parameters {
    const { app_key, app_secret } = app
    return { app_key, app_secret, grant_type: 'refresh_token', refresh_token, ...changes }
  }

  exchange(app: App, consented: { code: string; state: string }, changes: Parameters = {}): Promise<Answer> {
    return this.token(this.exchangeParameters(app, consented, changes))
  }

  refresh(app: App, refreshToken: string, changes: Parameters = {}): Promise<Answer> {
    return this.token(this.refreshParameters(app, refreshToken, changes))
  }

  /** The whole flow: consent, code, tokens. */
  async getTokens(browser: Browser, app: App, changes: Parameters = {}): Promise<TokenSet> {
    const consented = await this.getCode(browser, app, changes)
    const redirect_uri = changes.redirect_uri ?? app.redirect_uri
    return tokenSetOf(await this.exchange({ ...app, redirect_uri }, consented))
  }

  // ---- A4, A5

  resource(name: 'get_phonenumber' | 'get_userinfo', access_token: string | undefined): Promise<Answer> {
    return this.call('POST', `/oauth/v2/api/resource/${name}?${queryOf({ access_token })}`)
  }

  phone(accessToken: string): Promise<Answer> {
    return this.resource('get_phonenumber', accessToken)
  }

  userInfo(accessToken: string): Promise<Answer> {
    return this.resource('get_userinfo', accessToken)
  }

  // ---- the operator

  async admin(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const answer = await this.call(
      method,
      `/admin/v1${path}`,
      { authorization: `Bearer ${ADMIN_TOKEN}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      body && JSON.stringify(body),
    )
    const { rescode, data } = envelopeOf(answer)
    if (rescode !== 0) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    return data
  }

  /** A new approved app with both scopes, at https://app.example.com. */
  async makeApp(changes: Record<string, unknown> = {}): Promise<App> {
    const made = await this.admin('POST', '/apps', {
      app_key: unique('app'),
      name: 'Test app',
      status: 'approved',
      hosts: ['app.example.com'],
      scopes: ['USER_INFO', 'PHONE_NUMBER'],
      ...changes,
    })
    const { app_key, app_secret } = made as unknown as App
    return { app_key, app_secret, redirect_uri: 'https://app.example.com/callback' }
  }

  async makeUser(changes: Record<string, unknown> = {}): Promise<User> {
    const user = { passport: unique('user'), password: 'password-of-a-test-user', cid: 7, user_id: unique('id') }
    await this.admin('POST', '/users', {
      ...user,
      name: 'Test user',
      gender: '0',
      big_avatar_url: 'https://img.example.com/avatar.png',
      phone_number: '13900000000',
      status: 'active',
      ...changes,
    })
    return { ...user, ...changes }
  }

  block({ cid, user_id }: User): Promise<unknown> {
    return this.admin('POST', '/users/block', { cid, user_id })
  }

  unblock({ cid, user_id }: User): Promise<unknown> {
    return this.admin('POST', '/users/unblock', { cid, user_id })
  }

  suspend({ app_key }: App): Promise<unknown> {
    return this.admin('POST', `/apps/${app_key}/suspend`)
  }

  approve({ app_key }: App): Promise<unknown> {
    return this.admin('POST', `/apps/${app_key}/approve`)
  }

  update({ app_key }: App, changes: object): Promise<unknown> {
    return this.admin('PATCH', `/apps/${app_key}`, changes)
  }

  async grants({ cid, user_id }: User): Promise<Record<string, unknown>[]> {
    const { grants } = await this.admin('GET', `/grants?${queryOf({ cid: String(cid), user_id })}`)
    return grants as Record<string, unknown>[]
  }

  /** Withdraws every grant of the user. */
  async withdraw(user: User): Promise<void> {
    const { cid, user_id } = user
    for (const { grant_id } of await this.grants(user)) {
      await this.admin('POST', '/grants/revoke', { cid, user_id, grant_id })
    }
  }
}

export interface Envelope {
  readonly rescode: number
  readonly data: Record<string, unknown> & { readonly message?: string }
}

export function envelopeOf(answer: Answer): Envelope {
  const read = (): Envelope => {
    try {
      return JSON.parse(answer.text) as Envelope
    } catch {
      throw new Error(`not an envelope: ${answer.status} ${answer.text.slice(0, 500)}`)
    }
  }
  const envelope = read()
  expect(Object.keys(envelope).sort(), 'an envelope has rescode and data').toEqual(['data', 'rescode'])
  expect(Number.isInteger(envelope.rescode), 'rescode is an integer').toBe(true)
  expect(typeof envelope.data, 'data is an object').toBe('object')
  return envelope
}

export function dataOf(answer: Answer): Record<string, unknown> {
  const { rescode, data } = envelopeOf(answer)
  expect(rescode, answer.text).toBe(0)
  expect(answer.status).toBe(200)
  return data
}

export const tokenSetOf = (answer: Answer): TokenSet => dataOf(answer) as unknown as TokenSet
