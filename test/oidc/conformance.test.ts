import { decodeProtectedHeader } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Browser } from '../acceptance/browser.ts'
import { Client, type User } from '../acceptance/client.ts'
import { type Answer, header, injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { basicOf, bodyOf, CALLBACK, EVERYTHING, StandardApp, type Tokens, tokensOf } from './app.ts'
import { visit } from './person.ts'

/** Requirements of the specifications on successful responses; .github/CONFORMANCE.md cites these tests. */

let world: World
let client: Client
let rp: StandardApp
let user: User
let browser: Browser
let tokens: Tokens
beforeAll(async () => {
  world = await openWorld({ AUTHORIZE_PER_MINUTE: '1000000' })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  rp = await StandardApp.make(client, { require_pkce: false, redirect_uris: [CALLBACK, `${CALLBACK}?a=b%20c`] })
  user = await client.makeUser()
  browser = client.newBrowser()
  tokens = await rp.tokens(browser, user, { nonce: 'a nonce' })
})
afterAll(() => world?.close())

const issuer = () => world.deps.config.PUBLIC_URL
const now = () => Math.floor(world.clock.now().getTime() / 1000)
const claimsOf = ({ id_token }: { id_token: string }) => JSON.parse(atob(id_token.split('.')[1] ?? ''))
const cacheHeaders = (answer: Answer) => ['content-type', 'cache-control', 'pragma'].map((name) => header(answer, name))
const NOT_CACHED = ['application/json; charset=utf-8', 'no-store', 'no-cache']

describe('responses with secrets', () => {
  it('are JSON that must not be cached', async () => {
    const code = await rp.code(browser, user)
    const answers = [
      await rp.exchange(code),
      await rp.exchange(code),
      await rp.refresh(tokens.refresh_token, { scope: 'nothing' }),
      await rp.userInfo(tokens.access_token),
      await rp.post('introspect', { ...rp.credentials, token: tokens.access_token }),
      await rp.post('par', { ...rp.credentials, ...rp.request() }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 400, 200, 200, 201])
    for (const answer of answers) expect(cacheHeaders(answer)).toEqual(NOT_CACHED)
  })
})

describe('tokens for a code', () => {
  it('come with their type, lifetime and scope', async () => {
    const exchanged = bodyOf(await rp.exchange(await rp.code(browser, user)))
    expect(exchanged).toEqual({
      access_token: expect.stringMatching(/^ghat_[\w-]+$/),
      token_type: 'Bearer',
      expires_in: 604_800,
      scope: EVERYTHING,
      refresh_token: expect.stringMatching(/^ghrt_[\w-]+$/),
      id_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    })
  })

  it('are issued with Basic, with form credentials, and without PKCE if the app does not require it', async () => {
    const authorization = basicOf(rp.app.app_key, rp.app.app_secret)
    const none = { code_challenge: undefined, code_challenge_method: undefined }
    const { code } = await rp.code(browser, user, none)
    const parameters = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK }
    expect((await rp.post('token', parameters, { authorization })).status).toBe(200)
    const second = await rp.code(browser, user, none)
    expect((await rp.exchange({ ...second, verifier: '' })).status).toBe(200)
  })

  it('are not issued after five minutes', async () => {
    const [early, late] = [await rp.code(browser, user), await rp.code(browser, user)]
    world.clock.advance(299)
    expect((await rp.exchange(early)).status).toBe(200)
    world.clock.advance(2)
    expect((await rp.exchange(late)).status).toBe(400)
  })

  it('are issued for verifiers of 43 to 128 characters', async () => {
    for (const verifier of ['a'.repeat(43), '~._-'.repeat(32)]) {
      const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
      const code_challenge = Buffer.from(hash).toString('base64url')
      const { code } = await rp.code(browser, user, { code_challenge, code_challenge_method: 'S256' })
      expect((await rp.exchange({ code, verifier })).status).toBe(200)
    }
  })
})

