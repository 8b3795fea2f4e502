import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Browser } from '../browser.ts'
import { ALICE, type App, BOTH_SCOPES, Client, dataOf, type TokenSet, tokenSetOf, type User } from '../client.ts'
import { expectFailure, expectJson } from '../expectations.ts'
import { httpWire } from '../http.ts'
import { callOf, type Defect, type Draft, defect, draftOf, illegal, pairsOf, set } from '../ladder.ts'
import { laterProcess, type RunningProcess, type System, sharedSystem } from '../system.ts'
import { clientDefects, representativesOf, type TokenWorld } from '../token-ladder.ts'

/** A3 rows 9–13 after A2 rows 1–8 (REFERENCE "A3: order of checks"). */

const PATH = '/oauth/v2/api/token'
const DAY = 86_400
const MODES = ['200', 'native'] as const
type Mode = (typeof MODES)[number]

interface World extends TokenWorld {
  readonly client: Client
  /** The app and the user of the request that is being broken. */
  readonly own: App
  readonly user: User
  readonly tokens: TokenSet
}

let system: System
let client: Client
let native: Client
let apps: TokenWorld
let alice: Browser

beforeAll(async () => {
  system = await sharedSystem()
  const [first, second] = system.processes
  client = new Client(httpWire(first?.origin ?? ''), first?.origin ?? '')
  native = new Client(httpWire(second?.origin ?? ''), second?.origin ?? '')
  apps = {
    app: await client.makeApp(),
    other: await client.makeApp(),
    pending: await client.makeApp({ status: 'pending' }),
    suspended: await client.makeApp(),
  }
  await client.suspend(apps.suspended)
  alice = await client.signedIn(ALICE)
  await laterProcess(0) // starts it now, so that no token expires meanwhile
})
afterAll(() => system?.stop())

const at = (running: RunningProcess | undefined): Client =>
  new Client(httpWire(running?.origin ?? ''), running?.origin ?? '')

/** Calls the same service with its clock this many seconds ahead. */
const inTheFuture = async <T>(seconds: number, look: (there: Client) => Promise<T>): Promise<T> => {
  return look(at(await laterProcess(seconds)))
}

const INVALID_GRANT = { rescode: 20006 }

const DEFECTS: readonly Defect<World>[] = [
  ...clientDefects<World>(),
  defect<World>(9, 'no refresh_token', 'refresh_token', set({ refresh_token: undefined }), illegal(/refresh_token/)),
  defect<World>(9, 'empty refresh_token', 'refresh_token', set({ refresh_token: '' }), illegal(/refresh_token/)),
  ...['nonsense', `ghrt_${'A'.repeat(48)}`, 'x'.repeat(5_000), "' or 1=1"].map((refresh_token) =>
    defect<World>(
      10,
      `malformed ${refresh_token.slice(0, 20)}`,
      'refresh_token',
      set({ refresh_token }),
      INVALID_GRANT,
    ),
  ),
  defect<World>(
    10,
    'an access token',
    'refresh_token',
    (draft, { tokens }) => set({ refresh_token: tokens.access_token })(draft),
    INVALID_GRANT,
  ),
  defect<World>(
    10,
    "another app's refresh token",
    'refresh_token app_key authorization',
    (draft, { other }) => set({ app_key: other.app_key, app_secret: other.app_secret })(draft),
    INVALID_GRANT,
  ),
  defect<World>(10, 'revoked', 'refresh_token', (_draft, { client: here, user }) => here.withdraw(user), INVALID_GRANT),
  defect<World>(12, 'app lost all scopes', 'scope', (_draft, { own }) => losesAllScopes(own), { rescode: 20004 }),
  defect<World>(13, 'user blocked', 'status', (_draft, { client: here, user }) => here.block(user), { rescode: 20016 }),
]

/** No operator can leave an app without scopes, so the token's only scope is exchanged for the other one. */
const losesAllScopes = (app: App) => client.update(app, { scopes: ['PHONE_NUMBER'] })

