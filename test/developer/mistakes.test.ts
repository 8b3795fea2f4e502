import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fixKeyOf } from '../../src/authorization/developer/failure-texts.ts'
import { OPERATIONS } from '../../src/authorization/developer/reference.ts'
import { epochSeconds } from '../../src/platform/lib/clock.ts'
import { translator } from '../../src/platform/lib/web/locale.ts'
import type { Browser } from '../acceptance/browser.ts'
import { type Client, type Parameters, pkcePair, tokenSetOf } from '../acceptance/client.ts'
import { consentForm, visibleText } from '../acceptance/form.ts'
import { type Answer, header, queryOf } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { basicOf, bodyOf, FORM, type Tokens } from '../oidc/app.ts'
import { clientOf, type Developer, founder, registered, secretOf, tester, withAuthenticator } from '../teams/people.ts'
import { until } from '../until.ts'

/** Each mistake that developers make, in both dialects, appears among the refused requests of the app, with how to fix it. */

const CALLBACK = 'http://localhost:8000/callback'
const t = translator('en')

let world: World
let client: Client
let owner: Developer & { team: string }
let app: { app_key: string; app_secret: string; redirect_uri: string }
let signing: { app_key: string }
let keys: CryptoKeyPair
let person: Browser

// ---- requests of an app

const authorize = (changes: Parameters = {}) =>
  person.open(client.authorizePath(client.request(app, { scope: 'USER_INFO', ...changes })))
const code = (changes: Parameters = {}) => client.getCode(person, app, { scope: 'USER_INFO', ...changes })
const tokens = async () => tokenSetOf(await client.exchange(app, await code()))

