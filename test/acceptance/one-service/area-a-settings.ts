import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Browser } from '../browser.ts'
import { ALICE, type App, Client, tokenSetOf } from '../client.ts'
import { expectFailure, expectHeaders } from '../expectations.ts'
import { visibleText } from '../form.ts'
import { header, httpWire } from '../http.ts'
import { type RunningProcess, type System, sharedSystem } from '../system.ts'

/** Area A with other settings: limits on failures and requests, and windows in which a request may be repeated. */

const STRICT = { CLIENT_FAILURES: '3', AUTHORIZE_PER_MINUTE: '5', ...windowsOf('1') }

let system: System
let client: Client
let alice: Browser
/** A process with windows of 1 s and a clock that can be moved. */
let strict: RunningProcess
let limited: Client
/** A process without any window. */
let windowless: RunningProcess

function windowsOf(seconds: string) {
  return { CODE_DUPLICATE_WINDOW_S: seconds, REFRESH_DUPLICATE_WINDOW_S: seconds, DEMO: 'off', JOBS: 'off' }
}

beforeAll(async () => {
  system = await sharedSystem()
  client = new Client(httpWire(system.origin), system.origin)
  alice = await client.signedIn(ALICE)
  strict = await system.add({ ...STRICT, TEST_CLOCK_OFFSET_S: '0' })
  limited = new Client(httpWire(strict.origin), strict.origin)
  windowless = await system.add(windowsOf('0'))
})
afterAll(async () => {
  await strict?.stop()
  await windowless?.stop()
})

async function moveClock(seconds: number): Promise<void> {
  const told = once(strict.child, 'message')
  strict.child.send(seconds)
  await told
}

describe('A2 row 7: too many failed authentications', () => {
  it('answer 20003 to this app from this address, whatever the secret, and to nobody else', async () => {
    const [app, other] = [await client.makeApp(), await client.makeApp()]
    const consented = await client.getCode(alice, app)
    const wrong = () => limited.exchange(app, consented, { app_secret: 'wrong' })
    for (let tries = 0; tries < 3; tries++) expectFailure(await wrong(), { rescode: 20001 })
    for (const answer of [await wrong(), await limited.exchange(app, consented)]) {
      expectFailure(answer, { rescode: 20003, status: 429 })
      const wait = Number(answer.headers['retry-after'])
      expect(wait).toBeGreaterThan(0)
      expect(wait).toBeLessThanOrEqual(300)
    }
    expectFailure(await limited.refresh(app, 'x'), { rescode: 20003, status: 429 })
    tokenSetOf(await limited.exchange(other, await client.getCode(alice, other)))
    await moveClock(301)
    expectFailure(await limited.refresh(app, 'x'), { rescode: 20006 })
    await moveClock(0)
  })

  it('do not block an app that stays below the limit', async () => {
    const app = await client.makeApp()
    const wrong = () => limited.refresh(app, 'x', { app_secret: 'wrong' })
    for (let tries = 0; tries < 2; tries++) expectFailure(await wrong(), { rescode: 20001 })
    expectFailure(await limited.refresh(app, 'x'), { rescode: 20006 })
  })
})

describe('A1 row 15: too many requests', () => {
  it('get 20003 with status 429 and the time to wait', async () => {
    const app = await client.makeApp()
    const path = limited.authorizePath(limited.request(app, { response_type: 'token' }))
    const statuses: number[] = []
    for (let sent = 0; sent < 7; sent++) statuses.push((await limited.call('GET', path)).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429])
    const answer = await limited.call('GET', path, { accept: 'application/json' })
    expect(JSON.parse(answer.text)).toEqual({ rescode: 20003, data: { message: 'Request forbidden' } })
    expect(Number(header(answer, 'retry-after'))).toBeGreaterThan(0)
    expect(Number(header(answer, 'retry-after'))).toBeLessThanOrEqual(60)
    expectHeaders(answer)
    const page = await limited.newBrowser().send('GET', path)
    expect(visibleText(page.text)).toContain('20003')
  })
})

describe.each([
  ['after the window of 1 s', () => strict, 1_300],
  ['at once, with a window of 0 s', () => windowless, 0],
])('when sent again %s', (_name, running, wait) => {
  const there = () => new Client(httpWire(running().origin), running().origin)
  const events = async (app: App) =>
    system.query("select * from audit_event where app_key = $1 and event <> 'consent' order by at", [app.app_key])

  it('a code is refused, the grant is revoked, and the audit log says so', async () => {
    const app = await client.makeApp()
    const consented = await client.getCode(alice, app)
    const tokens = tokenSetOf(await there().exchange(app, consented))
    const before = await events(app)
    await sleep(wait)
    expectFailure(await there().exchange(app, consented), {
      rescode: 20013,
      message: `Invalid authorization code: ${consented.code}`,
      nativeStatus: 400,
    })
    expectFailure(await there().userInfo(tokens.access_token), { rescode: 20009 })
    expectFailure(await there().refresh(app, tokens.refresh_token), { rescode: 20006 })
    expect((await events(app)).length).toBe(before.length + 1)
  })

  it('the previous refresh token is refused, and the grant is revoked', async () => {
    const app = await client.makeApp({ refresh_policy: 'rotating' })
    const tokens = await client.getTokens(alice, app)
    const successor = tokenSetOf(await there().refresh(app, tokens.refresh_token))
    await sleep(wait)
    expectFailure(await there().refresh(app, tokens.refresh_token), { rescode: 20006 })
    expectFailure(await there().refresh(app, successor.refresh_token), { rescode: 20006 })
    for (const token of [tokens.access_token, successor.access_token]) {
      expectFailure(await there().userInfo(token), { rescode: 20009 })
    }
  })
})
