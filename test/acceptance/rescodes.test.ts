import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RESCODES } from '../../src/lib/web/rescode.ts'
import type { Browser } from './browser.ts'
import { ALICE, Client, DEMO_APP, envelopeOf, MALLORY, PENDING_APP, PHONE_ONLY_APP } from './client.ts'
import { ERROR_TABLE } from './expectations.ts'
import { signInForm, visibleText } from './form.ts'
import { type Answer, httpWire } from './http.ts'
import { type RunningProcess, type System, startSystem } from './system.ts'

/** The error codes of area A: every one can be reached, and the three lists of them say the same. */

/** The contract's names, copied (DECISIONS "Errors of area A"). */
const SOURCE: Readonly<Record<number, string>> = {
  20001: 'BadClientCredentialsException',
  20002: 'ClientAuthenticationException',
  20003: 'ForbiddenException',
  20004: 'InsufficientScopeException',
  20005: 'InvalidClientException',
  20006: 'InvalidGrantException',
  20007: 'InvalidRequestException',
  20008: 'InvalidScopeException',
  20009: 'InvalidTokenException',
  20010: 'MethodNotAllowed',
  20011: 'OAuth2AccessDeniedException',
  20012: 'RedirectMismatchException',
  20013: 'ServerErrorException',
  20014: 'UnauthorizedClientException',
  20015: 'UnauthorizedException',
  20016: 'UnauthorizedUserException',
  20017: 'UnsupportedGrantTypeException',
  20018: 'UnsupportedResponseTypeException',
  20019: 'UserDeniedAuthorizationException',
  20020: 'ExpiredAccessTokenException',
  20021: 'ExpiredRefreshTokenException',
}

/** The contract's statuses and messages, copied (DECISIONS "Errors of area A"). */
const DECISIONS: Readonly<Record<number, readonly [status: string, message: string]>> = {
  20001: ['401', 'Bad client credentials'],
  20002: ['401', 'Client authentication failed'],
  20003: ['403', 'Request forbidden'],
  20004: ['403', 'Insufficient scope'],
  20005: ['401', 'Invalid client'],
  20006: ['400', 'Invalid grant'],
  20007: ['400', 'Invalid request: *what*'],
  20008: ['400', 'Invalid scope: *which*'],
  20009: ['401', 'Invalid access token'],
  20010: ['405', 'Method not allowed'],
  20011: ['403', 'Access denied'],
  20012: ['400', 'Redirect URI mismatch'],
  20013: ['500 (400 for a code)', 'Server error, or `Invalid authorization code: <code>`'],
  20014: ['401', 'Micro-application not yet trusted'],
  20015: ['401', 'Unauthorized'],
  20016: ['401', 'User not yet trusted'],
  20017: ['400', 'Unsupported grant type: *what*; use authorization_code or refresh_token'],
  20018: ['400', 'Unsupported response type: *what*; use code'],
  20019: ['400', 'User denied authorization'],
  20020: ['401', 'Access token expired'],
  20021: ['400', 'Invalid refresh token (expired)'],
}

describe('the lists of error codes say the same', () => {
  const codes = Object.keys(SOURCE)

  it('the code and the contract', () => {
    expect(Object.keys(RESCODES)).toEqual(codes)
    for (const [code, name] of Object.entries(SOURCE)) {
      expect(RESCODES[Number(code) as keyof typeof RESCODES].name).toBe(name)
    }
  })

  it('the code and the decisions', () => {
    expect(Object.keys(DECISIONS)).toEqual(codes)
    for (const [code, [status, message]] of Object.entries(DECISIONS)) {
      const row = RESCODES[Number(code) as keyof typeof RESCODES]
      expect(String(row.status)).toBe(status.slice(0, 3))
      expect(message.startsWith(row.message), `${code}: ${row.message}`).toBe(true)
    }
  })

  it('the code and the document', () => {
    const document = readFileSync(new URL('../../.github/DECISIONS.md', import.meta.url), 'utf8')
    const rows = [...document.matchAll(/^\|\s*(2\d{4})\s*\|(.*)\|\s*$/gm)].map(
      ([, code = '', rest = '']) => [code, rest] as const,
    )
    expect(rows.map(([code]) => code)).toEqual(codes)
    for (const [code, rest] of rows) {
      const { name, status, message } = RESCODES[Number(code) as keyof typeof RESCODES]
      expect(rest, code).toContain(name)
      expect(rest, code).toContain(String(status))
      expect(rest.replace(/[*_`<>\\]/g, ''), code).toContain(message.replace(/[*_`<>\\]/g, ''))
    }
  })

  it('and so does what these tests expect', () => {
    expect(Object.keys(ERROR_TABLE)).toEqual(codes)
  })
})

describe('every error code is reached', () => {
  let system: System
  let client: Client
  let future: Client
  let strict: Client
  let alice: Browser

  const at = (running: RunningProcess | undefined): Client =>
    new Client(httpWire(running?.origin ?? ''), running?.origin ?? '')

  beforeAll(async () => {
    system = await startSystem({}, { TEST_CLOCK_OFFSET_S: String(8 * 86_400) }, { CLIENT_FAILURES: '1' })
    const [one, two, three] = system.processes
    ;[client, future, strict] = [at(one), at(two), at(three)]
    alice = await client.signedIn(ALICE)
  })
  afterAll(() => system?.stop())

  const authorize = (changes: Record<string, string | undefined>): Promise<Answer> =>
    client.call('GET', client.authorizePath(client.request(DEMO_APP, changes)), { accept: 'application/json' })

  const basicHeader = (authorization: string): Promise<Answer> => {
    const path = '/oauth/v2/api/token?app_key=demo-app&app_secret=demo-secret-for-local-use-only&grant_type=x'
    return client.call('POST', path, { authorization })
  }

  /** One way to reach each code; the answer that shows it, or its number when it shows elsewhere. */
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
      const form = await client.consentFormFor(alice, client.request(DEMO_APP))
      await alice.submit(form, { decision: 'refuse' })
      const events = await system.query('select * from audit_event where app_key is not null order by at desc limit 1')
      return Number(/20019/.exec(JSON.stringify(events))?.[0])
    },
    20020: async () => future.userInfo((await client.getTokens(alice, DEMO_APP)).access_token),
    20021: async () => {
      const app = await client.makeApp({ refresh_days: 7 })
      return future.refresh(app, (await client.getTokens(alice, app)).refresh_token)
    },
  }
  const reached = new Set<number>()

  it.each(Object.keys(SOURCE).map(Number))('%i', async (rescode) => {
    const shown = await WAYS[rescode]?.()
    const found = typeof shown === 'object' ? envelopeOf(shown).rescode : shown
    expect(found).toBe(rescode)
    reached.add(rescode)
  })

  it('and none was left out', () => {
    expect([...reached].sort()).toEqual(Object.keys(SOURCE).map(Number))
  })

  it('20016 meets the blocked demo user at the sign-in', async () => {
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
    system = await startSystem({})
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
