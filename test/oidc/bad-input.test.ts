import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Browser } from '../acceptance/browser.ts'
import { Client, type User } from '../acceptance/client.ts'
import { type Answer, header, injectWire, queryOf } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { basicOf, bodyOf, CALLBACK, EVERYTHING, type Parameters, StandardApp, type Tokens, tokensOf } from './app.ts'

/** Requests with one mistake each get the error and status of the RFC, without revealing which part was wrong. */

let world: World
let client: Client
let rp: StandardApp
let other: StandardApp
let publicApp: StandardApp
let user: User
let browser: Browser
let tokens: Tokens
beforeAll(async () => {
  world = await openWorld({ AUTHORIZE_PER_MINUTE: '1000000', CLIENT_FAILURES: '100000' })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  rp = await StandardApp.make(client)
  other = await StandardApp.make(client)
  publicApp = await StandardApp.make(client, { token_auth_methods: ['none'] })
  user = await client.makeUser()
  browser = client.newBrowser()
  tokens = await rp.tokens(browser, user)
})
afterAll(() => world?.close())

const LONG = 'x'.repeat(70_000)

/** Status, error, and the challenged scheme. */
function outcomeOf(answer: Answer): string {
  const body = JSON.parse(answer.text)
  expect(Object.keys(body)).toEqual(['error', 'error_description'])
  expect(body.error_description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/)
  expect(header(answer, 'cache-control')).toBe('no-store')
  const scheme = header(answer, 'www-authenticate').split(' ')[0]
  return `${answer.status} ${body.error}${scheme ? ` ${scheme}` : ''}`
}