async function rightDraft(needsItsOwn: boolean): Promise<{ draft: Draft; world: World }> {
  const [own, user] = needsItsOwn ? [await client.makeApp(), await client.makeUser()] : [apps.app, ALICE]
  const browser = needsItsOwn ? await client.signedIn(user) : alice
  const tokens = await client.getTokens(browser, own, { scope: 'USER_INFO' })
  const draft = draftOf('POST', PATH, client.refreshParameters(own, tokens.refresh_token))
  return { draft, world: { ...apps, app: own, client, own, user, tokens } }
}

const send = (draft: Draft, mode: Mode = '200') => {
  const { method, path, headers } = callOf(draft)
  return (mode === 'native' ? native : client).call(method, path, headers as Record<string, string>)
}

const needsItsOwn = (...defects: Defect<World>[]) => defects.some(({ row, name }) => row >= 12 || name === 'revoked')

describe.each(MODES)('a refresh that is wrong in one place, statuses %s', (mode) => {
  it.each(DEFECTS)('row $row: $name', async (wrong) => {
    const { draft, world } = await rightDraft(needsItsOwn(wrong))
    await wrong.breakIt(draft, world)
    const answer = await send(draft, mode)
    expectFailure(answer, { ...wrong.failure, mode })
    if (wrong.failure.status === 405) expect(answer.headers.allow).toBe('POST')
  })
})

describe('of two failures the earlier row answers', () => {
  const representatives = [
    ...representativesOf(DEFECTS),
    ...DEFECTS.filter(({ name }) => name === 'revoked' || name.startsWith("another app's refresh")),
  ]
  it.each(pairsOf(representatives))('$name', async ({ first, second }) => {
    const { draft, world } = await rightDraft(needsItsOwn(first, second))
    await second.breakIt(draft, world)
    await first.breakIt(draft, world)
    expectFailure(await send(draft), first.failure)
  })
})

describe.each(MODES)('row 11: an expired refresh token, statuses %s', (mode) => {
  it('is distinguished from an unknown one, but only for its own app', async () => {
    const app = await client.makeApp({ refresh_days: 7 })
    const tokens = await client.getTokens(alice, app)
    const user = await client.makeUser()
    const usersTokens = await client.getTokens(await client.signedIn(user), app)
    const there = at(await laterProcess(7 * DAY + 1, mode))
    expectFailure(await there.refresh(app, tokens.refresh_token), { rescode: 20021, mode })
    expectFailure(await there.refresh(apps.other, tokens.refresh_token), { rescode: 20006, mode })
    await client.block(user)
    expectFailure(await there.refresh(app, usersTokens.refresh_token), { rescode: 20021, mode })
    await system.query('delete from refresh_token where expires_at < now() + make_interval(days => 8)')
    expectFailure(await there.refresh(app, tokens.refresh_token), { rescode: 20021, mode })
    expectFailure(await there.refresh(apps.other, tokens.refresh_token), { rescode: 20006, mode })
  })
})

describe('a refresh token lives as long as its app is set to, counted from its issue:', () => {
  it.each([7, 30, 60, 90])('%i days', async (days) => {
    const app = await client.makeApp({ refresh_days: days })
    const tokens = await client.getTokens(alice, app)
    await inTheFuture(days * DAY - 60, async (there) => {
      const again = tokenSetOf(await there.refresh(app, tokens.refresh_token))
      dataOf(await there.userInfo(again.access_token))
    })
    await inTheFuture(days * DAY + 1, async (there) =>
      expectFailure(await there.refresh(app, tokens.refresh_token), { rescode: 20021 }),
    )
  })

  it('30 days by default', async () => {
    const tokens = await client.getTokens(alice, apps.app)
    await inTheFuture(30 * DAY - 60, async (there) => tokenSetOf(await there.refresh(apps.app, tokens.refresh_token)))
    await inTheFuture(30 * DAY + 1, async (there) =>
      expectFailure(await there.refresh(apps.app, tokens.refresh_token), { rescode: 20021 }),
    )
  })

  it.each(['fixed', 'rotating'])('no refresh extends it, policy %s', async (refresh_policy) => {
    const app = await client.makeApp({ refresh_days: 7, refresh_policy })
    const tokens = await client.getTokens(alice, app)
    const halfway = await inTheFuture(6 * DAY, async (there) =>
      tokenSetOf(await there.refresh(app, tokens.refresh_token)),
    )
    await inTheFuture(7 * DAY + 1, async (there) =>
      expectFailure(await there.refresh(app, halfway.refresh_token), { rescode: 20021 }),
    )
  })
})