describe('an id_token', () => {
  it('has subject, audience, issuer and expiry', async () => {
    const fresh = await rp.tokens(browser, user, { nonce: 'of this request', prompt: 'login' })
    expect(claimsOf(fresh)).toEqual({
      iss: issuer(),
      sub: `7-${user.user_id}`,
      aud: rp.app.app_key,
      iat: now(),
      exp: now() + 3_600,
      auth_time: now(),
      nonce: 'of this request',
      at_hash: expect.stringMatching(/^[\w-]{22}$/),
      sid: expect.any(String),
    })
    expect(claimsOf(fresh).sub).toMatch(/^[\x20-\x7e]{1,255}$/)
  })

  it('has an ASCII sub for any user_id, unique per person and the same at every endpoint', async () => {
    const app = await StandardApp.make(client, { require_pkce: false })
    const subs = new Set<string>()
    for (const user_id of ['李雷', '韩梅梅', 'é'.repeat(128)]) {
      const person = await client.makeUser({ user_id })
      const own = client.newBrowser()
      const issued = await app.tokens(own, person)
      const { sub } = claimsOf(issued)
      expect(sub).toMatch(/^7\.[\w-]{43}$/)
      subs.add(sub)
      const bodies = [
        await app.userInfo(issued.access_token),
        await app.post('introspect', { ...app.credentials, token: issued.access_token }),
        await app.refresh(issued.refresh_token),
      ].map((answer) => bodyOf(answer))
      expect([bodies[0]?.sub, bodies[1]?.sub, claimsOf(bodies[2] as never).sub]).toEqual([sub, sub, sub])
      const hint = await app.code(own, person, { id_token_hint: issued.id_token, prompt: 'none' })
      expect(hint.code).toBeDefined()
    }
    expect(subs.size).toBe(3)
  })

  it('has no nonce if none was sent', async () => {
    expect(claimsOf(await rp.tokens(browser, user))).not.toHaveProperty('nonce')
  })

  it('is issued only for the scope openid', async () => {
    expect(await rp.tokens(browser, user, { scope: 'profile' })).not.toHaveProperty('id_token')
  })

  it.each(['RS256', 'ES256'])('is signed by %s with a published key', async (id_token_alg) => {
    const app = await StandardApp.make(client, { id_token_alg })
    const { alg, kid } = decodeProtectedHeader((await app.tokens(browser, user)).id_token)
    expect(alg).toBe(id_token_alg)
    const { keys } = JSON.parse((await client.call('GET', '/oauth2/jwks')).text)
    const found = keys.filter((key: { kid: string }) => key.kid === kid)
    expect(found).toEqual([expect.objectContaining({ alg, use: 'sig' })])
    expect(new Set(keys.map((key: { kid: string }) => key.kid)).size).toBe(keys.length)
  })

  it('from a refresh has the same person, app and sign-in, and a new issue time', async () => {
    const first = await rp.tokens(browser, user, { nonce: 'a nonce' })
    world.clock.advance(60)
    const second = tokensOf(await rp.refresh(first.refresh_token))
    const { iss, sub, aud, auth_time, sid } = claimsOf(first)
    expect(claimsOf(second)).toMatchObject({ iss, sub, aud, auth_time, sid, iat: now() })
    expect(claimsOf(second)).not.toHaveProperty('nonce')
  })
})

describe('userinfo', () => {
  it('accepts GET and POST, with the token in the header or the form', async () => {
    const authorization = `Bearer ${tokens.access_token}`
    const answers = [
      await rp.userInfo(tokens.access_token),
      await client.call('POST', '/oauth2/userinfo', { authorization }),
      await rp.post('userinfo', '', { authorization }),
      await rp.post('userinfo', { access_token: tokens.access_token }),
      await client.call('GET', '/oauth2/userinfo', { authorization: authorization.replace('Bearer', 'bearer') }),
    ]
    for (const answer of answers) expect(bodyOf(answer).sub).toBe(claimsOf(tokens).sub)
  })
})

describe('redirect URIs', () => {
  it('keep their own query', async () => {
    const { location } = await visit(browser, rp.authorizeUrl({ redirect_uri: `${CALLBACK}?a=b%20c` }))
    expect(location.search).toMatch(/^\?a=b%20c&code=ghac_/)
    expect(location.hash).toBe('')
  })
})

