import { exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type App,
  Client,
  dataOf,
  envelopeOf,
  newState,
  pkcePair,
  tokenSetOf,
  type User,
} from '../acceptance/client.ts'
import { injectWire, queryOf } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { bodyOf, CALLBACK, StandardApp, tokensOf } from './app.ts'

/** Both dialects share the grants: codes and tokens of one work in the other, and end in both. */

let world: World
let client: Client
let rp: StandardApp
let user: User
beforeAll(async () => {
  world = await openWorld({ AUTHORIZE_PER_MINUTE: '1000000' })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  rp = await StandardApp.make(client, { require_pkce: false })
  user = await client.makeUser({ gender: '1', phone_number: '+8613900000000' })
})
afterAll(() => world?.close())

const standardTokens = () => rp.tokens(client.newBrowser(), user)
const contractTokens = async () => {
  const app = { ...rp.app, redirect_uri: CALLBACK }
  return client.getTokens(await client.signedIn(user, app), app)
}
const errorIn = (answer: { text: string }) => JSON.parse(answer.text).error

describe('a token of the standard dialect', () => {
  it('works at A4 and A5', async () => {
    const { access_token } = await standardTokens()
    expect(dataOf(await client.phone(access_token))).toEqual({ phone_number: '+8613900000000' })
    expect(dataOf(await client.userInfo(access_token))).toMatchObject({ uinfo: { user_id: user.user_id, cid: 7 } })
  })

  it('works for its scopes only', async () => {
    const { access_token } = await rp.tokens(client.newBrowser(), user, { scope: 'openid profile' })
    dataOf(await client.userInfo(access_token))
    expect(envelopeOf(await client.phone(access_token)).rescode).toBe(20004)
  })

  it('can be refreshed at A3, which reports the contract scopes, and still works at userinfo', async () => {
    const { refresh_token } = await standardTokens()
    const refreshed = tokenSetOf(await client.refresh(rp.app, refresh_token))
    expect(refreshed).toMatchObject({ scope: 'USER_INFO PHONE_NUMBER', token_type: 'bearer', refresh_token })
    expect(bodyOf(await rp.userInfo(refreshed.access_token))).toMatchObject({
      gender: 'male',
      sub: `7-${user.user_id}`,
    })
    expect(bodyOf(await rp.post('introspect', { ...rp.credentials, token: refreshed.access_token }))).toMatchObject({
      active: true,
      scope: 'openid profile phone offline_access',
    })
  })

  it('ends at A5 when it is revoked, while its refresh token stays valid', async () => {
    const { access_token, refresh_token } = await standardTokens()
    expect((await rp.post('revoke', { ...rp.credentials, token: access_token })).status).toBe(200)
    expect(envelopeOf(await client.userInfo(access_token)).rescode).toBe(20009)
    tokenSetOf(await client.refresh(rp.app, refresh_token))
  })

  it('ends in both dialects when its refresh token is revoked', async () => {
    const { access_token, refresh_token } = await standardTokens()
    await rp.post('revoke', { ...rp.credentials, token: refresh_token, token_type_hint: 'access_token' })
    expect(envelopeOf(await client.userInfo(access_token)).rescode).toBe(20009)
    expect(envelopeOf(await client.refresh(rp.app, refresh_token)).rescode).toBe(20006)
    expect((await rp.userInfo(access_token)).status).toBe(401)
    expect(errorIn(await rp.refresh(refresh_token))).toBe('invalid_grant')
  })

  it('ends when an operator withdraws the grant, and consent is required again', async () => {
    const browser = client.newBrowser()
    const other = await client.makeUser()
    const { access_token } = await rp.tokens(browser, other)
    await client.withdraw(other)
    expect((await rp.userInfo(access_token)).status).toBe(401)
    const page = await browser.open(rp.authorizeUrl())
    expect([page.status, page.text.includes('name="decision"')]).toEqual([200, true])
  })
})

describe('a refresh token that the standard dialect has rotated', () => {
  it('gets the same answer again at A3 within the minute, and afterwards ends the grant, whatever the app’s policy', async () => {
    const { refresh_token } = await standardTokens()
    const first = tokensOf(await rp.refresh(refresh_token))
    const again = tokenSetOf(await client.refresh(rp.app, refresh_token))
    expect([again.access_token, again.refresh_token]).toEqual([first.access_token, first.refresh_token])
    world.clock.advance(60)
    expect(envelopeOf(await client.refresh(rp.app, refresh_token)).rescode).toBe(20006)
    expect((await rp.userInfo(first.access_token)).status).toBe(401)
    expect(errorIn(await rp.refresh(first.refresh_token))).toBe('invalid_grant')
  })

  it('leads to its successor even if the access token of the answer was revoked', async () => {
    const { refresh_token } = await standardTokens()
    const first = tokensOf(await rp.refresh(refresh_token))
    await rp.post('revoke', { ...rp.credentials, token: first.access_token })
    const again = tokensOf(await rp.refresh(refresh_token))
    expect(again.refresh_token).toBe(first.refresh_token)
    expect((await rp.userInfo(again.access_token)).status).toBe(200)
    expect((await rp.userInfo(first.access_token)).status).toBe(401)
    tokensOf(await rp.refresh(first.refresh_token))
    await rp.post('revoke', { ...rp.credentials, token: again.access_token })
    expect(errorIn(await rp.refresh(refresh_token)), 'the successor has one of its own').toBe('invalid_grant')
  })
})