describe('policy fixed', () => {
  it('answers with a new access token and the same refresh token, any number of times', async () => {
    const tokens = await client.getTokens(alice, apps.app)
    const seen = new Set([tokens.access_token])
    for (let times = 0; times < 3; times++) {
      const answer = await client.refresh(apps.app, tokens.refresh_token)
      expectJson(answer)
      const again = tokenSetOf(answer)
      expect(Object.keys(again).sort()).toEqual(['access_token', 'expires_in', 'refresh_token', 'scope', 'token_type'])
      expect(again.refresh_token).toBe(tokens.refresh_token)
      expect(again).toMatchObject({ token_type: 'bearer', scope: BOTH_SCOPES })
      expect(again.expires_in).toBeGreaterThan(604_790)
      seen.add(again.access_token)
    }
    expect(seen.size, 'and the earlier access tokens live on').toBe(4)
    for (const token of seen) dataOf(await client.userInfo(token))
  })

  it('works before and after the access token has expired', async () => {
    const tokens = await client.getTokens(alice, apps.app)
    await inTheFuture(8 * DAY, async (there) => {
      expectFailure(await there.userInfo(tokens.access_token), { rescode: 20020 })
      const again = tokenSetOf(await there.refresh(apps.app, tokens.refresh_token))
      dataOf(await there.userInfo(again.access_token))
    })
  })
})

describe('policy rotating', () => {
  const rotating = () => client.makeApp({ refresh_policy: 'rotating' })

  it('answers with a new refresh token each time', async () => {
    const app = await rotating()
    let current = await client.getTokens(alice, app)
    const seen = new Set([current.refresh_token])
    for (let times = 0; times < 4; times++) {
      current = tokenSetOf(await client.refresh(app, current.refresh_token))
      seen.add(current.refresh_token)
      dataOf(await client.userInfo(current.access_token))
    }
    expect(seen.size).toBe(5)
  })

  it('repeats the same answer for the previous token within the window', async () => {
    const app = await rotating()
    const tokens = await client.getTokens(alice, app)
    const first = tokenSetOf(await client.refresh(app, tokens.refresh_token))
    for (let times = 0; times < 3; times++) {
      const again = tokenSetOf(await client.refresh(app, tokens.refresh_token))
      expect({ ...again, expires_in: 0 }).toEqual({ ...first, expires_in: 0 })
      expect(first.expires_in - again.expires_in).toBeLessThan(60)
    }
    tokenSetOf(await client.refresh(app, first.refresh_token))
    dataOf(await client.userInfo(first.access_token))
  })

  it('counts expires_in down in a repeated answer', async () => {
    const app = await rotating()
    const tokens = await client.getTokens(alice, app)
    const first = tokenSetOf(await client.refresh(app, tokens.refresh_token))
    const again = await inTheFuture(40, async (there) => tokenSetOf(await there.refresh(app, tokens.refresh_token)))
    expect(again.access_token).toBe(first.access_token)
    expect(first.expires_in - again.expires_in).toBeGreaterThanOrEqual(39)
    expect(first.expires_in - again.expires_in).toBeLessThan(100)
  })

  it('refuses the previous token from another app, without further effect', async () => {
    const app = await rotating()
    const tokens = await client.getTokens(alice, app)
    const successor = tokenSetOf(await client.refresh(app, tokens.refresh_token))
    expectFailure(await client.refresh(apps.other, tokens.refresh_token), { rescode: 20006 })
    tokenSetOf(await client.refresh(app, successor.refresh_token))
  })

  it('refuses an older token than the previous one', async () => {
    const app = await rotating()
    const tokens = await client.getTokens(alice, app)
    const second = tokenSetOf(await client.refresh(app, tokens.refresh_token))
    tokenSetOf(await client.refresh(app, second.refresh_token))
    const answer = await client.refresh(app, tokens.refresh_token)
    if (answer.text.includes('"rescode":0')) {
      expect(tokenSetOf(answer).refresh_token, 'within its own window: the same answer again').toBe(
        second.refresh_token,
      )
    } else expectFailure(answer, { rescode: 20006 })
  })

  it('does not repeat an answer once the grant is withdrawn', async () => {
    const app = await rotating()
    const user = await client.makeUser()
    const tokens = await client.getTokens(await client.signedIn(user), app)
    tokenSetOf(await client.refresh(app, tokens.refresh_token))
    await client.withdraw(user)
    expectFailure(await client.refresh(app, tokens.refresh_token), { rescode: 20006 })
  })
})