describe('client authentication', () => {
  const wrong = 'wrong-secret'
  const cases: [string, () => Parameters | string, () => Record<string, string>, string][] = [
    ['no credentials', () => ({}), () => ({}), '401 invalid_client'],
    [
      'an unknown client, post',
      () => ({ client_id: 'nobody', client_secret: wrong }),
      () => ({}),
      '401 invalid_client',
    ],
    [
      'an unknown client, basic',
      () => ({}),
      () => ({ authorization: basicOf('nobody', wrong) }),
      '401 invalid_client Basic',
    ],
    ['an unknown client, none', () => ({ client_id: 'nobody' }), () => ({}), '401 invalid_client'],
    ['a wrong secret, post', () => ({ ...rp.credentials, client_secret: wrong }), () => ({}), '401 invalid_client'],
    [
      'a wrong secret, basic',
      () => ({}),
      () => ({ authorization: basicOf(rp.app.app_key, wrong) }),
      '401 invalid_client Basic',
    ],
    [
      'another client’s secret',
      () => ({ ...rp.credentials, client_secret: other.app.app_secret }),
      () => ({}),
      '401 invalid_client',
    ],
    ['no secret', () => ({ client_id: rp.app.app_key }), () => ({}), '401 invalid_client'],
    ['an empty secret', () => ({ client_id: rp.app.app_key, client_secret: '' }), () => ({}), '401 invalid_client'],
    [
      'an empty secret, basic',
      () => ({}),
      () => ({ authorization: basicOf(rp.app.app_key, '') }),
      '401 invalid_client Basic',
    ],
    [
      'a public client with a secret',
      () => ({ client_id: publicApp.app.app_key, client_secret: wrong }),
      () => ({}),
      '401 invalid_client',
    ],
    [
      'an empty id, basic',
      () => ({}),
      () => ({ authorization: basicOf('', rp.app.app_secret) }),
      '401 invalid_client Basic',
    ],
    ['malformed basic', () => ({}), () => ({ authorization: 'Basic %%%' }), '401 invalid_client Basic'],
    [
      'basic without a colon',
      () => ({}),
      () => ({ authorization: `Basic ${btoa('alone')}` }),
      '401 invalid_client Basic',
    ],
    [
      'two ways of authentication',
      () => ({ ...rp.credentials }),
      () => ({ authorization: basicOf(rp.app.app_key, rp.app.app_secret) }),
      '400 invalid_request',
    ],
    [
      'two clients',
      () => ({ client_id: other.app.app_key }),
      () => ({ authorization: basicOf(rp.app.app_key, rp.app.app_secret) }),
      '400 invalid_request',
    ],
    [
      'an assertion',
      () => ({
        client_id: rp.app.app_key,
        client_assertion: 'x.y.z',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      }),
      () => ({}),
      '401 invalid_client',
    ],
    [
      'a secret and an assertion',
      () => ({ ...rp.credentials, client_assertion: 'x.y.z' }),
      () => ({}),
      '400 invalid_request',
    ],
    [
      'client_id twice',
      () => `client_id=a&client_id=${rp.app.app_key}&client_secret=x`,
      () => ({}),
      '400 invalid_request',
    ],
    [
      'client_secret twice',
      () => `client_id=${rp.app.app_key}&client_secret=a&client_secret=b`,
      () => ({}),
      '400 invalid_request',
    ],
    ['an over-long secret', () => ({ ...rp.credentials, client_secret: LONG }), () => ({}), '400 invalid_request'],
    ['broken encoding', () => `client_id=%ff&client_secret=x`, () => ({}), '400 invalid_request'],
    ['a NUL', () => `client_id=a%00b&client_secret=x`, () => ({}), '400 invalid_request'],
    [
      'JSON',
      () => JSON.stringify(rp.credentials),
      () => ({ 'content-type': 'application/json' }),
      '400 invalid_request',
    ],
  ]
  describe.each(['token', 'revoke', 'introspect', 'par'])('at %s', (path) => {
    it.each(cases)('is refused with %s', async (_name, parameters, headers, expected) => {
      expect(outcomeOf(await rp.post(path, parameters(), headers()))).toBe(expected)
    })
  })

  it('gives unknown clients and wrong secrets the same answer', async () => {
    const answers = [
      await rp.post('token', { client_id: 'nobody', client_secret: wrong }),
      await rp.post('token', { client_id: 'nobody' }),
      await rp.post('token', { ...rp.credentials, client_secret: wrong }),
      await rp.post('token', { client_id: rp.app.app_key }),
    ]
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })

  it('refuses two ways of authentication in an otherwise valid request', async () => {
    const authorization = basicOf(rp.app.app_key, rp.app.app_secret)
    const introspect = (parameters: Parameters) =>
      rp.post('introspect', { token: tokens.access_token, ...parameters }, { authorization })
    expect(bodyOf(await introspect({})).active).toBe(true)
    expect(bodyOf(await introspect({ client_id: rp.app.app_key })).active).toBe(true)
    expect(outcomeOf(await introspect(rp.credentials))).toBe('400 invalid_request')
    expect(outcomeOf(await introspect({ client_id: other.app.app_key }))).toBe('400 invalid_request')
  })

  it('treats an empty secret as missing, in the form and in the header', async () => {
    const { app_key } = publicApp.app
    const authorization = basicOf(app_key, '')
    const ways: [Parameters, Record<string, string>][] = [
      [{ client_id: app_key }, {}],
      [{ client_id: app_key, client_secret: '' }, {}],
      [{}, { authorization }],
      [{ client_id: app_key }, { authorization }],
      [{ client_id: app_key, client_secret: '' }, { authorization }],
    ]
    for (const [parameters, headers] of ways) {
      const { code, verifier } = await publicApp.code(browser, user)
      const grant = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: CALLBACK }
      expect(tokensOf(await publicApp.post('token', { ...grant, ...parameters }, headers)).id_token).toMatch(/^ey/)
    }
    expect(outcomeOf(await rp.post('token', { client_id: rp.app.app_key }, { authorization }))).toBe(
      '400 invalid_request',
    )
    const refused = await publicApp.post('token', { client_secret: wrong }, { authorization })
    expect(outcomeOf(refused)).toBe('401 invalid_client Basic')
  })

  it('refuses a suspended app', async () => {
    const app = await StandardApp.make(client)
    await client.suspend(app.app)
    expect(outcomeOf(await app.post('token', app.credentials))).toBe('400 unauthorized_client')
  })

  it('ignores a secret in the URL', async () => {
    expect(outcomeOf(await rp.post(`token?${queryOf(rp.credentials)}`, { grant_type: 'refresh_token' }))).toBe(
      '401 invalid_client',
    )
  })
})

