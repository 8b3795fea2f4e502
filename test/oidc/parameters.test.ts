import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Browser } from '../acceptance/browser.ts'
import { Client, pkcePair, type User } from '../acceptance/client.ts'
import { consentForm } from '../acceptance/form.ts'
import { type Answer, header, injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { CALLBACK, EVERYTHING, StandardApp, type Tokens } from './app.ts'

/** Every parameter of every endpoint: missing, empty, in brackets, repeated, over-long and in a broken encoding. */

let world: World
let client: Client
let rp: StandardApp
let user: User
let browser: Browser
let tokens: Tokens
beforeAll(async () => {
  world = await openWorld({
    ...{ AUTHORIZE_PER_MINUTE: '1000000', CLIENT_FAILURES: '100000', PUSHED_REQUESTS_PER_MINUTE: '100000' },
  })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  rp = await StandardApp.make(client, { post_logout_uris: [CALLBACK] })
  user = await client.makeUser()
  browser = client.newBrowser()
  tokens = await rp.tokens(browser, user)
})
afterAll(() => world?.close())

/** The outcome of a request: `ok`, `page` (an error without a redirect) or the error, with its status if not redirected. */
type Outcome = string
/** The outcomes for a missing and for an over-long parameter. */
type Expected = readonly [missing: Outcome, long: Outcome]

interface Endpoint {
  /** A valid request. */
  readonly request: () => Promise<Record<string, string>>
  readonly send: (query: string) => Promise<Outcome>
  readonly parameters: Readonly<Record<string, Expected>>
  /** The outcome for a parameter that is repeated or cannot be decoded. */
  readonly unreadable: Outcome
  /** The parameters for which it differs. */
  readonly unreadableExceptions?: Readonly<Record<string, Outcome>>
}

const LONG = 'x'.repeat(5_000)
const pair = pkcePair()
const credentials = () => ({ client_id: rp.app.app_key, client_secret: rp.app.app_secret })

const authorization = async () => ({
  client_id: rp.app.app_key,
  redirect_uri: CALLBACK,
  response_type: 'code',
  response_mode: 'query',
  scope: EVERYTHING,
  state: 'a state',
  nonce: 'a nonce',
  code_challenge: pair.challenge,
  code_challenge_method: 'S256',
  prompt: 'consent',
  max_age: '86400',
  login_hint: 'somebody',
  ui_locales: 'en',
  id_token_hint: tokens.id_token,
})

const OF_AUTHORIZATION: Readonly<Record<string, Expected>> = {
  response_type: ['invalid_request', 'unsupported_response_type'],
  response_mode: ['ok', 'invalid_request'],
  scope: ['invalid_scope', 'invalid_request'],
  state: ['ok', 'invalid_request'],
  nonce: ['ok', 'invalid_request'],
  code_challenge: ['invalid_request', 'invalid_request'],
  code_challenge_method: ['invalid_request', 'invalid_request'],
  prompt: ['ok', 'invalid_request'],
  max_age: ['ok', 'invalid_request'],
  login_hint: ['ok', 'ok'],
  ui_locales: ['ok', 'ok'],
  id_token_hint: ['ok', 'invalid_request'],
}

/** Errors must be JSON with the RFCs' fields only, and a description that repeats nothing of the request. */
function outcomeOf({ status, text }: Answer): Outcome {
  if (status < 400) return 'ok'
  const body = JSON.parse(text)
  expect(Object.keys(body)).toEqual(['error', 'error_description'])
  expect(body.error_description).not.toMatch(/xxx|gh(ac|at|rt|as)_/)
  return `${status} ${body.error}`
}
const post = (path: string) => async (query: string) => outcomeOf(await rp.post(path, query))
const withStatus = (all: Readonly<Record<string, Expected>>): Record<string, Expected> =>
  Object.fromEntries(
    Object.entries(all).map(([name, [missing, long]]) => {
      const of = (outcome: Outcome) => (outcome === 'ok' ? 'ok' : `400 ${outcome}`)
      return [name, [of(missing), of(long)]]
    }),
  )

const CLIENT: Readonly<Record<string, Expected>> = {
  client_id: ['401 invalid_client', '401 invalid_client'],
  client_secret: ['401 invalid_client', '401 invalid_client'],
}

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  authorize: {
    request: authorization,
    send: async (query) => {
      const answer = await browser.open(`/oauth2/authorize?${query}`)
      if (consentForm(answer.text)) return 'ok'
      if (answer.status !== 303) return 'page'
      const { origin, pathname, searchParams } = new URL(header(answer, 'location'))
      expect(origin + pathname).toBe(CALLBACK)
      return searchParams.get('error') ?? 'ok'
    },
    parameters: { client_id: ['page', 'page'], redirect_uri: ['page', 'page'], ...OF_AUTHORIZATION },
    unreadable: 'invalid_request',
    unreadableExceptions: { client_id: 'page', redirect_uri: 'page' },
  },
  par: {
    request: async () => ({ ...(await authorization()), ...credentials() }),
    send: post('par'),
    parameters: {
      ...CLIENT,
      redirect_uri: ['400 invalid_request', '400 invalid_request'],
      ...withStatus(OF_AUTHORIZATION),
    },
    unreadable: '400 invalid_request',
  },
  'token, for a code': {
    request: async () => {
      const { code, verifier } = await rp.code(browser, user)
      const parameters = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: CALLBACK }
      return { ...parameters, ...credentials() }
    },
    send: post('token'),
    parameters: {
      ...CLIENT,
      grant_type: ['400 invalid_request', '400 unsupported_grant_type'],
      code: ['400 invalid_request', '400 invalid_grant'],
      redirect_uri: ['400 invalid_request', '400 invalid_grant'],
      code_verifier: ['400 invalid_grant', '400 invalid_grant'],
    },
    unreadable: '400 invalid_request',
  },
  'token, for a refresh token': {
    request: async () => {
      const { refresh_token } = await rp.tokens(browser, user)
      return { grant_type: 'refresh_token', refresh_token, scope: 'openid', ...credentials() }
    },
    send: post('token'),
    parameters: {
      ...CLIENT,
      grant_type: ['400 invalid_request', '400 unsupported_grant_type'],
      refresh_token: ['400 invalid_request', '400 invalid_grant'],
      scope: ['ok', '400 invalid_scope'],
    },
    unreadable: '400 invalid_request',
  },
  introspect: {
    request: async () => ({ token: tokens.access_token, token_type_hint: 'access_token', ...credentials() }),
    send: post('introspect'),
    parameters: { ...CLIENT, token: ['400 invalid_request', 'ok'], token_type_hint: ['ok', 'ok'] },
    unreadable: '400 invalid_request',
  },
  revoke: {
    request: async () => ({ token: 'a token of nobody', token_type_hint: 'access_token', ...credentials() }),
    send: post('revoke'),
    parameters: { ...CLIENT, token: ['400 invalid_request', 'ok'], token_type_hint: ['ok', 'ok'] },
    unreadable: '400 invalid_request',
  },
  userinfo: {
    request: async () => ({ access_token: tokens.access_token }),
    send: post('userinfo'),
    parameters: { access_token: ['401 invalid_request', '401 invalid_token'] },
    unreadable: '400 invalid_request',
  },
  logout: {
    request: async () => ({
      id_token_hint: tokens.id_token,
      client_id: rp.app.app_key,
      post_logout_redirect_uri: CALLBACK,
      state: 'a state',
      ui_locales: 'en',
    }),
    send: async (query) => {
      const answer = await browser.open(`/oauth2/logout?${query}`)
      expect(header(answer, 'location')).toBe('')
      return answer.status === 200 ? 'ok' : 'page'
    },
    parameters: {
      id_token_hint: ['ok', 'page'],
      client_id: ['ok', 'page'],
      post_logout_redirect_uri: ['ok', 'page'],
      state: ['ok', 'page'],
      ui_locales: ['ok', 'page'], // the parameters that the page carries are limited in length
    },
    unreadable: 'page',
  },
}