describe('row 12: an app that lost a scope', () => {
  it.each(['fixed', 'rotating'])('gets a token with the remaining scope, policy %s', async (refresh_policy) => {
    const app = await client.makeApp({ refresh_policy })
    const tokens = await client.getTokens(alice, app)
    await client.update(app, { scopes: ['USER_INFO'] })
    const narrower = tokenSetOf(await client.refresh(app, tokens.refresh_token))
    expect(narrower.scope).toBe('USER_INFO')
    dataOf(await client.userInfo(narrower.access_token))
    expectFailure(await client.phone(narrower.access_token), { rescode: 20004 })
  })

  it('does not spend a rotating token when no scope is left', async () => {
    const app = await client.makeApp({ refresh_policy: 'rotating' })
    const tokens = await client.getTokens(alice, app, { scope: 'USER_INFO' })
    await client.update(app, { scopes: ['PHONE_NUMBER'] })
    expectFailure(await client.refresh(app, tokens.refresh_token), { rescode: 20004 })
    await client.update(app, { scopes: ['PHONE_NUMBER', 'USER_INFO'] })
    expect(tokenSetOf(await client.refresh(app, tokens.refresh_token)).scope).toBe('USER_INFO')
  })

  it('never gets a wider scope than was granted', async () => {
    const app = await client.makeApp()
    const tokens = await client.getTokens(alice, app, { scope: 'USER_INFO' })
    const answer = await client.refresh(app, tokens.refresh_token, { scope: BOTH_SCOPES })
    expect(tokenSetOf(answer).scope).toBe('USER_INFO')
  })
})

describe('row 13: a blocked user', () => {
  it('can refresh again when unblocked', async () => {
    const [app, user] = [await client.makeApp(), await client.makeUser()]
    const tokens = await client.getTokens(await client.signedIn(user), app)
    await client.block(user)
    expectFailure(await client.refresh(app, tokens.refresh_token), { rescode: 20016 })
    await client.unblock(user)
    tokenSetOf(await client.refresh(app, tokens.refresh_token))
  })

  it('is refused with the previous token too, and gets the same answer as before when unblocked', async () => {
    const [app, user] = [await client.makeApp({ refresh_policy: 'rotating' }), await client.makeUser()]
    const { refresh_token } = await client.getTokens(await client.signedIn(user), app)
    const first = tokenSetOf(await client.refresh(app, refresh_token))
    await client.block(user)
    expectFailure(await client.refresh(app, refresh_token), { rescode: 20016 })
    expectFailure(await client.refresh(app, first.refresh_token), { rescode: 20016 })
    await client.unblock(user)
    expect(tokenSetOf(await client.refresh(app, refresh_token)).refresh_token).toBe(first.refresh_token)
  })
})