const { verifier, challenge } = pkcePair()
const standardRequest = (changes: Parameters = {}) => ({
  ...{ client_id: app.app_key, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid profile offline_access' },
  ...{ state: 's', code_challenge: challenge, code_challenge_method: 'S256', ...changes },
})
const standardAuthorize = (changes: Parameters = {}) =>
  person.send('GET', `/oauth2/authorize?${queryOf(standardRequest(changes))}`)
async function standardCode(changes: Parameters = {}): Promise<string> {
  const page = await standardAuthorize(changes)
  const form = consentForm(page.text)
  const answer = form ? await person.submit(form, { decision: 'approve' }) : page
  return new URL(header(answer, 'location')).searchParams.get('code') ?? ''
}
const post = (path: string, fields: Parameters, headers: Record<string, string> = {}) =>
  client.call('POST', `/oauth2/${path}`, { 'content-type': FORM, ...headers }, queryOf(fields))
const exchangeForm = (code: string, changes: Parameters = {}) => ({
  ...{ client_id: app.app_key, client_secret: app.app_secret, grant_type: 'authorization_code' },
  ...{ code, redirect_uri: CALLBACK, code_verifier: verifier, ...changes },
})
const standardExchange = (code: string, changes: Parameters = {}) => post('token', exchangeForm(code, changes))
const standardTokens = async () => bodyOf(await standardExchange(await standardCode())) as unknown as Tokens
const standardRefresh = (refresh_token: string, changes: Parameters = {}) => {
  const { app_key: client_id, app_secret: client_secret } = app
  return post('token', { client_id, client_secret, grant_type: 'refresh_token', refresh_token, ...changes })
}
const userInfo = (token: string, path = '/oauth2/userinfo') =>
  client.call('GET', path, { authorization: `Bearer ${token}` })
const basic = () => basicOf(app.app_key, app.app_secret)

let serial = 0
async function assertion(changes: Record<string, unknown> = {}, key = keys.privateKey): Promise<string> {
  const now = epochSeconds(world.clock.now())
  const aud = world.deps.config.PUBLIC_URL
  const { app_key } = signing
  const claims = { iss: app_key, sub: app_key, aud, jti: `jti-${++serial}`, iat: now, exp: now + 60, ...changes }
  return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(key)
}
const signed = (client_assertion: string) =>
  post('introspect', {
    ...{ client_assertion, client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' },
    token: 'x',
  })

// ---- the mistakes

/** Makes the mistake; `fix` is the key of the advice, without `developer.fix.`. */
type Made = readonly [make: () => Promise<Answer>, fix: string, values?: Record<string, string>]
interface Mistake {
  readonly name: string
  readonly contract?: Made
  readonly standard?: Made
  /** Made by the app that signs assertions. */
  readonly isSigned?: true
}

const MISTAKES: readonly Mistake[] = [
  {
    name: 'a redirect URI with another path',
    contract: [() => authorize({ redirect_uri: 'http://localhost:8000/other' }), 'redirect_uri'],
    standard: [() => standardAuthorize({ redirect_uri: 'http://localhost:8000/other' }), 'redirect_uri'],
  },
  {
    name: 'a host registered for when the app is live',
    contract: [() => authorize({ redirect_uri: 'https://app.example.com/callback' }), 'loopback'],
    standard: [() => standardAuthorize({ redirect_uri: 'https://app.example.com/callback' }), 'loopback'],
  },
  {
    name: 'a fragment in the redirect URI',
    contract: [() => authorize({ redirect_uri: `${CALLBACK}#x` }), 'redirect_uri_form'],
  },
  {
    name: 'a wrong secret',
    contract: [() => client.exchange({ ...app, app_secret: 'wrong' }, { code: 'x', state: 'x' }), 'credentials'],
    standard: [() => standardExchange('x', { client_secret: 'wrong' }), 'credentials'],
  },
  {
    name: 'a wrong secret in the header',
    contract: [
      () => client.call('POST', '/oauth/v2/api/token', { authorization: basicOf(app.app_key, 'wrong') }),
      'credentials',
    ],
    standard: [
      () => {
        const { client_id: _, client_secret: __, ...form } = exchangeForm('x')
        return post('token', form, { authorization: basicOf(app.app_key, 'wrong') })
      },
      'credentials',
    ],
  },
  {
    name: 'an unknown scope',
    contract: [() => authorize({ scope: 'email' }), 'scope'],
    standard: [() => standardAuthorize({ scope: 'email' }), 'scope'],
  },
  {
    name: 'a scope that the app does not hold',
    contract: [() => authorize({ scope: 'PHONE_NUMBER' }), 'scope_not_held'],
    standard: [() => standardAuthorize({ scope: 'openid phone' }), 'scope_not_held'],
  },
  { name: 'no state', contract: [() => authorize({ state: undefined }), 'missing', { name: 'state' }] },
  { name: 'a state with invalid characters', contract: [() => authorize({ state: 'a-b' }), 'state'] },
  {
    name: 'a state that is too long',
    contract: [() => authorize({ state: 'a'.repeat(129) }), 'state'],
    standard: [() => standardAuthorize({ state: 'a'.repeat(1_025) }), 'parameter'],
  },
  {
    name: 'another response type',
    contract: [() => authorize({ response_type: 'token' }), 'response_type'],
    standard: [() => standardAuthorize({ response_type: 'id_token' }), 'response_type'],
  },
  {
    name: 'PKCE with a plain challenge',
    contract: [() => authorize({ code_challenge: 'x', code_challenge_method: 'plain' }), 'challenge'],
    standard: [() => standardAuthorize({ code_challenge: 'x', code_challenge_method: 'plain' }), 'challenge'],
  },
  {
    name: 'no PKCE where it is required',
    standard: [() => standardAuthorize({ code_challenge: undefined, code_challenge_method: undefined }), 'challenge'],
  },
  {
    name: 'a person who is no test user',
    contract: [
      () => owner.browser.open(client.authorizePath(client.request(app, { scope: 'USER_INFO' }))),
      'test_user',
    ],
    standard: [() => owner.browser.send('GET', `/oauth2/authorize?${queryOf(standardRequest())}`), 'test_user'],
  },
  {
    name: 'a prompt that contradicts itself',
    standard: [() => standardAuthorize({ prompt: 'none login' }), 'prompt'],
  },
  {
    name: 'another grant type',
    contract: [() => client.exchange(app, { code: 'x', state: 'x' }, { grant_type: 'password' }), 'grant_type'],
    standard: [() => standardExchange('x', { grant_type: 'password' }), 'grant_type'],
  },
  {
    name: 'a truncated code',
    contract: [async () => client.exchange(app, { state: 'x', code: (await code()).code.slice(0, -1) }), 'code'],
    standard: [async () => standardExchange((await standardCode()).slice(0, -1)), 'code'],
  },
  {
    name: 'a code used twice',
    contract: [
      async () => {
        const consented = await code()
        await client.exchange(app, consented)
        return client.exchange(app, consented)
      },
      'code_used',
    ],
    standard: [
      async () => {
        const once = await standardCode()
        await standardExchange(once)
        return standardExchange(once)
      },
      'code_used',
    ],
  },
  {
    name: 'a code of another app',
    contract: [async () => client.exchange(app, await client.getCode(await someone(), elsewhere)), 'other_app'],
    standard: [async () => standardExchange((await client.getCode(await someone(), elsewhere)).code), 'other_app'],
  },
  {
    name: 'another redirect URI with the code',
    contract: [
      async () => client.exchange({ ...app, redirect_uri: 'http://localhost:1/' }, await code()),
      'redirect_uri_same',
    ],
    standard: [
      async () => standardExchange(await standardCode(), { redirect_uri: 'http://localhost:1/' }),
      'redirect_uri_same',
    ],
  },
  {
    name: 'another state with the code',
    contract: [async () => client.exchange(app, { ...(await code()), state: 'other' }), 'state_same'],
  },
  {
    name: 'no verifier',
    contract: [
      async () =>
        client.exchange(app, await code({ code_challenge: pkcePair().challenge, code_challenge_method: 'S256' })),
      'verifier',
    ],
    standard: [async () => standardExchange(await standardCode(), { code_verifier: undefined }), 'verifier'],
  },
  {
    name: 'the verifier of another request',
    contract: [async () => client.exchange(app, await code(), { code_verifier: pkcePair().verifier }), 'verifier'],
    standard: [async () => standardExchange(await standardCode(), { code_verifier: pkcePair().verifier }), 'verifier'],
  },
  {
    name: 'parameters in the wrong place',
    contract: [
      () => {
        const { app_key, app_secret, ...rest } = client.exchangeParameters(app, { code: 'x', state: 'x' })
        const path = `/oauth/v2/api/token?${queryOf({ app_key, app_secret })}`
        return client.call('POST', path, { 'content-type': FORM }, queryOf(rest))
      },
      'body',
    ],
    standard: [() => client.call('POST', `/oauth2/token?${queryOf(exchangeForm('x'))}`), 'query'],
  },
  {
    name: 'JSON in place of a form',
    contract: [
      () => {
        const { app_key, ...rest } = client.exchangeParameters(app, { code: 'x', state: 'x' })
        const path = `/oauth/v2/api/token?${queryOf({ app_key })}`
        return client.call('POST', path, { 'content-type': 'application/json' }, JSON.stringify(rest))
      },
      'body',
    ],
    standard: [
      () => {
        const headers = { 'content-type': 'application/json', authorization: basic() }
        return client.call('POST', '/oauth2/token', headers, JSON.stringify(exchangeForm('x')))
      },
      'media_type',
    ],
  },
  {
    name: 'two ways of authentication at once',
    contract: [
      () => {
        const path = `/oauth/v2/api/token?${queryOf({ app_key: app.app_key, app_secret: app.app_secret })}`
        return client.call('POST', path, { authorization: basicOf(app.app_key, 'other') })
      },
      'two_ways',
    ],
    standard: [() => post('token', exchangeForm('x'), { authorization: basic() }), 'two_ways'],
  },
  {
    name: 'no secret',
    contract: [() => client.exchange({ ...app, app_secret: '' }, { code: 'x', state: 'x' }), 'credentials'],
    standard: [() => standardExchange('x', { client_secret: undefined }), 'kind'],
  },
  {
    name: 'the wrong method',
    contract: [
      () => client.call('GET', `/oauth/v2/api/token?${queryOf(client.refreshParameters(app, 'x'))}`),
      'method',
    ],
    standard: [() => client.call('GET', `/oauth2/token?${queryOf(standardRequest())}`), 'method'],
  },
  {
    name: 'a refresh token used again after it was rotated',
    standard: [
      async () => {
        const { refresh_token } = await standardTokens()
        await standardRefresh(refresh_token)
        world.clock.advance(world.deps.config.REFRESH_DUPLICATE_WINDOW_S + 1)
        return standardRefresh(refresh_token)
      },
      'rotated',
    ],
  },
  {
    name: 'a refresh token of another app',
    contract: [
      async () => client.refresh(app, (await client.getTokens(await someone(), elsewhere)).refresh_token),
      'refresh_token',
    ],
    standard: [
      async () => standardRefresh((await client.getTokens(await someone(), elsewhere)).refresh_token),
      'refresh_token',
    ],
  },
  {
    name: 'the access token in place of the refresh token',
    contract: [async () => client.refresh(app, (await tokens()).access_token), 'access_as_refresh'],
    standard: [async () => standardRefresh((await standardTokens()).access_token), 'access_as_refresh'],
  },
  {
    name: 'more scopes than the refresh token holds',
    standard: [
      async () => standardRefresh((await standardTokens()).refresh_token, { scope: 'openid phone' }),
      'narrower',
    ],
  },
  {
    name: 'a token without the permission for phone numbers',
    contract: [async () => client.phone((await tokens()).access_token), 'scope_not_held'],
  },
  {
    name: 'an expired token',
    contract: [() => client.userInfo(old.contract), 'expired'],
    standard: [() => userInfo(old.standard), 'expired'],
  },
  {
    name: 'a token that the person has revoked',
    contract: [
      async () => {
        const { access_token } = await tokens()
        await world.pool.query('update user_grant set revoked_at = $1 where app_key = $2', [
          world.clock.now(),
          app.app_key,
        ])
        return client.userInfo(access_token)
      },
      'withdrawn',
    ],
    standard: [
      async () => {
        const { access_token } = await standardTokens()
        await world.pool.query('update user_grant set revoked_at = $1 where app_key = $2', [
          world.clock.now(),
          app.app_key,
        ])
        return userInfo(access_token)
      },
      'withdrawn',
    ],
  },
  {
    name: 'an unregistered address after sign-out',
    standard: [
      () =>
        client.call(
          'GET',
          `/oauth2/logout?${queryOf({ client_id: app.app_key, post_logout_redirect_uri: 'https://x.example/' })}`,
        ),
      'logout_uri',
    ],
  },
  {
    name: 'an assertion signed with another key',
    isSigned: true,
    standard: [async () => signed(await assertion({}, (await generateKeyPair('ES256')).privateKey)), 'assertion_key'],
  },
  {
    name: 'a clock that is slow',
    isSigned: true,
    standard: [async () => signed(await assertion({ exp: epochSeconds(world.clock.now()) - 120 })), 'clock'],
  },
  {
    name: 'a clock that is fast',
    isSigned: true,
    standard: [async () => signed(await assertion({ exp: epochSeconds(world.clock.now()) + 4_000 })), 'clock'],
  },
  {
    name: 'an assertion for another audience',
    isSigned: true,
    standard: [async () => signed(await assertion({ aud: 'https://other.example' })), 'assertion_aud'],
  },
  {
    name: 'an assertion used twice',
    isSigned: true,
    standard: [
      async () => {
        const once = await assertion()
        await signed(once)
        return signed(once)
      },
      'assertion_once',
    ],
  },
  {
    name: 'an assertion with a wrong subject',
    isSigned: true,
    standard: [async () => signed(await assertion({ sub: 'somebody' })), 'assertion'],
  },
  {
    name: 'an expired code',
    contract: [
      async () => {
        const consented = await code()
        world.clock.advance(301)
        return client.exchange(app, consented)
      },
      'code_expired',
    ],
    standard: [
      async () => {
        const late = await standardCode()
        world.clock.advance(301)
        return standardExchange(late)
      },
      'code_expired',
    ],
  },
]

let elsewhere: { app_key: string; app_secret: string; redirect_uri: string }
let someone: () => Promise<Browser>
let old: { contract: string; standard: string }

/** Request ids, by the names of `each`. */
const requestIds = new Map<string, string>()
const each = MISTAKES.flatMap(({ name, isSigned, ...dialects }) =>
  (['contract', 'standard'] as const).flatMap((dialect) => {
    const one = dialects[dialect]
    return one ? [{ name: `${name} (${dialect})`, make: one[0], fix: one[1], values: one[2], isSigned }] : []
  }),
)

beforeAll(async () => {
  world = await openWorld({ ACCESS_TOKEN_LIFETIME_S: '60', CLIENT_FAILURES: '1000', AUTHORIZE_PER_MINUTE: '100000' })
  client = clientOf(world)
  owner = await founder(world)
  await withAuthenticator(world, owner)
  const app_key = await registered(owner)
  const app_secret = await secretOf(owner, app_key)
  app = { app_key, app_secret, redirect_uri: CALLBACK }
  keys = await generateKeyPair('ES256', { extractable: true })
  const jwks = { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }] }
  signing = await client.makeApp({ token_auth_methods: ['private_key_jwt'], jwks, redirect_uris: [CALLBACK] })
  await client.admin('POST', `/apps/${signing.app_key}/give`, { team_id: owner.team })
  elsewhere = await client.makeApp()
  const user = await client.makeUser()
  someone = () => client.signedIn(user, elsewhere)
  person = await tester(world, owner, app_key)
  old = { contract: (await tokens()).access_token, standard: (await standardTokens()).access_token }
  world.clock.advance(61)
  for (const { name, make } of each) requestIds.set(name, String((await make()).headers['x-request-id']))
  await until(async () => {
    const { rows } = await world.pool.query('select request_id from refused_request')
    const kept = rows.map(({ request_id }) => request_id)
    return [...requestIds.values()].every((id) => kept.includes(id)) || undefined
  }).catch(() => {}) // each test says which one is missing
}, 120_000)
afterAll(() => world?.close())

