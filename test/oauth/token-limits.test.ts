import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endOldestAccessTokens } from '../../src/authorization/oauth/token-store.ts'
import { purge } from '../../src/operations/jobs/purge.ts'
import { Client, dataOf, envelopeOf, tokenSetOf } from '../acceptance/client.ts'
import { expectFailure } from '../acceptance/expectations.ts'
import { header, injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { bodyOf, StandardApp, tokensOf } from '../oidc/app.ts'

/** An app cannot fill the database with access tokens by refreshing. */

let world: World
let strict: World
beforeAll(async () => {
  world = await openWorld({ ACCESS_TOKENS_PER_GRANT: '5' })
  strict = await openWorld({ REFRESHES_PER_MINUTE: '3', TRUST_PROXY: '127.0.0.1' })
})
afterAll(async () => {
  await world?.close()
  await strict?.close()
})

const grantedIn = async (where: World, policy: 'fixed' | 'rotating') => {
  const client = new Client(injectWire(where.app), where.deps.config.PUBLIC_URL)
  const app = await client.makeApp({ refresh_policy: policy })
  const user = await client.makeUser()
  return { client, app, user, tokens: await client.getTokens(await client.signedIn(user, app), app) }
}
const liveTokens = async ({ user_id }: { readonly user_id: string }): Promise<number> => {
  const { rows } = await world.pool.query(
    `select count(*)::int as n from access_token
     where grant_id in (select grant_id from user_grant where user_id = $1)`,
    [user_id],
  )
  return rows[0].n
}

describe.each(['fixed', 'rotating'] as const)('policy %s: the access tokens of one grant', (policy) => {
  it('are limited to the newest after every 128 refreshes', async () => {
    const { client, app, user, tokens } = await grantedIn(world, policy)
    const bystander = await grantedIn(world, policy)
    const issued = [tokens]
    for (let refreshed = 0; refreshed < 128; refreshed++) {
      world.clock.advance(1)
      issued.push(tokenSetOf(await client.refresh(app, issued.at(-1)?.refresh_token ?? '')))
    }
    await expect.poll(() => liveTokens(user)).toBe(5)
    for (const { access_token } of issued.slice(-5)) dataOf(await client.userInfo(access_token))
    for (const { access_token } of issued.slice(0, -5))
      expectFailure(await client.userInfo(access_token), { rescode: 20020 })
    dataOf(await bystander.client.userInfo(bystander.tokens.access_token))
  })
})

describe('an access token ended by the limit of its grant', () => {
  const ended = async () => {
    const known = await grantedIn(world, 'fixed')
    for (let refreshed = 0; refreshed < 128; refreshed++) {
      world.clock.advance(1)
      tokenSetOf(await known.client.refresh(known.app, known.tokens.refresh_token))
    }
    const { access_token } = known.tokens
    await expect.poll(async () => envelopeOf(await known.client.userInfo(access_token)).rescode).toBe(20020)
    return { ...known, access_token, rp: new StandardApp(known.client, known.app) }
  }
  const rescodes = async ({ client, access_token }: Awaited<ReturnType<typeof ended>>) => [
    envelopeOf(await client.phone(access_token)).rescode,
    envelopeOf(await client.userInfo(access_token)).rescode,
  ]

  it('is reported as expired everywhere, before and after its own expiry', async () => {
    const known = await ended()
    const { access_token, rp } = known
    expect(await rescodes(known)).toEqual([20020, 20020])
    expect((await rp.userInfo(access_token)).status).toBe(401)
    expect(bodyOf(await rp.post('introspect', { ...rp.credentials, token: access_token }))).toEqual({ active: false })
    world.clock.advance(6 * 86_400)
    await purge(world.deps, {})
    expect(await rescodes(known)).toEqual([20020, 20020])
    world.clock.advance(2 * 86_400)
    await purge(world.deps, {})
    expect(await rescodes(known)).toEqual([20020, 20020])
    expect((await world.pool.query('select count(*)::int as n from ended_access_token')).rows[0].n).toBe(0)
  })

  it.each<[string, (known: Awaited<ReturnType<typeof ended>>) => Promise<unknown>]>([
    ['itself is revoked', ({ rp, access_token }) => rp.post('revoke', { ...rp.credentials, token: access_token })],
    [
      'its grant is revoked by its app',
      ({ rp, tokens }) => rp.post('revoke', { ...rp.credentials, token: tokens.refresh_token }),
    ],
    ['its grant is withdrawn', ({ client, user }) => client.withdraw(user)],
    ['all tokens of its app are ended', ({ client, app }) => client.admin('POST', `/apps/${app.app_key}/end-tokens`)],
  ])('is reported as unknown once %s', async (_how, end) => {
    const known = await ended()
    const other = await StandardApp.make(known.client)
    await other.post('revoke', { ...other.credentials, token: known.access_token })
    expect(await rescodes(known)).toEqual([20020, 20020])
    await end(known)
    expect(await rescodes(known)).toEqual([20009, 20009])
  })

  it('that was revoked before is still reported as unknown', async () => {
    const known = await grantedIn(world, 'fixed')
    const rp = new StandardApp(known.client, known.app)
    const { access_token } = known.tokens
    await rp.post('revoke', { ...rp.credentials, token: access_token })
    for (let refreshed = 0; refreshed < 128; refreshed++) {
      world.clock.advance(1)
      tokenSetOf(await known.client.refresh(known.app, known.tokens.refresh_token))
    }
    expectFailure(await known.client.userInfo(access_token), { rescode: 20009 })
  })

  it('is one of at most a thousand remembered per grant, so that refreshing cannot fill the table', async () => {
    const { client, user } = await grantedIn(world, 'fixed')
    const [{ routing_key, grant_id }] = (
      await world.pool.query('select routing_key, grant_id from user_grant where user_id = $1', [user.user_id])
    ).rows
    const add = (table: string, columns: string, from: number) =>
      world.pool.query(
        `insert into ${table} (routing_key, grant_id, token_hash, expires_at${columns})
         select $1, $2, sha256(convert_to(n::text, 'UTF8')), now() + n * interval '1 second'${columns && ", '{USER_INFO}'"}
         from generate_series($3::int, $3::int + 999) n`,
        [routing_key, grant_id, from],
      )
    const count = async (table: string) =>
      (await world.pool.query(`select count(*)::int as n from ${table} where grant_id = $1`, [grant_id])).rows[0].n
    await add('ended_access_token', '', 1)
    await add('access_token', ', scopes', 2_000)
    const [first] = await endOldestAccessTokens(world.deps.db, [routing_key], 5)
    expect(first?.tokens).toBeGreaterThanOrEqual(2_000)
    await endOldestAccessTokens(world.deps.db, [routing_key], 5)
    expect([await count('access_token'), await count('ended_access_token')]).toEqual([5, 1_000])
    expect((await client.grants(user)).length).toBe(1)
  })
})

describe('refreshes of one grant in both dialects', () => {
  it('count together', async () => {
    const { client, app, user, tokens } = await grantedIn(world, 'fixed')
    const refreshStandard = async (refreshToken: string): Promise<string> => {
      const answer = await world.app.inject({
        method: 'POST',
        url: '/oauth2/token',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams({
          grant_type: 'refresh_token',
          refresh_token: refreshToken,
          client_id: app.app_key,
          client_secret: app.app_secret,
        }).toString(),
      })
      expect(answer.statusCode).toBe(200)
      return answer.json().refresh_token ?? refreshToken
    }
    let refreshToken = tokens.refresh_token
    for (let twice = 0; twice < 64; twice++) {
      world.clock.advance(1)
      refreshToken = tokenSetOf(await client.refresh(app, refreshToken)).refresh_token
      world.clock.advance(1)
      refreshToken = await refreshStandard(refreshToken)
    }
    await expect.poll(() => liveTokens(user)).toBe(5)
  })
})

describe('concurrent refreshes', () => {
  it('all get a token set, and later refreshes end the surplus', async () => {
    const { client, app, user, tokens } = await grantedIn(world, 'fixed')
    const sets = await Promise.all(Array.from({ length: 100 }, () => client.refresh(app, tokens.refresh_token)))
    for (const set of sets) tokenSetOf(set)
    for (let more = 0; more < 28; more++) {
      world.clock.advance(1)
      await client.refresh(app, tokens.refresh_token)
    }
    await expect.poll(() => liveTokens(user)).toBe(5)
  })
})

describe('an app that refreshes too often', () => {
  it('gets 20003 with 429 and the time to wait, without affecting others', async () => {
    const { client, app, tokens } = await grantedIn(strict, 'fixed')
    for (let sent = 0; sent < 3; sent++) tokenSetOf(await client.refresh(app, tokens.refresh_token))
    const refused = await client.refresh(app, tokens.refresh_token)
    expectFailure(refused, { rescode: 20003, status: 429 })
    expect(Number(header(refused, 'retry-after'))).toBeGreaterThan(0)
    const other = await grantedIn(strict, 'fixed')
    tokenSetOf(await other.client.refresh(other.app, other.tokens.refresh_token))
  })

  it('is limited per network if it is a public client, so that strangers cannot use up its limit', async () => {
    const client = new Client(injectWire(strict.app), strict.deps.config.PUBLIC_URL)
    const rp = await StandardApp.make(client, { token_auth_methods: ['none'] })
    const code = await rp.code(client.newBrowser(), await client.makeUser())
    const tokens = tokensOf(await rp.exchange(code, { client_secret: undefined }))
    const refresh = async (refresh_token: string, address: string): Promise<number> => {
      const form = { client_id: rp.app.app_key, grant_type: 'refresh_token', refresh_token }
      return (await rp.post('token', form, { 'x-forwarded-for': address })).status
    }
    const sent: number[] = []
    for (let times = 0; times < 4; times++) sent.push(await refresh('ghrt_of_nobody', '198.51.100.1'))
    expect(sent).toEqual([400, 400, 400, 429])
    expect(await refresh(tokens.refresh_token, '198.51.100.1')).toBe(429)
    expect(await refresh(tokens.refresh_token, '203.0.113.1')).toBe(200)
  })
})
