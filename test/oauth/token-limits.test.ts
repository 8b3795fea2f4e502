import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client, dataOf, tokenSetOf } from '../acceptance/client.ts'
import { expectFailure } from '../acceptance/expectations.ts'
import { header, injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'

/** An app cannot fill the database with access tokens by refreshing. */

let world: World
let strict: World
beforeAll(async () => {
  world = await openWorld({ ACCESS_TOKENS_PER_GRANT: '5' })
  strict = await openWorld({ REFRESHES_PER_MINUTE: '3' })
})
afterAll(async () => {
  await world?.close()
  await strict?.close()
})

const grantedIn = async (where: World, policy: 'fixed' | 'rotating') => {
  const client = new Client(injectWire(where.app), where.deps.config.PUBLIC_URL)
  const app = await client.makeApp({ refresh_policy: policy })
  const user = await client.makeUser()
  return { client, app, tokens: await client.getTokens(await client.signedIn(user, app), app) }
}
const liveTokens = async (): Promise<number> =>
  (await world.pool.query('select count(*)::int as n from access_token')).rows[0].n

describe.each(['fixed', 'rotating'] as const)('policy %s: the access tokens of one grant', (policy) => {
  it('are ended beyond so many after every 128 refreshes, the newest stay', async () => {
    const { client, app, tokens } = await grantedIn(world, policy)
    const bystander = await grantedIn(world, policy)
    const before = await liveTokens()
    const issued = [tokens]
    for (let refreshed = 0; refreshed < 128; refreshed++) {
      world.clock.advance(1)
      issued.push(tokenSetOf(await client.refresh(app, issued.at(-1)?.refresh_token ?? '')))
    }
    await expect.poll(async () => (await liveTokens()) - before).toBe(4)
    for (const { access_token } of issued.slice(-5)) dataOf(await client.userInfo(access_token))
    for (const { access_token } of issued.slice(0, -5).slice(-20))
      expectFailure(await client.userInfo(access_token), { rescode: 20009 })
    dataOf(await bystander.client.userInfo(bystander.tokens.access_token))
  })
})

describe('refreshes of one grant in both dialects', () => {
  it('count together', async () => {
    const { client, app, tokens } = await grantedIn(world, 'fixed')
    const before = await liveTokens()
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
    await expect.poll(async () => (await liveTokens()) - before).toBe(4)
  })
})

describe('refreshes at one moment', () => {
  it('all get a token that works, and later ones end what was too many', async () => {
    const { client, app, tokens } = await grantedIn(world, 'fixed')
    const before = await liveTokens()
    const sets = await Promise.all(Array.from({ length: 100 }, () => client.refresh(app, tokens.refresh_token)))
    for (const set of sets) tokenSetOf(set)
    for (let more = 0; more < 28; more++) {
      world.clock.advance(1)
      await client.refresh(app, tokens.refresh_token)
    }
    await expect.poll(async () => (await liveTokens()) - before).toBe(4)
  })
})

describe('an app that refreshes too often', () => {
  it('gets 20003 with 429 and the time to wait, and others do not', async () => {
    const { client, app, tokens } = await grantedIn(strict, 'fixed')
    for (let sent = 0; sent < 3; sent++) tokenSetOf(await client.refresh(app, tokens.refresh_token))
    const refused = await client.refresh(app, tokens.refresh_token)
    expectFailure(refused, { rescode: 20003, status: 429 })
    expect(Number(header(refused, 'retry-after'))).toBeGreaterThan(0)
    const other = await grantedIn(strict, 'fixed')
    tokenSetOf(await other.client.refresh(other.app, other.tokens.refresh_token))
  })
})