describe('the refused requests of an app', () => {
  it.each(each)('show $name, with how to fix it', async ({ name, fix, values, isSigned }) => {
    const { app_key } = isSigned ? signing : app
    const path = `/developer/apps/${app_key}/failures?request_id=${requestIds.get(name)}`
    const page = visibleText((await owner.browser.open(path)).text).replace(/\s+/g, ' ')
    expect(page).toContain(t(`developer.fix.${fix}`, values))
  })
})

it('each failure that an app can meet has its own advice', () => {
  const names = OPERATIONS.flatMap(({ failures, redirected = {} }) => Object.keys({ ...failures, ...redirected }))
  const notMistakes = ['login_required', 'consent_required', 'user_refused']
  const withoutAdvice = [...new Set(names)].filter(
    (failure) => fixKeyOf({ failure, detail: null, rescode: 20007, token: null }) === 'developer.fix.other',
  )
  expect(withoutAdvice.sort()).toEqual(notMistakes.sort())
})

it('a login_required answer to prompt=none is no mistake', async () => {
  const answers = [await standardAuthorize({ prompt: 'none', scope: 'openid profile', max_age: '0' })]
  expect(header(answers[0] as Answer, 'location')).toContain('error=login_required')
  const wrong = await standardAuthorize({ prompt: 'none login' })
  const kept = async (answer: Answer) =>
    (await world.pool.query('select 1 from refused_request where request_id = $1', [answer.headers['x-request-id']]))
      .rowCount
  await until(async () => (await kept(wrong)) || undefined)
  expect(await kept(answers[0] as Answer)).toBe(0)
})

it('no secrets are stored with refused requests', async () => {
  const { rows } = await world.pool.query('select * from refused_request')
  const all = JSON.stringify(rows)
  expect(all).not.toContain(app.app_secret)
  expect(all).not.toMatch(/gh(at|rt|ac)_[\w-]{13}|eyJ/)
})