describe('the token endpoint', () => {
  const cases: [string, () => Parameters, string][] = [
    ['no grant_type', () => ({}), '400 invalid_request'],
    ['an unknown grant_type', () => ({ grant_type: 'password' }), '400 unsupported_grant_type'],
    ['no code', () => ({ grant_type: 'authorization_code', redirect_uri: CALLBACK }), '400 invalid_request'],
    [
      'an empty code',
      () => ({ grant_type: 'authorization_code', code: '', redirect_uri: CALLBACK }),
      '400 invalid_request',
    ],
    ['no redirect_uri', () => ({ grant_type: 'authorization_code', code: 'x' }), '400 invalid_request'],
    [
      'an unknown code',
      () => ({ grant_type: 'authorization_code', code: `ghac_${'A'.repeat(48)}`, redirect_uri: CALLBACK }),
      '400 invalid_grant',
    ],
    [
      'an over-long code',
      () => ({ grant_type: 'authorization_code', code: 'x'.repeat(10_000), redirect_uri: CALLBACK }),
      '400 invalid_grant',
    ],
    [
      'an access token as code',
      () => ({ grant_type: 'authorization_code', code: tokens.access_token, redirect_uri: CALLBACK }),
      '400 invalid_grant',
    ],
    ['no refresh_token', () => ({ grant_type: 'refresh_token' }), '400 invalid_request'],
    ['an unknown refresh token', () => ({ grant_type: 'refresh_token', refresh_token: 'x' }), '400 invalid_grant'],
    [
      'an access token to refresh',
      () => ({ grant_type: 'refresh_token', refresh_token: tokens.access_token }),
      '400 invalid_grant',
    ],
  ]
  it.each(cases)('refuses %s', async (_name, parameters, expected) => {
    expect(outcomeOf(await rp.post('token', { ...rp.credentials, ...parameters() }))).toBe(expected)
  })

  it('requires a state, if sent, to be that of the code, in either dialect', async () => {
    const app = { ...rp.app, redirect_uri: CALLBACK }
    const contract = async () => {
      const { code, state } = await client.getCode(browser, app)
      return { code, state, verifier: '' }
    }
    const standard = async () => ({
      ...(await rp.code(browser, user, { state: 'of the request' })),
      state: 'of the request',
    })
    for (const make of [contract, standard]) {
      const { state, ...code } = await make()
      for (const wrongState of ['another', state.slice(1)]) {
        expect(outcomeOf(await rp.exchange(code, { state: wrongState }))).toBe('400 invalid_grant')
      }
      tokensOf(await rp.exchange(code, { state }))
      const { state: _, ...without } = await make()
      tokensOf(await rp.exchange(without, { state: '' }))
    }
    const stateless = await rp.code(browser, user, { state: undefined })
    expect(outcomeOf(await rp.exchange(stateless, { state: 'x' }))).toBe('400 invalid_grant')
    const { state, ...thrice } = await standard()
    for (let tries = 0; tries < 3; tries++) expect((await rp.exchange(thrice, { state: 'x' })).status).toBe(400)
    expect(outcomeOf(await rp.exchange(thrice, { state }))).toBe('400 invalid_grant')
  })

  it('leaves a refresh token valid after a refused scope', async () => {
    const own = await rp.tokens(browser, user, { scope: 'openid profile offline_access' })
    expect(outcomeOf(await rp.refresh(own.refresh_token, { scope: 'openid USER_INFO phone' }))).toBe(
      '400 invalid_scope',
    )
    expect(tokensOf(await rp.refresh(own.refresh_token, { scope: 'openid' })).scope).toBe('openid')
  })

  it('ignores unknown scopes when refreshing, as at authorization, since libraries repeat the scope of that', async () => {
    const scope = 'openid profile email offline_access'
    const own = await rp.tokens(browser, user, { scope })
    expect(own.scope).toBe('openid profile offline_access')
    const next = tokensOf(await rp.refresh(own.refresh_token, { scope }))
    expect(next.scope).toBe(own.scope)
    expect(outcomeOf(await rp.refresh(next.refresh_token, { scope: 'email' }))).toBe('400 invalid_scope')
    tokensOf(await rp.refresh(next.refresh_token))
  })

  it.each(['phone', 'PHONE_NUMBER phone'])(
    'refuses the scope %s alone once the app has lost it, without rotating the token',
    async (scope) => {
      const app = await StandardApp.make(client)
      const own = await app.tokens(browser, user, { scope: `${EVERYTHING} PHONE_NUMBER` })
      await client.update(app.app, { scopes: ['USER_INFO'] })
      expect(outcomeOf(await app.refresh(own.refresh_token, { scope }))).toBe('400 invalid_scope')
      expect(tokensOf(await app.refresh(own.refresh_token, { scope: `openid ${scope}` })).scope).toBe('openid')
    },
  )

  it('gives one answer for everything that is wrong with a code', async () => {
    const texts = new Set<string>()
    const refused = async (answer: Promise<Answer>) => {
      const got = await answer
      expect(outcomeOf(got)).toBe('400 invalid_grant')
      texts.add(got.text)
    }
    const fresh = () => rp.code(browser, user)
    await refused(rp.exchange({ code: 'nonsense', verifier: 'x'.repeat(43) }))
    const foreign = await fresh()
    await refused(other.exchange(foreign))
    await refused(rp.exchange({ ...(await fresh()), verifier: 'x'.repeat(43) }))
    await refused(rp.exchange(await fresh(), { code_verifier: undefined }))
    await refused(rp.exchange(await fresh(), { redirect_uri: 'https://app.example.com/other' }))
    const used = await fresh()
    tokensOf(await rp.exchange(used))
    await refused(rp.exchange(used))
    const old = await fresh()
    world.clock.advance(301)
    await refused(rp.exchange(old))
    await refused(other.refresh(tokens.refresh_token))
    await refused(rp.refresh('nonsense'))
    expect(texts.size).toBe(1)
  })

  it('ends the tokens of a grant whose code is sent again later', async () => {
    const code = await rp.code(browser, user)
    const { access_token } = tokensOf(await rp.exchange(code))
    world.clock.advance(61)
    expect(outcomeOf(await rp.exchange(code))).toBe('400 invalid_grant')
    expect((await rp.userInfo(access_token)).status).toBe(401)
  })

  it('repeats its answer to a used refresh token for a minute, and then ends the grant', async () => {
    const first = await rp.tokens(browser, user)
    const second = tokensOf(await rp.refresh(first.refresh_token))
    expect(tokensOf(await rp.refresh(first.refresh_token))).toMatchObject({
      access_token: second.access_token,
      refresh_token: second.refresh_token,
    })
    world.clock.advance(61)
    expect(outcomeOf(await rp.refresh(first.refresh_token))).toBe('400 invalid_grant')
    expect(outcomeOf(await rp.refresh(second.refresh_token))).toBe('400 invalid_grant')
  })

  it('requires a verifier of a public client, for a code of the contract’s dialect too', async () => {
    const app = { ...publicApp.app, redirect_uri: CALLBACK }
    const { code } = await client.getCode(await client.signedIn(user, app), app)
    const plain = { client_id: app.app_key, client_secret: undefined }
    expect(outcomeOf(await publicApp.exchange({ code, verifier: '' }, plain))).toBe('400 invalid_request')
    expect(outcomeOf(await publicApp.exchange({ code, verifier: 'x'.repeat(43) }, plain))).toBe('400 invalid_grant')
    const own = await publicApp.code(browser, user)
    expect(tokensOf(await publicApp.exchange(own, plain)).id_token).toMatch(/^ey/)
  })
})

