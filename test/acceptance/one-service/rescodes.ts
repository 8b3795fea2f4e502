import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Browser } from '../browser.ts'
import { ALICE, Client, DEMO_APP, envelopeOf, MALLORY, PENDING_APP, PHONE_ONLY_APP } from '../client.ts'
import { ERROR_TABLE } from '../expectations.ts'
import { signInForm, visibleText } from '../form.ts'
import { type Answer, httpWire } from '../http.ts'
import { laterProcess, type RunningProcess, type System, sharedSystem } from '../system.ts'

/** The contract's list of error codes (REFERENCE "Errors of area A") has no gaps. */
const RESCODES = Array.from({ length: 21 }, (_, index) => 20001 + index)

describe('every error code of area A can be reached:', () => {
  let system: System
  let client: Client
  let future: Client
  let strict: Client
  let limited: RunningProcess
  let alice: Browser

  const at = (running: RunningProcess | undefined): Client =>
    new Client(httpWire(running?.origin ?? ''), running?.origin ?? '')

  beforeAll(async () => {
    system = await sharedSystem()
    limited = await system.add({ CLIENT_FAILURES: '1', DEMO: 'off', JOBS: 'off' })
    ;[client, future, strict] = [at(system.processes[0]), at(await laterProcess(8 * 86_400)), at(limited)]
    alice = await client.signedIn(ALICE)
  })
  afterAll(() => limited?.stop())

  const authorize = (changes: Record<string, string | undefined>): Promise<Answer> =>
    client.call('GET', client.authorizePath(client.request(DEMO_APP, changes)), { accept: 'application/json' })

  const basicHeader = (authorization: string): Promise<Answer> => {
    const path = '/oauth/v2/api/token?app_key=demo-app&app_secret=demo-secret-for-local-use-only&grant_type=x'
    return client.call('POST', path, { authorization })
  }

  /** One way to reach each code: the answer that shows it, or the code itself if it shows elsewhere. */
  const WAYS: Readonly<Record<number, () => Promise<Answer | number>>> = {
    20001: () => client.refresh(DEMO_APP, 'x', { app_secret: 'wrong' }),
    20002: () => basicHeader('Basic not-base64!'),
    20003: async () => {
      await strict.refresh(PHONE_ONLY_APP, 'x', { app_secret: 'wrong' })
      return strict.refresh(PHONE_ONLY_APP, 'x', { app_secret: 'wrong' })
    },
    20004: () => authorize({ app_key: PHONE_ONLY_APP.app_key, scope: 'USER_INFO' }),
    20005: () => basicHeader(`Basic ${btoa('demo-app:another')}`),
    20006: () => client.refresh(DEMO_APP, 'unknown'),
    20007: () => authorize({ state: undefined }),
    20008: () => authorize({ scope: 'EMAIL' }),
    20009: () => client.userInfo('unknown'),
    20010: () => client.call('GET', '/oauth/v2/api/token'),
    20011: async () => {
      const app = await client.makeApp()
      const { access_token } = await client.getTokens(alice, app)
      await client.suspend(app)
      return client.userInfo(access_token)
    },
    20012: () => authorize({ redirect_uri: 'https://evil.example.com/' }),
    20013: () => client.exchange(DEMO_APP, { code: 'unknown', state: 's' }),
    20014: () => client.refresh(PENDING_APP, 'x'),
    20015: () => client.call('GET', '/admin/v1/apps', { authorization: 'Bearer wrong' }),
    20016: async () => {
      const user = await client.makeUser()
      const { access_token } = await client.getTokens(await client.signedIn(user), DEMO_APP)
      await client.block(user)
      return client.userInfo(access_token)
    },
    20017: () => client.refresh(DEMO_APP, 'x', { grant_type: 'password' }),
    20018: () => authorize({ response_type: 'token' }),
    20019: async () => {
      const app = await client.makeApp()
      const form = await client.consentFormFor(alice, client.request(app))
      await alice.submit(form, { decision: 'refuse' })
      const events = await system.query('select * from audit_event where app_key = $1', [app.app_key])
      return Number(/20019/.exec(JSON.stringify(events))?.[0])
    },
    20020: async () => future.userInfo((await client.getTokens(alice, DEMO_APP)).access_token),
    20021: async () => {
      const app = await client.makeApp({ refresh_days: 7 })
      return future.refresh(app, (await client.getTokens(alice, app)).refresh_token)
    },
  }
  const reached = new Set<number>()

  it.each(RESCODES)('%i', async (rescode) => {
    const shown = await WAYS[rescode]?.()
    const found = typeof shown === 'object' ? envelopeOf(shown).rescode : shown
    expect(found).toBe(rescode)
    reached.add(rescode)
  })

  it('no code is left out', () => {
    expect([...reached].sort()).toEqual(RESCODES)
    expect(Object.keys(ERROR_TABLE).map(Number)).toEqual(RESCODES)
  })

  it('the blocked demo user gets 20016 at sign-in', async () => {
    const browser = client.newBrowser()
    const page = await browser.open(client.authorizePath(client.request(DEMO_APP)))
    const form = signInForm(page.text)
    expect(form).toBeDefined()
    if (!form) return
    const answer = await browser.follow(await browser.submit(form, MALLORY))
    expect(visibleText(answer.text)).toMatch(/20016|blocked/i)
  })
})

describe('the admin routes', () => {
  let system: System
  let client: Client

  beforeAll(async () => {
    system = await sharedSystem()
    client = new Client(httpWire(system.origin), system.origin)
  })
  afterAll(() => system?.stop())

  it.each([
    ['no token', {}],
    ['a wrong token', { authorization: 'Bearer wrong' }],
    ['an empty token', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: 'Basic acceptance-tests-only-admin-token' }],
    ['a token one letter short', { authorization: 'Bearer acceptance-tests-only-admin-toke' }],
  ])('answer 20015 to %s', async (_name, headers) => {
    for (const [method, path] of [
      ['GET', '/admin/v1/apps'],
      ['POST', '/admin/v1/apps'],
      ['POST', '/admin/v1/users'],
      ['GET', '/admin/v1/grants?cid=1&user_id=10001'],
      ['POST', '/admin/v1/apps/demo-app/suspend'],
    ] as const) {
      const answer = await client.call(method, path, headers as Record<string, string>)
      expect(envelopeOf(answer).rescode, `${method} ${path}`).toBe(20015)
    }
  })
})
