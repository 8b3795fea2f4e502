import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  KEYS_READ_EVERY_S,
  listSigningKeys,
  retireSigningKey,
  rotateSigningKeys,
} from '../../src/authorization/oidc/signing-key.ts'
import { SigningKeys, signCompact } from '../../src/authorization/oidc/signing-key-cache.ts'
import { purge } from '../../src/operations/jobs/purge.ts'
import { Client, type User } from '../acceptance/client.ts'
import { header, injectWire, queryOf } from '../acceptance/http.ts'
import { MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'
import { bodyOf, StandardApp, tokensOf } from './app.ts'

/** Signing keys of id_tokens are published before they sign, and until the last id_token has expired. */

const LEAD_S = 1_000
const ID_TOKEN_S = 3_600
const SESSION_S = 20_000

let world: World
let client: Client
let user: User
beforeEach(async () => {
  world = await openWorld({
    ...MANY_CONNECTIONS,
    AUTHORIZE_PER_MINUTE: '1000000',
    SIGNING_KEY_LEAD_S: String(LEAD_S),
    SESSION_LIFETIME_S: String(SESSION_S),
  })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  user = await client.makeUser()
})
afterEach(() => world.close())

const published = async (): Promise<{ kid: string; alg: string }[]> =>
  bodyOf(await client.call('GET', '/oauth2/jwks')).keys as { kid: string; alg: string }[]
const kids = async () => (await published()).filter(({ alg }) => alg === 'RS256').map(({ kid }) => kid)
const kidOf = (token: string): string => JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid

async function idToken(changes: Record<string, unknown> = {}): Promise<string> {
  const rp = await StandardApp.make(client, changes)
  return (await rp.tokens(client.newBrowser(), user)).id_token
}

describe('signing keys', () => {
  it('exist before the first id_token, for each algorithm that an app may use', async () => {
    expect((await published()).map(({ alg }) => alg).sort()).toEqual(['ES256', 'RS256'])
    for (const id_token_alg of ['RS256', 'ES256']) {
      const token = await idToken({ id_token_alg })
      world.clock.advance(10)
      const keys = createLocalJWKSet({ keys: (await published()) as never })
      const { protectedHeader } = await jwtVerify(token, keys, { currentDate: world.clock.now() })
      expect(protectedHeader).toEqual({ alg: id_token_alg, kid: kidOf(token), typ: 'JWT' })
    }
  })

  it('that cannot be opened fail only what needs an id_token, and use up neither its code nor its refresh token', async () => {
    const rp = await StandardApp.make(client)
    const browser = client.newBrowser()
    const tokens = await rp.tokens(browser, user)
    const code = await rp.code(browser, user)
    const plain = await rp.code(browser, user, { scope: 'profile offline_access' })
    const { rows } = await world.pool.query('select kid, sealed from signing_key')
    await world.pool.query(`update signing_key set kid = 'x' || kid, sealed = '\\x00'`)
    world.clock.advance(KEYS_READ_EVERY_S)
    const ofPlain = tokensOf(await rp.exchange(plain))
    expect(ofPlain).not.toHaveProperty('id_token')
    bodyOf(await rp.refresh(ofPlain.refresh_token))
    bodyOf(await rp.exchange(code), 500)
    bodyOf(await rp.refresh(tokens.refresh_token), 500)
    for (const { kid, sealed } of rows)
      await world.pool.query(`update signing_key set kid = $1, sealed = $2 where kid = 'x' || $1`, [kid, sealed])
    world.clock.advance(KEYS_READ_EVERY_S)
    expect(tokensOf(await rp.exchange(code))).toHaveProperty('id_token')
    expect(tokensOf(await rp.refresh(tokens.refresh_token))).toHaveProperty('id_token')
  })

  it('are created once even if several processes need one concurrently', async () => {
    const processes = Array.from({ length: 5 }, () => new SigningKeys(world.deps))
    const signers = await Promise.all(processes.map((keys) => keys.signer('ES256')))
    expect(new Set(signers.map(({ kid }) => kid)).size).toBe(1)
  })

  it('are published without their private part, and stored encrypted', async () => {
    await idToken()
    const parts = (await published()).map((key) => Object.keys(key).sort().join(' '))
    expect(parts.sort()).toEqual(['alg crv kid kty use x y', 'alg e kid kty n use'])
    const { rows } = await world.pool.query('select * from signing_key')
    expect(JSON.stringify(rows)).not.toMatch(/"(d|p|q|dp|dq|qi)":/)
    expect(header(await client.call('GET', '/oauth2/jwks'), 'cache-control')).toBe('public, max-age=300')
  })

  const withoutKeys = async <T>(work: () => Promise<T>): Promise<T> => {
    world.clock.advance(KEYS_READ_EVERY_S)
    await world.pool.query('alter table signing_key rename to signing_key_away')
    return work().finally(() => world.pool.query('alter table signing_key_away rename to signing_key'))
  }

  it('that cannot be read cost neither a code nor a refresh token', async () => {
    const rp = await StandardApp.make(client)
    const code = await rp.code(client.newBrowser(), user)
    expect((await withoutKeys(() => rp.exchange(code))).status).toBe(500)
    const first = tokensOf(await rp.exchange(code))
    expect(kidOf(first.id_token)).not.toBe('')
    expect((await withoutKeys(() => rp.refresh(first.refresh_token))).status).toBe(500)
    world.clock.advance(world.deps.config.REFRESH_DUPLICATE_WINDOW_S + 1) // a token used by then would be a replay
    expect(kidOf(tokensOf(await rp.refresh(first.refresh_token)).id_token)).not.toBe('')
  })

  it('rotate: the next key is published at once and signs later, and the last one stays as long as needed', async () => {
    const first = kidOf(await idToken())
    await rotateSigningKeys(world.deps, { alg: 'RS256' })
    world.clock.advance(10)
    const both = await kids()
    expect(both).toHaveLength(2)
    expect(kidOf(await idToken())).toBe(first)
    world.clock.advance(LEAD_S - 11)
    const last = await idToken()
    expect(kidOf(last)).toBe(first)
    world.clock.advance(1)
    expect(kidOf(await idToken())).toBe(both.find((kid) => kid !== first))
    world.clock.advance(ID_TOKEN_S)
    expect(await kids()).toEqual(both)
    world.clock.advance(311)
    expect(await kids()).toEqual(both.filter((kid) => kid !== first))
  })

  it('rotate twice in a row: each key signs in its turn', async () => {
    await idToken()
    await rotateSigningKeys(world.deps, { alg: 'RS256' })
    world.clock.advance(100)
    await rotateSigningKeys(world.deps, { alg: 'RS256' })
    const keys = await listSigningKeys(world.deps)
    expect(keys.map(({ signs_until }) => signs_until)).toEqual([keys[1]?.signs_from, keys[2]?.signs_from, null])
  })

  it('retire: a new key signs from then on, and a leaked one is unpublished', async () => {
    const first = kidOf(await idToken())
    await retireSigningKey(world.deps, { kid: first, at_once: false })
    world.clock.advance(10)
    const second = kidOf(await idToken())
    expect(second).not.toBe(first)
    expect(await kids()).toContain(first)
    await retireSigningKey(world.deps, { kid: second, at_once: true })
    world.clock.advance(10)
    expect(await kids()).not.toContain(second)
    expect([first, second]).not.toContain(kidOf(await idToken()))
    await expect(retireSigningKey(world.deps, { kid: 'unknown', at_once: false })).rejects.toThrow(
      'signing_key_unknown',
    )
  })

  it('rotate and retire: a process that has cached the keys publishes the new ones at once', async () => {
    const first = await idToken()
    expect(await kids()).toHaveLength(1)
    await rotateSigningKeys(world.deps, { alg: 'RS256' })
    expect(await kids()).toHaveLength(2)
    await retireSigningKey(world.deps, { kid: kidOf(first), at_once: true })
    const now = await kids()
    expect([now.length, now.includes(kidOf(first))]).toEqual([2, false])
    const signer = await new SigningKeys(world.deps).signer('RS256')
    expect(now).toContain(signer.kid)
  })

  it('are audited when they change', async () => {
    const kid = kidOf(await idToken())
    await retireSigningKey({ ...world.deps, actor: { kind: 'cli' } }, { kid, at_once: true })
    const { rows } = await world.pool.query(
      "select event, actor from audit_event where event like 'signing_key%' order by at, event",
    )
    expect(rows).toContainEqual({ event: 'signing_key_retired', actor: 'cli' })
    expect(rows).toContainEqual({ event: 'signing_key_made', actor: 'system' })
  })
})

describe('an id_token_hint', () => {
  const PKCE = { code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' }
  const WORKS = [200, 'code', 201]
  const REFUSED = [400, 'invalid_request', 400]

  /** Someone with an id_token; `ask` sends it, or another hint, to each endpoint that accepts one. */
  const holder = async (id_token_alg: string) => {
    const rp = await StandardApp.make(client, { id_token_alg })
    const browser = client.newBrowser()
    const { id_token } = await rp.tokens(browser, user)
    const ask = async (id_token_hint = id_token) => {
      const logout = await browser.open(`/oauth2/logout?${queryOf({ id_token_hint })}`)
      const silent = await browser.open(rp.authorizeUrl({ ...PKCE, id_token_hint, prompt: 'none' }))
      const pushed = await rp.post('par', { ...rp.request({ ...PKCE, id_token_hint }), ...rp.credentials })
      const { searchParams } = new URL(header(silent, 'location'))
      return [logout.status, searchParams.get('error') ?? 'code', pushed.status]
    }
    return { id_token, ask }
  }

  it('works for as long as a session after its key was published, with either algorithm', async () => {
    const holders = [await holder('RS256'), await holder('ES256')]
    const outcomes = () => Promise.all(holders.map(({ ask }) => ask()))
    await rotateSigningKeys(world.deps, {})
    world.clock.advance(LEAD_S + ID_TOKEN_S + 320)
    await purge(world.deps, {})
    expect(await kids()).toHaveLength(1)
    expect(await outcomes()).toEqual([WORKS, WORKS])
    world.clock.advance(SESSION_S - 20)
    await purge(world.deps, {})
    // The session has expired, but the hint still identifies the person.
    expect(await outcomes()).toEqual(Array(2).fill([200, 'login_required', 201]))
    world.clock.advance(20)
    expect(await outcomes()).toEqual([REFUSED, REFUSED])
    expect((await world.pool.query('select kid from signing_key')).rows).toHaveLength(4)
    world.clock.advance(3_600)
    await purge(world.deps, {})
    expect((await world.pool.query('select kid from signing_key')).rows).toHaveLength(2)
  })

  it('works if another process just signed it with a new key, but never with a leaked key', async () => {
    const { id_token, ask } = await holder('ES256')
    await retireSigningKey(world.deps, { kid: kidOf(id_token), at_once: false })
    const signer = await new SigningKeys(world.deps).signer('ES256')
    const hint = await signCompact(signer, decodeJwt(id_token))
    expect(kidOf(hint)).not.toBe(kidOf(id_token))
    expect([await ask(hint), await ask()]).toEqual([WORKS, WORKS])
    await retireSigningKey(world.deps, { kid: kidOf(hint), at_once: true })
    expect([await ask(hint), await ask()]).toEqual([REFUSED, WORKS])
    world.clock.advance(ID_TOKEN_S + 320)
    expect([await kids(), await ask()]).toEqual([[expect.any(String)], WORKS])
    await retireSigningKey(world.deps, { kid: kidOf(id_token), at_once: true })
    expect(await ask()).toEqual(REFUSED)
  })
})