describe('the userinfo endpoint', () => {
  const userInfo = (headers: Record<string, string>, query = '') =>
    client.call('GET', `/oauth2/userinfo${query}`, headers)

  it.each<[string, () => Promise<Answer>, string]>([
    ['no token', () => userInfo({}), '401 invalid_request Bearer'],
    ['an empty token', () => userInfo({ authorization: 'Bearer ' }), '401 invalid_request Bearer'],
    ['another scheme', () => userInfo({ authorization: 'Basic eDp5' }), '401 invalid_request Bearer'],
    ['a token in the query', () => userInfo({}, `?access_token=${tokens.access_token}`), '401 invalid_request Bearer'],
    ['nonsense', () => userInfo({ authorization: 'Bearer nonsense' }), '401 invalid_token Bearer'],
    [
      'an over-long token',
      () => userInfo({ authorization: `Bearer ${'x'.repeat(9_000)}` }),
      '401 invalid_token Bearer',
    ],
    [
      'a refresh token',
      () => userInfo({ authorization: `Bearer ${tokens.refresh_token}` }),
      '401 invalid_token Bearer',
    ],
    ['an id_token', () => userInfo({ authorization: `Bearer ${tokens.id_token}` }), '401 invalid_token Bearer'],
    [
      'a token twice',
      () =>
        rp.post('userinfo', { access_token: tokens.access_token }, { authorization: `Bearer ${tokens.access_token}` }),
      '400 invalid_request Bearer',
    ],
  ])('refuses %s', async (_name, send, expected) => {
    expect(outcomeOf(await send())).toBe(expected)
  })

  it('challenges a request without a token with the scheme alone', async () => {
    expect(header(await userInfo({}), 'www-authenticate')).toBe('Bearer realm="gatehouse"')
  })

  it.each(['token', 'revoke', 'introspect', 'par', 'userinfo'])(
    'and others name the Content-Type that they accept: %s',
    async (path) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await client.call('POST', `/oauth2/${path}`, headers, '{"grant_type":"authorization_code"}')
      const said = 'Content-Type must be application/x-www-form-urlencoded'
      expect(bodyOf(answer, 400)).toEqual({ error: 'invalid_request', error_description: said })
    },
  )

  it.each(['token', 'revoke', 'introspect', 'par'])('and others refuse another method: %s', async (path) => {
    const answer = await client.call('GET', `/oauth2/${path}`)
    expect(bodyOf(answer, 405)).toEqual({ error: 'invalid_request', error_description: 'Method not allowed' })
    expect(header(answer, 'allow')).toBe('POST')
  })

  it('accepts the token in the header of a POST without a body, whatever its Content-Type', async () => {
    const authorization = `Bearer ${tokens.access_token}`
    for (const type of ['application/json', 'text/plain', 'json', '']) {
      const answer = await client.call('POST', '/oauth2/userinfo', { authorization, 'content-type': type })
      expect(bodyOf(answer).sub).toBe(`7-${user.user_id}`)
    }
  })

  it('accepts the token in a form', async () => {
    expect(bodyOf(await rp.post('userinfo', { access_token: tokens.access_token })).sub).toBe(`7-${user.user_id}`)
  })

  it('refuses a token with insufficient scope', async () => {
    const { access_token } = await rp.tokens(browser, user, { scope: 'offline_access' })
    expect(outcomeOf(await rp.userInfo(access_token))).toBe('403 insufficient_scope Bearer')
  })

  it('refuses a token that has expired, or whose user is blocked', async () => {
    const blocked = await client.makeUser()
    const { access_token } = await rp.tokens(client.newBrowser(), blocked)
    await client.block(blocked)
    expect(outcomeOf(await rp.userInfo(access_token))).toBe('401 invalid_token Bearer')
    await client.unblock(blocked)
    expect((await rp.userInfo(access_token)).status).toBe(200)
    world.clock.advance(604_801)
    expect(outcomeOf(await rp.userInfo(access_token))).toBe('401 invalid_token Bearer')
  })
})

