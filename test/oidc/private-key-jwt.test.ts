import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import * as oidc from 'openid-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { epochSeconds } from '../../src/platform/lib/clock.ts'
import { Client, type User } from '../acceptance/client.ts'
import { header, injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { bodyOf, type Parameters, StandardApp, tokensOf } from './app.ts'

/** private_key_jwt (RFC 7523, OIDC Core §9): a client with a key in place of a secret. */

const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

let world: World
let client: Client
let rp: StandardApp
let user: User
let keys: Awaited<ReturnType<typeof generateKeyPair>>
let foreign: Awaited<ReturnType<typeof generateKeyPair>>
beforeAll(async () => {
  world = await openWorld({ AUTHORIZE_PER_MINUTE: '1000000' })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  keys = await generateKeyPair('ES256', { extractable: true })
  foreign = await generateKeyPair('ES256')
  const jwks = { keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }] }
  rp = await StandardApp.make(client, { token_auth_methods: ['private_key_jwt'], jwks })
  user = await client.makeUser()
})
afterAll(() => world?.close())

let serial = 0
function assertion(
  changes: Record<string, unknown> = {},
  key = keys.privateKey,
  protectedHeader: { alg: string; kid?: string } = { alg: 'ES256', kid: 'one' },
): Promise<string> {
  const now = epochSeconds(world.clock.now())
  const { app_key } = rp.app
  const aud = `${world.deps.config.PUBLIC_URL}/oauth2/token`
  const payload = { iss: app_key, sub: app_key, aud, jti: `jti-${++serial}`, iat: now, exp: now + 60, ...changes }
  return new SignJWT(payload).setProtectedHeader(protectedHeader).sign(key)
}
const authenticated = (client_assertion: string, changes: Parameters = {}): Parameters => ({
  client_id: undefined,
  client_secret: undefined,
  client_assertion_type: TYPE,
  client_assertion,
  ...changes,
})
const outcomeOf = async (parameters: Parameters) => {
  const answer = await rp.post('introspect', { token: 'x', ...parameters })
  return `${answer.status} ${JSON.parse(answer.text).error ?? 'active' in JSON.parse(answer.text)}`
}