describe('a token of the contract’s dialect', () => {
  it('works at userinfo', async () => {
    const { access_token } = await contractTokens()
    const creation = 'select floor(extract(epoch from created_at))::int as made_at from user_profile where user_id = $1'
    const { rows } = await world.pool.query(creation, [user.user_id])
    expect(bodyOf(await rp.userInfo(access_token))).toEqual({
      sub: `7-${user.user_id}`,
      name: 'Test user',
      preferred_username: 'Test user',
      gender: 'male',
      picture: 'https://img.example.com/avatar.png',
      updated_at: rows[0].made_at,
      phone_number: '+8613900000000',
      phone_number_verified: false,
    })
  })

  it('can be refreshed at the token endpoint, and the new one works at A5', async () => {
    const { refresh_token } = await contractTokens()
    const refreshed = tokensOf(await rp.refresh(refresh_token))
    expect(refreshed).toMatchObject({ scope: 'USER_INFO PHONE_NUMBER', token_type: 'Bearer' })
    expect(refreshed.id_token).toBeUndefined()
    dataOf(await client.userInfo(refreshed.access_token))
  })

  it('ends at A5 and A3 when its refresh token is revoked at the revocation endpoint', async () => {
    const { access_token, refresh_token } = await contractTokens()
    expect(bodyOf(await rp.post('revoke', { ...rp.credentials, token: refresh_token }))).toEqual({})
    expect(envelopeOf(await client.userInfo(access_token)).rescode).toBe(20009)
    expect(envelopeOf(await client.refresh(rp.app, refresh_token)).rescode).toBe(20006)
    expect((await rp.userInfo(access_token)).status).toBe(401)
  })

  it('ends alone when only it is revoked', async () => {
    const { access_token, refresh_token } = await contractTokens()
    expect(bodyOf(await rp.post('revoke', { ...rp.credentials, token: access_token }))).toEqual({})
    expect(envelopeOf(await client.phone(access_token)).rescode).toBe(20009)
    tokenSetOf(await client.refresh(rp.app, refresh_token))
  })

  it('can be introspected and revoked by its own app only', async () => {
    const { access_token } = await contractTokens()
    const other = await StandardApp.make(client)
    expect(bodyOf(await rp.post('introspect', { ...rp.credentials, token: access_token })).active).toBe(true)
    expect(bodyOf(await other.post('introspect', { ...other.credentials, token: access_token }))).toEqual({
      active: false,
    })
    expect((await other.post('revoke', { ...other.credentials, token: access_token })).status).toBe(200)
    dataOf(await client.userInfo(access_token))
  })
})

describe('a code', () => {
  it('of the standard dialect works at A2 with its state', async () => {
    const state = newState()
    const { verifier, challenge } = pkcePair()
    const { code } = await rp.code(client.newBrowser(), user, {
      state,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    })
    const app = { ...rp.app, redirect_uri: CALLBACK }
    const wrong = await client.exchange(app, { code, state: 'another' }, { code_verifier: verifier })
    expect(envelopeOf(wrong).rescode).toBe(20007)
    const tokens = tokenSetOf(await client.exchange(app, { code, state }, { code_verifier: verifier }))
    expect(tokens.scope).toBe('USER_INFO PHONE_NUMBER')
    expect(tokens.refresh_token).toMatch(/^ghrt_/)
  })

  it('of the contract works at the token endpoint, without a refresh token', async () => {
    const app = { ...rp.app, redirect_uri: CALLBACK }
    const { code } = await client.getCode(await client.signedIn(user, app), app)
    const tokens = tokensOf(await rp.exchange({ code, verifier: '' }))
    expect(tokens).toEqual({
      access_token: expect.stringMatching(/^ghat_/),
      token_type: 'Bearer',
      expires_in: 604_800,
      scope: 'USER_INFO PHONE_NUMBER',
    })
  })

  it('is spent once across both dialects', async () => {
    const app = { ...rp.app, redirect_uri: CALLBACK }
    const state = newState()
    const { code, verifier } = await rp.code(client.newBrowser(), user, { state })
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, nth) =>
        nth % 2 === 0
          ? rp.exchange({ code, verifier })
          : client.exchange(app, { code, state }, { code_verifier: verifier }),
      ),
    )
    const winners = answers.filter(({ text }) => text.includes('"access_token"'))
    expect(winners).toHaveLength(1)
    for (const { text } of answers) expect(text).toMatch(/"access_token"|"error":"invalid_grant"|"rescode":20013/)
  })

  it('without offline_access creates no refresh token', async () => {
    const count = async () => (await world.pool.query('select count(*)::int as n from refresh_token')).rows[0].n
    const before = await count()
    const tokens = await rp.tokens(client.newBrowser(), user, { scope: 'openid' })
    expect(tokens.refresh_token).toBeUndefined()
    expect(await count()).toBe(before)
  })
})