describe('introspection and revocation', () => {
  it('require a token', async () => {
    for (const path of ['introspect', 'revoke']) {
      expect(outcomeOf(await rp.post(path, rp.credentials))).toBe('400 invalid_request')
      expect(outcomeOf(await rp.post(path, { ...rp.credentials, token: '' }))).toBe('400 invalid_request')
    }
  })

  it('are open to public clients for revocation only', async () => {
    const plain = { client_id: publicApp.app.app_key, token: 'x' }
    expect((await publicApp.post('revoke', plain)).status).toBe(200)
    expect(outcomeOf(await publicApp.post('introspect', plain))).toBe('401 invalid_client')
  })

  it.each(['nonsense', `ghat_${'A'.repeat(48)}`, `ghrt_${'A'.repeat(48)}`, 'x'.repeat(20_000)])(
    'accept an unknown token: %.30s',
    async (token) => {
      expect(bodyOf(await rp.post('introspect', { ...rp.credentials, token }))).toEqual({ active: false })
      expect(bodyOf(await rp.post('revoke', { ...rp.credentials, token }))).toEqual({})
    },
  )
})

describe('every path', () => {
  it.each([
    ['GET', '/oauth2/token', 405, 'POST'],
    ['PUT', '/oauth2/userinfo', 405, 'GET, POST'],
    ['GET', '/oauth2/introspect', 405, 'POST'],
    ['DELETE', '/oauth2/authorize', 405, 'GET, POST'],
    ['GET', '/oauth2/nothing', 404, ''],
    ['POST', '/oauth2/jwks', 405, 'GET, HEAD'],
  ])('answers %s %s with %i', async (method, path, status, allow) => {
    const answer = await client.call(method, path)
    expect([answer.status, header(answer, 'allow')]).toEqual([status, allow])
    expect(JSON.parse(answer.text).error).toBe('invalid_request')
  })

  it('keeps codes, tokens and secrets out of the log', () => {
    const secrets = [
      tokens.access_token,
      tokens.refresh_token,
      tokens.id_token,
      rp.app.app_secret,
      other.app.app_secret,
    ]
    for (const secret of secrets) expect(world.logged()).not.toContain(secret)
    expect(world.logged()).not.toMatch(/gh(ac|at|rt)_[\w-]{20}/)
  })
})

