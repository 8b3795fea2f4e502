import { expect } from 'vitest'
import type { Browser } from '../acceptance/browser.ts'
import { type App, type Client, pkcePair, type User } from '../acceptance/client.ts'
import { type Answer, queryOf } from '../acceptance/http.ts'
import { visit } from './person.ts'

/** A client of the standard dialect that builds its requests by hand, so that it can also send invalid ones. */

export type Parameters = Readonly<Record<string, string | undefined>>

export const FORM = 'application/x-www-form-urlencoded'
export const CALLBACK = 'https://app.example.com/callback'

/** The client of the standard dialect with PKCE that the demo seeds for outside programs. */
export const DEMO_OIDC = { id: 'demo-oidc', secret: 'demo-oidc-secret-for-local-use-only' }
/** Registered without a port, so any port is accepted. */
export const DEMO_OIDC_CALLBACK = 'http://127.0.0.1:54321/callback'
export const EVERYTHING = 'openid profile phone offline_access'

export const basicOf = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`

export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly id_token: string
  readonly scope: string
  readonly expires_in: number
  readonly token_type: string
}

export class StandardApp {
  readonly client: Client
  readonly app: App

  constructor(client: Client, app: App) {
    this.client = client
    this.app = app
  }

  static async make(client: Client, changes: Record<string, unknown> = {}): Promise<StandardApp> {
    return new StandardApp(client, await client.makeApp({ redirect_uris: [CALLBACK], ...changes }))
  }

  request(changes: Parameters = {}): Parameters {
    return {
      client_id: this.app.app_key,
      redirect_uri: CALLBACK,
      response_type: 'code',
      scope: EVERYTHING,
      state: 'a state, with äöü',
      ...changes,
    }
  }

  authorizeUrl(changes: Parameters = {}): string {
    return `/oauth2/authorize?${queryOf(this.request(changes))}`
  }

  post(path: string, parameters: Parameters | string, headers: Record<string, string> = {}): Promise<Answer> {
    const body = typeof parameters === 'string' ? parameters : queryOf(parameters)
    return this.client.call('POST', `/oauth2/${path}`, { 'content-type': FORM, ...headers }, body)
  }

  get credentials(): { readonly client_id: string; readonly client_secret: string } {
    return { client_id: this.app.app_key, client_secret: this.app.app_secret }
  }

  /** Signs the person in as needed, and returns a code with its PKCE verifier. */
  async code(browser: Browser, user: User, changes: Parameters = {}): Promise<{ code: string; verifier: string }> {
    const { verifier, challenge } = pkcePair()
    const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
    const { location } = await visit(browser, this.authorizeUrl({ ...pkce, ...changes }), { user })
    const code = location.searchParams.get('code') ?? ''
    expect(code, location.href).not.toBe('')
    return { code, verifier }
  }

  exchange({ code, verifier }: { code: string; verifier: string }, changes: Parameters = {}): Promise<Answer> {
    const parameters = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: CALLBACK }
    return this.post('token', { ...this.credentials, ...parameters, ...changes })
  }

  refresh(refresh_token: string, changes: Parameters = {}): Promise<Answer> {
    return this.post('token', { ...this.credentials, grant_type: 'refresh_token', refresh_token, ...changes })
  }

  async tokens(browser: Browser, user: User, changes: Parameters = {}): Promise<Tokens> {
    return tokensOf(await this.exchange(await this.code(browser, user, changes)))
  }

  userInfo(token: string): Promise<Answer> {
    return this.client.call('GET', '/oauth2/userinfo', { authorization: `Bearer ${token}` })
  }
}

export function bodyOf(answer: Answer, status = 200): Record<string, unknown> {
  expect(answer.status, answer.text).toBe(status)
  return JSON.parse(answer.text)
}

export const tokensOf = (answer: Answer): Tokens => bodyOf(answer) as unknown as Tokens