describe('a scope that the app has lost', () => {
  it('is lost in both dialects', async () => {
    const app = await StandardApp.make(client)
    const { access_token, refresh_token } = await app.tokens(client.newBrowser(), user)
    await client.update(app.app, { scopes: ['PHONE_NUMBER'] })
    expect(bodyOf(await app.userInfo(access_token))).not.toHaveProperty('name')
    expect(tokensOf(await app.refresh(refresh_token)).scope).toBe('openid phone offline_access')
  })
})

describe('tokens whose app has lost all of their scopes', () => {
  it('are described as live without a scope, and work again when the app has one of them', async () => {
    const app = await StandardApp.make(client, { require_pkce: false })
    const known = { ...app.app, redirect_uri: CALLBACK }
    const { access_token } = await app.tokens(client.newBrowser(), user, { scope: 'phone' })
    const contract = await client.getTokens(await client.signedIn(user, known), known, { scope: 'PHONE_NUMBER' })
    const described = async (token: string) => bodyOf(await app.post('introspect', { ...app.credentials, token }))
    await client.update(app.app, { scopes: ['USER_INFO'] })
    for (const token of [access_token, contract.access_token, contract.refresh_token]) {
      const live = await described(token)
      expect(live.active).toBe(true)
      // RFC 6749 §3.3: a scope has at least one name.
      expect(live).not.toHaveProperty('scope')
    }
    // Neither is the token invalid elsewhere: it lacks scope.
    expect(errorIn(await app.userInfo(access_token))).toBe('insufficient_scope')
    expect(envelopeOf(await client.phone(contract.access_token)).rescode).toBe(20011)
    expect(envelopeOf(await client.refresh(known, contract.refresh_token)).rescode).toBe(20004)
    await client.update(app.app, { scopes: ['PHONE_NUMBER'] })
    expect((await described(access_token)).scope).toBe('phone')
  })
})