describe('an id_token_hint', () => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = () => JSON.parse(Buffer.from(tokens.id_token.split('.')[1] ?? '', 'base64url').toString())
  const unsigned = () => `${part({ alg: 'none' })}.${part(claims())}.`
  const byHmac = async () => {
    const { keys } = JSON.parse((await client.call('GET', '/oauth2/jwks')).text)
    const head = `${part({ alg: 'HS256', kid: keys[0].kid })}.${part(claims())}`
    return `${head}.${createHmac('sha256', keys[0].n).update(head).digest('base64url')}`
  }
  const forged = () => tokens.id_token.replace(/\.[^.]+\./, `.${part({ ...claims(), sub: '1-1' })}.`)
  const otherKid = () => tokens.id_token.replace(/^[^.]+/, part({ alg: 'RS256', kid: 'unknown' }))

  it.each<[string, () => string | Promise<string>]>([
    ['alg none', unsigned],
    ['HS256 with our public key', byHmac],
    ['other claims', forged],
    ['an unknown kid', otherKid],
    ['nonsense', () => 'a.b.c'],
    ['an over-long one', () => 'x'.repeat(4_200)],
  ])('is refused with %s', async (_name, make) => {
    const id_token_hint = await make()
    const asked = await client.call(
      'GET',
      rp.authorizeUrl({ id_token_hint, code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' }),
    )
    expect(new URL(header(asked, 'location')).searchParams.get('error')).toBe('invalid_request')
    const out = await browser.open(`/oauth2/logout?${queryOf({ id_token_hint })}`)
    expect([out.status, header(out, 'location')]).toEqual([400, ''])
  })

  it('of ours is accepted even after it has expired', async () => {
    world.clock.advance(7_200)
    const asked = await client.call(
      'GET',
      rp.authorizeUrl({
        id_token_hint: tokens.id_token,
        prompt: 'none',
        code_challenge: 'x'.repeat(43),
        code_challenge_method: 'S256',
      }),
    )
    expect(new URL(header(asked, 'location')).searchParams.get('error')).toBe('login_required')
  })
})
