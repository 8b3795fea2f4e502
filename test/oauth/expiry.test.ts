import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type App, Client, dataOf, tokenSetOf, type User } from '../acceptance/client.ts'
import { expectFailure } from '../acceptance/expectations.ts'
import { signInForm } from '../acceptance/form.ts'
import { injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'

/** The limits of every lifetime, to the second, with a clock that stands still. */

const DAY = 86_400

let world: World
let client: Client
let app: App
let user: User

beforeAll(async () => {
  world = await openWorld()
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  app = await client.makeApp({ refresh_days: 7 })
  user = await client.makeUser()
})
afterAll(() => world?.close())

describe('an authorization code (valid for 5 minutes)', () => {
  it.each([
    [0, 0],
    [299, 0],
    [300, 20013],
    [301, 20013],
    [3_600, 20013],
  ])('after %i seconds gets rescode %i', async (seconds, rescode) => {
    const consented = await client.getCode(await client.signedIn(user, app), app)
    world.clock.advance(seconds)
    const answer = await client.exchange(app, consented)
    if (rescode === 0) tokenSetOf(answer)
    else expectFailure(answer, { rescode, message: `Invalid authorization code: ${consented.code}` })
  })
})

describe('an access token (7 days)', () => {
  it('works to the last second, and is then reported as expired, not as invalid', async () => {
    const tokens = await client.getTokens(await client.signedIn(user, app), app)
    expect(tokens.expires_in).toBe(7 * DAY)
    world.clock.advance(7 * DAY - 1)
    dataOf(await client.userInfo(tokens.access_token))
    world.clock.advance(1)
    expectFailure(await client.userInfo(tokens.access_token), { rescode: 20020 })
    expectFailure(await client.phone(tokens.access_token), { rescode: 20020 })
    world.clock.advance(1_000 * DAY)
    expectFailure(await client.userInfo(tokens.access_token), { rescode: 20020 })
  })

  it('that was revoked is reported as expired once its lifetime is over', async () => {
    const own = await client.makeUser()
    const tokens = await client.getTokens(await client.signedIn(own, app), app)
    await client.withdraw(own)
    expectFailure(await client.userInfo(tokens.access_token), { rescode: 20009 })
    world.clock.advance(7 * DAY)
    expectFailure(await client.userInfo(tokens.access_token), { rescode: 20020 })
  })

  it('is not prolonged by refreshing', async () => {
    const long = await client.makeApp({ refresh_days: 30 })
    const tokens = await client.getTokens(await client.signedIn(user, long), long)
    world.clock.advance(3 * DAY)
    const second = tokenSetOf(await client.refresh(long, tokens.refresh_token))
    expect(second.expires_in).toBe(7 * DAY)
    world.clock.advance(4 * DAY)
    expectFailure(await client.userInfo(tokens.access_token), { rescode: 20020 })
    dataOf(await client.userInfo(second.access_token))
  })
})

describe('a refresh token', () => {
  it.each([7, 30, 60, 90])('of an app set to %i days expires after exactly that', async (days) => {
    const own = await client.makeApp({ refresh_days: days })
    const tokens = await client.getTokens(await client.signedIn(user, own), own)
    world.clock.advance(days * DAY - 1)
    tokenSetOf(await client.refresh(own, tokens.refresh_token))
    world.clock.advance(1)
    expectFailure(await client.refresh(own, tokens.refresh_token), { rescode: 20021 })
    expectFailure(await client.refresh(app, tokens.refresh_token), { rescode: 20006 })
  })

  it.each(['fixed', 'rotating'])(
    'lives from the first issue, not from the consent, under policy %s',
    async (policy) => {
      const own = await client.makeApp({ refresh_days: 7, refresh_policy: policy })
      const consented = await client.getCode(await client.signedIn(user, own), own)
      world.clock.advance(200)
      const first = tokenSetOf(await client.exchange(own, consented))
      world.clock.advance(7 * DAY - 1)
      const last = tokenSetOf(await client.refresh(own, first.refresh_token))
      world.clock.advance(1)
      expectFailure(await client.refresh(own, first.refresh_token), { rescode: 20021 })
      expectFailure(await client.refresh(own, last.refresh_token), { rescode: 20021 })
    },
  )

  it('keeps its expiry when the app is later set to more days', async () => {
    const own = await client.makeApp({ refresh_days: 7 })
    const tokens = await client.getTokens(await client.signedIn(user, own), own)
    await client.update(own, { refresh_days: 90 })
    world.clock.advance(7 * DAY)
    expectFailure(await client.refresh(own, tokens.refresh_token), { rescode: 20021 })
  })
})

describe('a rotated refresh token', () => {
  it.each([
    [59, true],
    [60, false],
    [61, false],
  ])('sent again after %i seconds gets the same answer: %s', async (seconds, answered) => {
    const own = await client.makeApp({ refresh_policy: 'rotating' })
    const tokens = await client.getTokens(await client.signedIn(user, own), own)
    const first = tokenSetOf(await client.refresh(own, tokens.refresh_token))
    world.clock.advance(seconds)
    const answer = await client.refresh(own, tokens.refresh_token)
    if (answered) {
      expect(tokenSetOf(answer)).toEqual({ ...first, expires_in: first.expires_in - seconds })
      tokenSetOf(await client.refresh(own, first.refresh_token))
    } else {
      expectFailure(answer, { rescode: 20006 })
      expectFailure(await client.refresh(own, first.refresh_token), { rescode: 20006 })
      expectFailure(await client.userInfo(first.access_token), { rescode: 20009 })
    }
  })

  it.each([
    [59, true],
    [60, false],
  ])(
    'of an app whose policy is fixed by now, sent again after %i seconds, gets the same answer: %s',
    async (seconds, answered) => {
      const own = await client.makeApp({ refresh_policy: 'rotating' })
      const tokens = await client.getTokens(await client.signedIn(user, own), own)
      const first = tokenSetOf(await client.refresh(own, tokens.refresh_token))
      await client.update(own, { refresh_policy: 'fixed' })
      world.clock.advance(seconds)
      const answer = await client.refresh(own, tokens.refresh_token)
      if (answered) expect(tokenSetOf(answer)).toEqual({ ...first, expires_in: first.expires_in - seconds })
      else {
        expectFailure(answer, { rescode: 20006 })
        expectFailure(await client.userInfo(first.access_token), { rescode: 20009 })
      }
    },
  )

  it('gets another access token with the same successor where that one had another lifetime', async () => {
    const restarted = await openWorld(
      { ACCESS_TOKEN_LIFETIME_S: '3600' },
      { url: world.databaseUrl, drop: async () => {} },
    )
    onTestFinished(() => restarted.close())
    const own = await client.makeApp({ refresh_policy: 'rotating' })
    const tokens = await client.getTokens(await client.signedIn(user, own), own)
    const first = tokenSetOf(await client.refresh(own, tokens.refresh_token))
    restarted.clock.advance((world.clock.now().getTime() - restarted.clock.now().getTime()) / 1_000 + 5)
    const there = new Client(injectWire(restarted.app), restarted.deps.config.PUBLIC_URL)
    const again = tokenSetOf(await there.refresh(own, tokens.refresh_token))
    expect(again).toMatchObject({ refresh_token: first.refresh_token, expires_in: 3_600 })
    dataOf(await client.userInfo(again.access_token))
  })

  it('expires at the same time as its successor', async () => {
    const own = await client.makeApp({ refresh_policy: 'rotating', refresh_days: 7 })
    const tokens = await client.getTokens(await client.signedIn(user, own), own)
    world.clock.advance(6 * DAY)
    const successor = tokenSetOf(await client.refresh(own, tokens.refresh_token))
    world.clock.advance(DAY - 1)
    const last = tokenSetOf(await client.refresh(own, successor.refresh_token))
    world.clock.advance(1)
    for (const { refresh_token } of [tokens, successor, last]) {
      expectFailure(await client.refresh(own, refresh_token), { rescode: 20021 })
    }
  })
})

describe('a used code', () => {
  it.each([
    [59, true],
    [60, false],
  ])('sent again after %i seconds leaves its tokens alive: %s', async (seconds, alive) => {
    const consented = await client.getCode(await client.signedIn(user, app), app)
    const tokens = tokenSetOf(await client.exchange(app, consented))
    world.clock.advance(seconds)
    expectFailure(await client.exchange(app, consented), { rescode: 20013 })
    const answer = await client.userInfo(tokens.access_token)
    if (alive) dataOf(answer)
    else expectFailure(answer, { rescode: 20009 })
  })
})

describe('a browser session (12 hours)', () => {
  it.each([
    [12 * 3_600 - 1, false],
    [12 * 3_600, true],
  ])('after %i seconds requires signing in again: %s', async (seconds, again) => {
    const browser = await client.signedIn(user, app)
    world.clock.advance(seconds)
    const page = await browser.open(client.authorizePath(client.request(app)))
    expect(page.status).toBe(200)
    expect(signInForm(page.text) !== undefined).toBe(again)
  })
})