describe('an app without client_secret_basic and client_secret_post', () => {
  const keys = generateKeyPair('ES256', { extractable: true })
  const jwksOf = async () => ({ keys: [{ ...(await exportJWK((await keys).publicKey)), kid: 'one', alg: 'ES256' }] })
  const SECRETLESS = [['private_key_jwt'], ['none']]

  /** The app with a secret that it had before. */
  const withOldSecret = (app: App, app_secret: string): App => ({ ...app, app_secret, redirect_uri: CALLBACK })

  it.each(SECRETLESS)('%s: never gets an app_secret', async (method) => {
    const made = await client.admin('POST', '/apps', {
      ...{ name: 'No secret', redirect_uris: [CALLBACK], scopes: ['USER_INFO'], token_auth_methods: [method] },
    })
    expect(made.app_secret).toBeNull()
    expect((await client.admin('GET', `/apps/${made.app_key}`)).secrets).toEqual([])
    await expect(client.admin('POST', `/apps/${made.app_key}/rotate-secret`)).rejects.toThrow(
      /token_auth_methods has neither client_secret_basic nor client_secret_post/,
    )
    expect((await client.admin('GET', `/apps/${made.app_key}`)).secrets).toEqual([])
  })

  it.each(SECRETLESS)('%s: cannot use its codes and tokens with its former secret', async (method) => {
    const { app } = await StandardApp.make(client, { jwks: await jwksOf(), require_pkce: false })
    const known = withOldSecret(app, app.app_secret)
    const browser = await client.signedIn(user, known)
    const tokens = await client.getTokens(browser, known)
    const consented = await client.getCode(browser, known)
    await client.update(app, { token_auth_methods: [method] })
    const basic = `Basic ${btoa(`${known.app_key}:${known.app_secret}`)}`
    const { app_key, app_secret, ...grant } = client.exchangeParameters(known, consented)
    const ways = [
      await client.exchange(known, consented),
      await client.refresh(known, tokens.refresh_token),
      await client.call('POST', `/oauth/v2/api/token?${queryOf(grant)}`, { authorization: basic }),
    ]
    expect(ways.map((answer) => envelopeOf(answer).rescode)).toEqual([20001, 20001, 20001])
    expect((await client.admin('GET', `/apps/${app_key}`)).secrets).toEqual([])
    // After switching back it needs a new secret.
    await client.update(app, { token_auth_methods: ['client_secret_post', 'private_key_jwt'] })
    expect(envelopeOf(await client.refresh(known, tokens.refresh_token)).rescode).toBe(20001)
    const fresh = String((await client.admin('POST', `/apps/${app_key}/rotate-secret`)).app_secret)
    tokenSetOf(await client.refresh(withOldSecret(app, fresh), tokens.refresh_token))
    expect(app_secret).not.toBe(fresh)
  })

  it.each(SECRETLESS)('%s: cannot use a secret left in the database', async (method) => {
    const { app } = await StandardApp.make(client)
    const known = withOldSecret(app, app.app_secret)
    const { refresh_token } = await client.getTokens(await client.signedIn(user, known), known)
    await world.pool.query('update micro_app set token_auth_methods = $2 where app_key = $1', [app.app_key, [method]])
    const refused = await client.refresh(known, refresh_token)
    const unknown = await client.refresh({ ...known, app_key: 'nobody' }, refresh_token)
    expect(envelopeOf(refused)).toEqual(envelopeOf(unknown))
  })

  it('may use a secret in area A if it has client_secret_basic beside private_key_jwt', async () => {
    const methods = ['client_secret_basic', 'private_key_jwt']
    const { app } = await StandardApp.make(client, { token_auth_methods: methods, jwks: await jwksOf() })
    const known = withOldSecret(app, app.app_secret)
    tokenSetOf(await client.exchange(known, await client.getCode(await client.signedIn(user, known), known)))
  })
})

describe('require_pkce at A1', () => {
  const authorize = async (changes: Record<string, unknown>, parameters: Record<string, string> = {}) => {
    const { app } = await StandardApp.make(client, changes)
    const known = { ...app, redirect_uri: CALLBACK }
    const answer = await client.newBrowser().open(client.authorizePath(client.request(known, parameters)))
    return { known, outcome: answer.text.includes('code_challenge is missing') ? 'refused' : 'asked' }
  }
  const { verifier, challenge } = pkcePair()
  const PKCE = { code_challenge: challenge, code_challenge_method: 'S256' }

  it.each<[Record<string, unknown>, string]>([
    [{}, 'asked'],
    [{ require_pkce: false }, 'asked'],
    [{ require_pkce: true }, 'refused'],
    [{ require_pkce_in_a1: true }, 'refused'],
    [{ require_pkce: true, require_pkce_in_a1: false }, 'asked'],
    [{ require_pkce: false, require_pkce_in_a1: true }, 'refused'],
    [{ hosts: ['app.example.com'], redirect_uris: [], require_pkce: true }, 'refused'],
  ])('for a new app with %o: a request without PKCE is %s', async (fields, expected) => {
    expect((await authorize(fields)).outcome).toBe(expected)
    expect((await authorize(fields, PKCE)).outcome).toBe('asked')
  })

  it('is changed by an operator who sets it, and by no other change', async () => {
    const { known } = await authorize({})
    const pageText = async () => (await client.newBrowser().open(client.authorizePath(client.request(known)))).text
    await client.update(known, { name: 'Another name', refresh_days: 60 })
    expect(await pageText()).not.toContain('code_challenge is missing')
    await client.update(known, { require_pkce: true })
    expect(await pageText()).toContain('code_challenge is missing')
    await client.update(known, { name: 'A third name' })
    expect(await pageText()).toContain('code_challenge is missing')
    await client.update(known, { require_pkce_in_a1: false })
    expect(await pageText()).not.toContain('code_challenge is missing')
    expect(await client.admin('GET', `/apps/${known.app_key}`)).toMatchObject({ require_pkce: true })
  })

  it('answers 20007 naming code_challenge, and accepts a request with one', async () => {
    const { known } = await authorize({ require_pkce: true })
    const path = client.authorizePath(client.request(known))
    expect(envelopeOf(await client.call('GET', path))).toMatchObject({
      rescode: 20007,
      data: { message: 'Invalid request: code_challenge is missing' },
    })
    const consented = await client.getCode(
      await client.signedIn(user, { ...rp.app, redirect_uri: CALLBACK }),
      known,
      PKCE,
    )
    tokenSetOf(await client.exchange(known, consented, { code_verifier: verifier }))
  })
})