const queryOf = (parameters: Record<string, string>) => new URLSearchParams(parameters).toString()

describe.each(Object.entries(ENDPOINTS))(
  '%s',
  (_endpoint, { request, send, parameters, unreadable, unreadableExceptions }) => {
    it('accepts a valid request, and ignores unknown parameters', async () => {
      expect(await send(queryOf(await request()))).toBe('ok')
      expect(await send(`${queryOf(await request())}&unknown=1&unknown=%ff&__proto__=x`)).toBe('ok')
    })

    it.each(Object.entries(parameters))('%s', async (name, [missing, long]) => {
      const without = async () => {
        const { [name]: value = '', ...others } = await request()
        return { value: encodeURIComponent(value), others: queryOf(others) }
      }
      const broken = unreadableExceptions?.[name] ?? unreadable
      const variants: readonly [string, (own: { value: string; others: string }) => string, Outcome][] = [
        ['missing', ({ others }) => others, missing],
        ['empty', ({ others }) => `${others}&${name}=`, missing],
        ['without a value', ({ others }) => `${others}&${name}`, missing],
        ['a list', ({ value, others }) => `${others}&${name}[]=${value}`, missing],
        ['an object', ({ value, others }) => `${others}&${name}[a]=${value}`, missing],
        ['twice the same', ({ value, others }) => `${others}&${name}=${value}&${name}=${value}`, broken],
        ['twice, once empty', ({ value, others }) => `${others}&${name}=&${name}=${value}`, broken],
        ['no UTF-8', ({ value, others }) => `${others}&${name}=%ff${value}`, broken],
        ['a broken escape', ({ value, others }) => `${others}&${name}=%zz${value}`, broken],
        ['a NUL', ({ value, others }) => `${others}&${name}=${value}%00`, broken],
        ['over-long', ({ others }) => `${others}&${name}=${LONG}`, long],
      ]
      const outcomes: [string, Outcome][] = []
      for (const [what, write] of variants) outcomes.push([what, await send(write(await without()))])
      expect(outcomes).toEqual(variants.map(([what, , expected]) => [what, expected]))
    })
  },
)