describe('redirect URIs with a query', () => {
  const redirect_uri = `${CALLBACK}?a=b%20c`

  it('are compared including the query', async () => {
    const { code, verifier } = await rp.code(browser, user, { redirect_uri })
    for (const other of [CALLBACK, `${CALLBACK}?a=b+c`, `${CALLBACK}?a=b%20c&d=e`]) {
      expect((await browser.open(rp.authorizeUrl({ redirect_uri: other }))).status).toBe(other === CALLBACK ? 303 : 400)
    }
    expect(bodyOf(await rp.exchange({ code, verifier }), 400).error).toBe('invalid_grant')
    expect((await rp.exchange({ code, verifier }, { redirect_uri })).status).toBe(200)
  })

  it('keep the query in errors, in forms and after a push', async () => {
    const refused = await browser.open(rp.authorizeUrl({ redirect_uri, scope: 'x' }))
    expect(header(refused, 'location')).toMatch(/callback\?a=b%20c&error=invalid_scope&/)
    const form = await browser.open(rp.authorizeUrl({ redirect_uri, response_mode: 'form_post' }))
    expect(form.text).toContain(`action="${redirect_uri}"`)
    const pushed = bodyOf(await rp.post('par', { ...rp.credentials, ...rp.request({ redirect_uri }) }), 201)
    const path = `/oauth2/authorize?client_id=${rp.app.app_key}&request_uri=${pushed.request_uri}`
    expect((await visit(browser, path)).location.search).toMatch(/^\?a=b%20c&code=/)
  })
})

describe('discovery', () => {
  it('has all required metadata, with non-empty lists and endpoints at the issuer', async () => {
    const answer = await client.call('GET', '/.well-known/openid-configuration')
    expect([answer.status, header(answer, 'content-type')]).toEqual([200, 'application/json; charset=utf-8'])
    const found = bodyOf(answer)
    for (const name of ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri']) {
      expect(found[name]).toMatch(new RegExp(`^${issuer()}/[^?#]+$`))
    }
    expect(found).toMatchObject({
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: expect.arrayContaining(['RS256']),
      scopes_supported: expect.arrayContaining(['openid']),
    })
    for (const value of Object.values(found)) expect(value).not.toEqual([])
    expect(issuer()).not.toMatch(/[?#]|\/$/)
  })

  it('equals the metadata of RFC 8414', async () => {
    const read = async (name: string) => bodyOf(await client.call('GET', `/.well-known/${name}`))
    expect(await read('openid-configuration')).toEqual(await read('oauth-authorization-server'))
  })
})

describe('client authentication', () => {
  it('is refused beyond the limit of failures, even with the right secret', async () => {
    const app = await StandardApp.make(client)
    const introspect = (client_secret: string) =>
      app.post('introspect', { ...app.credentials, client_secret, token: 'x' })
    for (let times = 0; times < world.deps.config.CLIENT_FAILURES; times++) {
      expect((await introspect('wrong')).status).toBe(401)
    }
    for (const secret of ['wrong', app.app.app_secret]) {
      const answer = await introspect(secret)
      expect([bodyOf(answer, 429).error, Number(header(answer, 'retry-after')) > 0]).toEqual([
        'temporarily_unavailable',
        true,
      ])
    }
  })
})

describe('a pushed request', () => {
  it('gets 201 with an unguessable request_uri and its lifetime in seconds', async () => {
    const push = async () => bodyOf(await rp.post('par', { ...rp.credentials, ...rp.request() }), 201)
    const [one, other] = [await push(), await push()]
    expect(one).toEqual({
      request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:[\w-]{43}$/),
      expires_in: 60,
    })
    expect(one.request_uri).not.toBe(other.request_uri)
  })
})

describe('introspection', () => {
  it('describes a live token as the RFC demands, and nothing of an expired one', async () => {
    const own = await rp.tokens(browser, user)
    const introspect = async (token: string) => bodyOf(await rp.post('introspect', { ...rp.credentials, token }))
    expect(await introspect(own.access_token)).toEqual({
      active: true,
      scope: EVERYTHING,
      client_id: rp.app.app_key,
      token_type: 'Bearer',
      exp: now() + 604_800,
      sub: `7-${user.user_id}`,
      iss: issuer(),
    })
    world.clock.advance(604_800)
    expect(await introspect(own.access_token)).toEqual({ active: false })
  })

  it('reports tokens of a blocked person as inactive', async () => {
    const blocked = await client.makeUser()
    const { access_token, refresh_token } = await rp.tokens(client.newBrowser(), blocked)
    await client.block(blocked)
    for (const token of [access_token, refresh_token]) {
      expect(bodyOf(await rp.post('introspect', { ...rp.credentials, token }))).toEqual({ active: false })
    }
  })
})
