import { expect } from 'vitest'
import type { Browser } from './browser.ts'
import type { Canaries } from './canaries.ts'
import { type App, type Client, pkcePair, tokenSetOf } from './client.ts'
import { type Form, signInForm } from './form.ts'
import { ADMIN_TOKEN } from './system.ts'

const PHONE = '13977700123'
const PASSWORD = 'a password that must never be written anywhere'

export interface Endpoint {
  readonly method: string
  readonly path: string
  /** Entirely valid, so that a planted text in one parameter fails as deep inside the service as possible. */
  readonly query: Readonly<Record<string, string | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  readonly form?: Readonly<Record<string, string>>
  readonly json?: Readonly<Record<string, unknown>>
}

export interface Walked {
  readonly client: Client
  readonly app: App
  readonly browser: Browser
  readonly endpoints: readonly Endpoint[]
}

/** Goes through every flow once, registers each secret on the way, and returns the endpoints with valid values. */
export async function walk(client: Client, canaries: Canaries): Promise<Walked> {
  const app = await client.makeApp({ refresh_policy: 'rotating' })
  canaries.guard('app_secret', app.app_secret)
  const rotated = await client.admin('POST', `/apps/${app.app_key}/rotate-secret`, {})
  canaries.guard('app_secret, rotated', String(rotated.app_secret))
  canaries.guard('password', PASSWORD)
  canaries.guard('phone number', PHONE)
  const user = await client.makeUser({ password: PASSWORD, phone_number: PHONE })
  const browser = await client.signedIn(user, app)
  for (const [name, value] of browser.cookies) canaries.guard(`cookie ${name}`, value)
  const { verifier, challenge } = pkcePair()
  canaries.guard('code_verifier', verifier)
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
  const consented = await client.getCode(browser, app, pkce)
  canaries.guard('code', consented.code)
  canaries.guard('state', consented.state)
  const exchange = client.exchangeParameters(app, consented, { code_verifier: verifier })
  const tokens = tokenSetOf(await client.token(exchange))
  const refreshed = tokenSetOf(await client.refresh(app, tokens.refresh_token))
  for (const set of [tokens, refreshed]) {
    canaries.guard('access_token', set.access_token)
    canaries.guard('refresh_token', set.refresh_token)
  }
  for (const answer of [await client.phone(tokens.access_token), await client.userInfo(tokens.access_token)]) {
    expect(answer.text).toContain('"rescode":0')
  }
  const request = client.request(app)
  const consent = await client.consentFormFor(browser, request)
  const signIn = signInForm((await client.newBrowser().open(client.authorizePath(request))).text) as Form
  for (const form of [consent, signIn]) {
    for (const [name, value] of Object.entries(form.fields))
      if (value.length > 16) canaries.guard(`form ${name}`, value)
  }
  const unused = await client.getCode(browser, app)
  canaries.guard('code, unused', unused.code)
  const cookie = { cookie: browser.cookieHeader }
  const spare = `/admin/v1/apps/${(await client.makeApp()).app_key}`
  const admin = { authorization: `Bearer ${ADMIN_TOKEN}` }
  const api = '/oauth/v2/api'
  const { cid, user_id } = user
  const { passport } = user
  const endpoints: Endpoint[] = [
    { method: 'GET', path: '/oauth/v2/authorize', query: { ...request, ...pkce }, headers: cookie },
    { method: 'GET', path: '/oauth/v2/authorize', query: request },
    {
      method: 'POST',
      path: `${api}/token`,
      query: client.exchangeParameters(app, unused, { code_verifier: verifier }),
    },
    { method: 'POST', path: `${api}/token`, query: client.refreshParameters(app, tokens.refresh_token) },
    { method: 'POST', path: `${api}/resource/get_phonenumber`, query: { access_token: tokens.access_token } },
    { method: 'POST', path: `${api}/resource/get_userinfo`, query: { access_token: tokens.access_token } },
    {
      method: 'POST',
      path: consent.action,
      query: {},
      headers: cookie,
      form: { ...consent.fields, decision: 'approve' },
    },
    { method: 'GET', path: signIn.action, query: { return_to: '/' } },
    { method: 'POST', path: signIn.action, query: {}, form: { ...signIn.fields, passport, password: PASSWORD } },
    { method: 'POST', path: '/sign-out', query: {}, form: { return_to: '/' } },
    { method: 'GET', path: '/', query: {}, headers: cookie },
    { method: 'GET', path: '/healthz', query: {} },
    { method: 'GET', path: '/readyz', query: {} },
    { method: 'GET', path: '/admin/v1/apps', query: {}, headers: admin },
    { method: 'GET', path: spare, query: {}, headers: admin },
    { method: 'POST', path: `${spare}/approve`, query: {}, headers: admin, json: {} },
    {
      method: 'POST',
      path: `${spare}/rotate-secret`,
      query: {},
      headers: admin,
      json: { overlap_s: 1 },
    },
    { method: 'PATCH', path: spare, query: {}, headers: admin, json: { name: 'x' } },
    {
      method: 'POST',
      path: '/admin/v1/apps',
      query: {},
      headers: admin,
      json: {
        name: 'x',
        hosts: ['x.example.com'],
        redirect_uris: ['https://x.example.com'],
        scopes: ['USER_INFO'],
        status: 'approved',
      },
    },
    { method: 'GET', path: '/admin/v1/users', query: {}, headers: admin },
    {
      method: 'POST',
      path: '/admin/v1/users',
      query: {},
      headers: admin,
      json: {
        passport: 'p',
        password: PASSWORD,
        cid: 1,
        user_id: 'u',
        name: 'n',
        gender: '0',
        phone_number: PHONE,
        big_avatar_url: 'https://x.example.com',
      },
    },
    { method: 'POST', path: '/admin/v1/users/block', query: {}, headers: admin, json: { cid, user_id: 'nobody' } },
    {
      method: 'POST',
      path: '/admin/v1/users/update',
      query: {},
      headers: admin,
      json: { cid, user_id, name: 'n', phone_number: PHONE },
    },
    { method: 'POST', path: '/admin/v1/users/unblock', query: {}, headers: admin, json: { cid, user_id } },
    { method: 'GET', path: '/admin/v1/grants', query: { cid: String(cid), user_id }, headers: admin },
    {
      method: 'POST',
      path: '/admin/v1/grants/revoke',
      query: {},
      headers: admin,
      json: { cid, user_id, grant_id: 'x' },
    },
  ]
  return { client, app, browser, endpoints }
}