describe('a client with a key', () => {
  it('exchanges, refreshes and revokes', async () => {
    const code = await rp.code(client.newBrowser(), user)
    const tokens = tokensOf(await rp.exchange(code, authenticated(await assertion())))
    const next = tokensOf(await rp.refresh(tokens.refresh_token, authenticated(await assertion())))
    const revoked = await rp.post('revoke', { ...authenticated(await assertion()), token: next.refresh_token })
    expect(bodyOf(revoked)).toEqual({})
    expect((await rp.userInfo(next.access_token)).status).toBe(401)
  })

  it('may name the issuer or the token endpoint as audience, and may send its client_id', async () => {
    for (const aud of [
      world.deps.config.PUBLIC_URL,
      [`${world.deps.config.PUBLIC_URL}/oauth2/token`, 'https://x.example'],
    ]) {
      expect(await outcomeOf(authenticated(await assertion({ aud }), { client_id: rp.app.app_key }))).toBe('200 true')
    }
  })

  it('must name the issuer alone as audience if issuer_aud_only is set', async () => {
    const issuer = world.deps.config.PUBLIC_URL
    const others = [`${issuer}/oauth2/token`, `${issuer}/oauth2/par`, [issuer], [issuer, `${issuer}/oauth2/token`]]
    const answers = async (auds: unknown[]) => {
      const all: string[] = []
      for (const aud of auds) all.push(await outcomeOf(authenticated(await assertion({ aud }))))
      return all
    }
    expect(await answers([issuer, ...others])).toEqual(Array(5).fill('200 true'))
    await client.update(rp.app, { issuer_aud_only: true })
    expect(await answers([issuer])).toEqual(['200 true'])
    expect(await answers([...others, `${issuer}/`, undefined])).toEqual(Array(6).fill('401 invalid_client'))
    await client.update(rp.app, { issuer_aud_only: false })
    expect(await answers(others)).toEqual(Array(4).fill('200 true'))
  })

  it('can use each assertion only once', async () => {
    const once = await assertion()
    const answers = await Promise.all(Array.from({ length: 20 }, () => outcomeOf(authenticated(once))))
    expect(answers.filter((answer) => answer === '200 true')).toHaveLength(1)
  })

  it.each<[string, () => Promise<Parameters>]>([
    ['another key', async () => authenticated(await assertion({}, foreign.privateKey))],
    ['another audience', async () => authenticated(await assertion({ aud: 'https://other.example' }))],
    ['another subject', async () => authenticated(await assertion({ sub: 'somebody' }))],
    ['another issuer', async () => authenticated(await assertion({ iss: 'somebody' }))],
    [
      'an expiry in the past',
      async () => authenticated(await assertion({ exp: epochSeconds(world.clock.now()) - 31 })),
    ],
    [
      'an expiry far in the future',
      async () => authenticated(await assertion({ exp: epochSeconds(world.clock.now()) + 3_600 })),
    ],
    [
      'an expiry in microseconds',
      async () => authenticated(await assertion({ exp: epochSeconds(world.clock.now()) * 1e6 })),
    ],
    ['an expiry beyond the range of Date', async () => authenticated(await assertion({ exp: 8_640_000_000_001 }))],
    ['an expiry beyond the range of integers', async () => authenticated(await assertion({ exp: 1e300 }))],
    ['no expiry', async () => authenticated(await assertion({ exp: undefined }))],
    ['no jti', async () => authenticated(await assertion({ jti: undefined }))],
    [
      'a not-before time in the future',
      async () => authenticated(await assertion({ nbf: epochSeconds(world.clock.now()) + 90 })),
    ],
    [
      'alg none',
      async () =>
        authenticated((await assertion()).replace(/^[^.]+/, Buffer.from('{"alg":"none"}').toString('base64url'))),
    ],
    [
      'an unknown kid',
      async () =>
        authenticated(
          (await assertion()).replace(/^[^.]+/, Buffer.from('{"alg":"ES256","kid":"two"}').toString('base64url')),
        ),
    ],
    ['nonsense', async () => authenticated('nonsense')],
    ['an over-long assertion', async () => authenticated('x.'.repeat(5_000))],
    ['another type', async () => authenticated(await assertion(), { client_assertion_type: 'x' })],
    ['no type', async () => authenticated(await assertion(), { client_assertion_type: undefined })],
    ['a secret instead', async () => ({ client_id: rp.app.app_key, client_secret: 'x' })],
  ])('is refused with %s', async (_name, make) => {
    expect(await outcomeOf(await make())).toBe('401 invalid_client')
  })

  it('is refused with two ways of authentication at once, or as another client', async () => {
    expect(await outcomeOf(authenticated(await assertion(), { client_secret: 'x' }))).toBe('400 invalid_request')
    expect(await outcomeOf(authenticated(await assertion(), { client_id: 'somebody' }))).toBe('400 invalid_request')
  })

  it('is refused if its registered key is invalid', async () => {
    const ask = async (jwk: object, alg: string) => {
      const jwks = { keys: [{ kid: 'one', alg, ...jwk }] }
      const broken = await StandardApp.make(client, { token_auth_methods: ['private_key_jwt'], jwks })
      const text = (await assertion({ iss: broken.app.app_key, sub: broken.app.app_key })).replace(
        /^[^.]+/,
        Buffer.from(JSON.stringify({ alg, kid: 'one' })).toString('base64url'),
      )
      return outcomeOf(authenticated(text))
    }
    expect(await ask({ kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' }, 'ES256')).toBe('401 invalid_client')
    expect(await ask({ kty: 'RSA', n: 'AQAB', e: 'AQAB' }, 'RS256')).toBe('401 invalid_client')
    expect(await ask({ kty: 'OKP', crv: 'Ed25519', x: 'nonsense' }, 'EdDSA')).toBe('401 invalid_client')
  })

  it('need not name its key, even if two of one type are registered', async () => {
    const [old, next] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')])
    const jwk = async (kid: string, { publicKey }: typeof old) => ({
      ...(await exportJWK(publicKey)),
      kid,
      alg: 'ES256',
    })
    const jwks = { keys: [await jwk('old', old), await jwk('next', next)] }
    const { app } = await StandardApp.make(client, { token_auth_methods: ['private_key_jwt'], jwks })
    const outcomeWith = async ({ privateKey }: typeof old, claims = {}) =>
      outcomeOf(
        authenticated(await assertion({ iss: app.app_key, sub: app.app_key, ...claims }, privateKey, { alg: 'ES256' })),
      )
    expect(await outcomeWith(old)).toBe('200 true')
    expect(await outcomeWith(next)).toBe('200 true')
    expect(await outcomeWith(foreign)).toBe('401 invalid_client')
    expect(await outcomeWith(next, { aud: 'https://other.example' })).toBe('401 invalid_client')
  })

  it('is refused if it is not registered for private_key_jwt', async () => {
    await client.update(rp.app, { token_auth_methods: ['client_secret_basic'] })
    expect(await outcomeOf(authenticated(await assertion()))).toBe('401 invalid_client')
    await client.update(rp.app, { token_auth_methods: ['private_key_jwt'] })
  })

  it('can be openid-client', async () => {
    const answers = async (url: string, options: oidc.CustomFetchOptions) => {
      const { pathname } = new URL(url)
      const headers = Object.fromEntries(new Headers(options.headers))
      const answer = await client.call(
        options.method,
        pathname,
        headers,
        options.body ? String(options.body) : undefined,
      )
      return new Response(answer.text, {
        status: answer.status,
        headers: { 'content-type': header(answer, 'content-type') },
      })
    }
    // The clock of the test service stands still.
    const clockSkew = epochSeconds(world.clock.now()) - Math.floor(Date.now() / 1000)
    const config = await oidc.discovery(
      new URL(world.deps.config.PUBLIC_URL),
      rp.app.app_key,
      { [oidc.clockSkew]: clockSkew },
      oidc.PrivateKeyJwt({ key: keys.privateKey, kid: 'one' }),
      { execute: [oidc.allowInsecureRequests], [oidc.customFetch]: answers },
    )
    expect(await oidc.tokenIntrospection(config, 'nonsense')).toEqual({ active: false })
  })
})
