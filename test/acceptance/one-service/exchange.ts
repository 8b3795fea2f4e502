import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Browser } from '../browser.ts'
import { ALICE, type App, BOTH_SCOPES, Client, dataOf, newState, pkcePair, tokenSetOf, type User } from '../client.ts'
import { expectFailure, expectJson } from '../expectations.ts'
import { consentForm, type Form } from '../form.ts'
import { httpWire, queryOf } from '../http.ts'
import { callOf, type Defect, type Draft, defect, draftOf, illegal, pairsOf, set } from '../ladder.ts'
import { laterProcess, type System, sharedSystem } from '../system.ts'
import { basic, clientDefects, representativesOf, type TokenWorld } from '../token-ladder.ts'

/** A2 rows 1–15 (REFERENCE "A2: order of checks"); row 7 and other windows are in area-a-settings.ts. */

const PATH = '/oauth/v2/api/token'
const MODES = ['200', 'native'] as const
type Mode = (typeof MODES)[number]

interface World extends TokenWorld {
  readonly client: Client
  readonly user: User
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
})
afterAll(() => system?.stop())

const clientFor = (mode: Mode): Client => (mode === 'native' ? native : client)

/** An entirely valid exchange of a new code, with PKCE. */
async function rightDraft(user: User = ALICE): Promise<Draft> {
  const browser = user === ALICE ? alice : await client.signedIn(user)
  const { verifier, challenge } = pkcePair()
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
  const consented = await client.getCode(browser, apps.app, pkce)
  return draftOf('POST', PATH, client.exchangeParameters(apps.app, consented, { code_verifier: verifier }))
}

const send = (draft: Draft, mode: Mode = '200') => {
  const { method, path, headers, body } = callOf(draft)
  return clientFor(mode).call(method, path, headers as Record<string, string>, body)
}

const INVALID_CODE = (code: string) => ({
  rescode: 20013,
  message: `Invalid authorization code: ${code}`,
  nativeStatus: 400,
})
const ELSEWHERE = 'https://app.example.com/elsewhere'

const DEFECTS: readonly Defect<World>[] = [
  ...clientDefects<World>(),
  ...['code', 'state', 'redirect_uri'].flatMap((name) => [
    defect<World>(9, `no ${name}`, name, set({ [name]: undefined }), illegal(new RegExp(name))),
    defect<World>(9, `empty ${name}`, name, set({ [name]: '' }), illegal(new RegExp(name))),
  ]),
  ...['nonsense', `ghac_${'A'.repeat(48)}`, 'ghac_', "x' or '1'='1"].map((code) =>
    defect<World>(10, `unknown code ${code}`, 'code', set({ code }), INVALID_CODE(code)),
  ),
  ...[`${'c'.repeat(40)}`, ELSEWHERE, 'https://app.example.com/callback/', 'https://app.example.com/callback?'].map(
    (redirect_uri) =>
      defect<World>(11, `redirect_uri ${redirect_uri}`, 'redirect_uri', set({ redirect_uri }), { rescode: 20012 }),
  ),
  defect<World>(
    11,
    'redirect_uri in upper case',
    'redirect_uri',
    set({ redirect_uri: 'https://APP.example.com/callback' }),
    { rescode: 20012 },
  ),
  defect<World>(12, 'another state', 'state', set({ state: 'another' }), illegal(/state/)),
  defect<World>(13, 'no code_verifier', 'code_verifier', set({ code_verifier: undefined }), { rescode: 20006 }),
  defect<World>(13, 'wrong code_verifier', 'code_verifier', set({ code_verifier: 'w'.repeat(43) }), { rescode: 20006 }),
  defect<World>(14, 'user blocked', 'status', (_draft, { client: here, user }) => here.block(user), { rescode: 20016 }),
  defect<World>(15, 'grant withdrawn', 'grant', (_draft, { client: here, user }) => here.withdraw(user), {
    rescode: 20006,
  }),
]
const needsOwnUser = (...defects: Defect<World>[]) => defects.some(({ row }) => row >= 14)

describe.each(MODES)('an exchange that is wrong in one place, statuses %s', (mode) => {
  it.each(DEFECTS)('row $row: $name', async (wrong) => {
    const user = needsOwnUser(wrong) ? await client.makeUser() : ALICE
    const draft = await rightDraft(user)
    await wrong.breakIt(draft, { ...apps, client, user })
    const answer = await send(draft, mode)
    expectFailure(answer, { ...wrong.failure, mode })
    if (wrong.failure.status === 405) expect(answer.headers.allow).toBe('POST')
  })
})

describe('of two failures the earlier row answers', () => {
  it.each(pairsOf(representativesOf(DEFECTS)))('$name', async ({ first, second }) => {
    const user = needsOwnUser(first, second) ? await client.makeUser() : ALICE
    const draft = await rightDraft(user)
    await second.breakIt(draft, { ...apps, client, user })
    await first.breakIt(draft, { ...apps, client, user })
    expectFailure(await send(draft), first.failure)
  })
})

describe('a valid exchange', () => {
  it('answers with the token set', async () => {
    const answer = await send(await rightDraft())
    expectJson(answer)
    const tokens = tokenSetOf(answer)
    expect(Object.keys(tokens).sort()).toEqual(['access_token', 'expires_in', 'refresh_token', 'scope', 'token_type'])
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: BOTH_SCOPES })
    expect(Number.isInteger(tokens.expires_in)).toBe(true)
    expect(tokens.expires_in).toBeGreaterThan(604_790)
    expect(tokens.expires_in).toBeLessThanOrEqual(604_800)
    for (const token of [tokens.access_token, tokens.refresh_token]) expect(token).toMatch(/^[\w.~-]{32,}$/)
    expect(tokens.access_token).not.toBe(tokens.refresh_token)
    dataOf(await client.userInfo(tokens.access_token))
    dataOf(await client.phone(tokens.access_token))
  })

  it.each([
    ['USER_INFO', 'USER_INFO'],
    ['PHONE_NUMBER USER_INFO', 'PHONE_NUMBER USER_INFO'],
    ['USER_INFO PHONE_NUMBER', 'USER_INFO PHONE_NUMBER'],
    ['PHONE_NUMBER USER_INFO PHONE_NUMBER', 'PHONE_NUMBER USER_INFO'],
    [' USER_INFO  PHONE_NUMBER ', 'USER_INFO PHONE_NUMBER'],
  ])('lists the scopes of "%s" in the requested order, without duplicates', async (scope, expected) => {
    expect((await client.getTokens(alice, apps.app, { scope })).scope).toBe(expected)
  })

  it('reads + in the scope as a space', async () => {
    const parameters = client.request(apps.app, { scope: undefined })
    const page = await alice.open(`${client.authorizePath(parameters)}&scope=PHONE_NUMBER+USER_INFO`)
    const answer = await alice.submit(consentForm(page.text) as Form, { decision: 'approve' })
    const location = new URL(String(answer.headers.location))
    const consented = { code: location.searchParams.get('code') ?? '', state: parameters.state ?? '' }
    expect(tokenSetOf(await client.exchange(apps.app, consented)).scope).toBe('PHONE_NUMBER USER_INFO')
  })

  it('needs no PKCE when A1 had no challenge, and then refuses a verifier', async () => {
    tokenSetOf(await client.exchange(apps.app, await client.getCode(alice, apps.app)))
    const consented = await client.getCode(alice, apps.app)
    const withVerifier = await client.exchange(apps.app, consented, { code_verifier: 'v'.repeat(43) })
    expectFailure(withVerifier, { rescode: 20006 })
    tokenSetOf(await client.exchange(apps.app, consented))
  })

  it('ignores unknown parameters, and the order of known ones', async () => {
    const draft = await rightDraft()
    draft.parameters = Object.fromEntries(Object.entries({ ...draft.parameters, foo: 'bar', 中: '文' }).reverse())
    tokenSetOf(await send(draft))
  })

  it('ignores a body, whatever it contains', async () => {
    for (const [type, body] of [
      ['application/x-www-form-urlencoded', 'app_secret=wrong&code=wrong&grant_type=wrong'],
      ['application/json', '{"app_secret":"wrong"'],
      ['text/plain', 'hello'],
      ['application/octet-stream', '\u0000'],
      ['json', '{}'],
      ['', ''],
      ['utf-8', ''],
    ] as const) {
      const draft = await rightDraft()
      draft.headers['content-type'] = type
      draft.body = body
      tokenSetOf(await send(draft))
    }
  })

  it('works for each of several codes of the same app and user', async () => {
    const codes = [await client.getCode(alice, apps.app), await client.getCode(alice, apps.app)]
    expect(codes[0]?.code).not.toBe(codes[1]?.code)
    for (const consented of codes.reverse()) tokenSetOf(await client.exchange(apps.app, consented))
  })
})

describe('parameters in the body', () => {
  it('are not read, and the message says where they go', async () => {
    const { parameters } = await rightDraft()
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await client.call('POST', PATH, form, queryOf(parameters))
    expectFailure(answer, { rescode: 20001, message: /query/ })
    const json = { 'content-type': 'application/json' }
    expectFailure(await client.call('POST', PATH, json, JSON.stringify(parameters)), {
      rescode: 20001,
      message: /query/,
    })
    tokenSetOf(await client.call('POST', `${PATH}?${queryOf(parameters)}`))
  })
})

describe('Authorization: Basic', () => {
  const withHeader = async (authorization: string, changes: Record<string, string | undefined> = {}) => {
    const draft = await rightDraft()
    Object.assign(draft.parameters, changes)
    draft.headers.authorization = authorization
    return send(draft)
  }

  it('may repeat the credentials of the query', async () => {
    const { app_key, app_secret } = apps.app
    tokenSetOf(await withHeader(basic(app_key, app_secret)))
    tokenSetOf(await withHeader(basic(app_key, app_secret).replace('Basic', 'basic')))
    tokenSetOf(await withHeader(basic(app_key, app_secret).replace('Basic', 'BASIC')))
  })

  it('may replace the credentials of the query', async () => {
    const { app_key, app_secret } = apps.app
    tokenSetOf(await withHeader(basic(app_key, app_secret), { app_key: undefined, app_secret: undefined }))
    const wrong = await withHeader(basic(app_key, 'wrong'), { app_key: undefined, app_secret: undefined })
    expectFailure(wrong, { rescode: 20001 })
  })

  it('of another scheme is ignored', async () => {
    tokenSetOf(await withHeader('Bearer whatever'))
    tokenSetOf(await withHeader('Digest x="y"'))
  })

  it('does not make up for a wrong secret in the query', async () => {
    const { app_key, app_secret } = apps.app
    expectFailure(await withHeader(basic(app_key, app_secret), { app_secret: 'wrong' }), { rescode: 20001 })
  })
})

describe('rows 11 to 13: a mismatch', () => {
  const MISMATCHES = { redirect_uri: ELSEWHERE, state: 'another', code_verifier: 'w'.repeat(43) }

  it.each(Object.entries(MISMATCHES))('of %s does not spend the code', async (name, value) => {
    const draft = await rightDraft()
    const right = draft.parameters
    for (let tries = 0; tries < 2; tries++) {
      draft.parameters = { ...right, [name]: value }
      expect((await send(draft)).text).not.toContain('"rescode":0')
    }
    draft.parameters = right
    tokenSetOf(await send(draft))
  })

  it('for the third time spends the code', async () => {
    const draft = await rightDraft()
    const right = draft.parameters
    const expected = [20012, 20007, 20006]
    for (const [index, [name, value]] of Object.entries(MISMATCHES).entries()) {
      draft.parameters = { ...right, [name]: value }
      expectFailure(await send(draft), { rescode: expected[index] ?? 0 })
    }
    draft.parameters = right
    expectFailure(await send(draft), INVALID_CODE(right.code ?? ''))
  })

  it('for the third time, of many at once, spends the code too', async () => {
    const draft = await rightDraft()
    const right = draft.parameters
    draft.parameters = { ...right, state: 'another' }
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(draft)))
    expect(answers.filter(({ text }) => text.includes('"rescode":20007')).length).toBeLessThanOrEqual(3)
    draft.parameters = right
    expectFailure(await send(draft), INVALID_CODE(right.code ?? ''))
  })

  it('does not count when another app sends the code', async () => {
    const consented = await client.getCode(alice, apps.app)
    for (let tries = 0; tries < 5; tries++) {
      expectFailure(await client.exchange(apps.other, consented), INVALID_CODE(consented.code))
    }
    tokenSetOf(await client.exchange(apps.app, consented))
  })
})

describe('row 10: the message', () => {
  it('names the code, truncated and without control characters', async () => {
    const answer = await client.exchange(apps.app, { code: `x\u0001\n\u001b\u2028${'c'.repeat(1_000)}`, state: 's' })
    expectFailure(answer, { rescode: 20013, message: /^Invalid authorization code: xc{127}$/ })
  })

  it('is the same for an unknown code, a used one and one of another app', async () => {
    const used = await client.getCode(alice, apps.app)
    tokenSetOf(await client.exchange(apps.app, used))
    const others = await client.getCode(alice, apps.other)
    for (const consented of [{ code: 'unknown', state: newState() }, used, others]) {
      expectFailure(await client.exchange(apps.app, consented), INVALID_CODE(consented.code))
    }
  })

  it.each([
    [240, 0],
    [301, 20013],
  ])('%i seconds after the consent, the rescode is %i', async (seconds, rescode) => {
    const later = await laterProcess(seconds)
    const consented = await client.getCode(alice, apps.app)
    const answer = await new Client(httpWire(later.origin), later.origin).exchange(apps.app, consented)
    if (rescode === 0) tokenSetOf(answer)
    else expectFailure(answer, INVALID_CODE(consented.code))
  })
})

describe('a code sent again', () => {
  const events = async (app: App) =>
    system.query("select * from audit_event where app_key = $1 and event <> 'consent' order by at", [app.app_key])
  const isAlive = async (token: string) => (await client.userInfo(token)).text.startsWith('{"rescode":0')

  it('within the window is refused, and nothing else happens', async () => {
    const app = await client.makeApp()
    const consented = await client.getCode(alice, app)
    const tokens = tokenSetOf(await client.exchange(app, consented))
    const before = await events(app)
    for (let tries = 0; tries < 5; tries++) {
      expectFailure(await client.exchange(app, consented), INVALID_CODE(consented.code))
    }
    expect(await isAlive(tokens.access_token)).toBe(true)
    tokenSetOf(await client.refresh(app, tokens.refresh_token))
    expect(await events(app)).toEqual(before)
  })

  it('within the window with a wrong state is refused, and nothing else happens', async () => {
    const app = await client.makeApp()
    const consented = await client.getCode(alice, app)
    const tokens = tokenSetOf(await client.exchange(app, consented))
    expectFailure(await client.exchange(app, consented, { state: 'another' }), INVALID_CODE(consented.code))
    expect(await isAlive(tokens.access_token)).toBe(true)
  })

  it('by another app is refused, and the grant is revoked', async () => {
    const [app, other] = [await client.makeApp(), await client.makeApp()]
    const consented = await client.getCode(alice, app)
    const tokens = tokenSetOf(await client.exchange(app, consented))
    expectFailure(await client.exchange(other, consented), INVALID_CODE(consented.code))
    expectFailure(await client.userInfo(tokens.access_token), { rescode: 20009 })
    expectFailure(await client.refresh(app, tokens.refresh_token), { rescode: 20006 })
  })

  it('after the code has expired still revokes the grant', async () => {
    const app = await client.makeApp()
    const consented = await client.getCode(alice, app)
    const tokens = tokenSetOf(await client.exchange(app, consented))
    const later = await laterProcess(400)
    const there = new Client(httpWire(later.origin), later.origin)
    expectFailure(await there.exchange(app, consented), INVALID_CODE(consented.code))
    expectFailure(await there.userInfo(tokens.access_token), { rescode: 20009 })
  })

  it('leaves the other grants of the user alone', async () => {
    const app = await client.makeApp()
    const [one, two] = [await client.getCode(alice, app), await client.getCode(alice, app)]
    const tokens = tokenSetOf(await client.exchange(app, one))
    tokenSetOf(await client.exchange(app, two))
    expectFailure(await client.exchange(apps.other, two), INVALID_CODE(two.code))
    expect(await isAlive(tokens.access_token)).toBe(true)
  })
})

describe('rotated app secrets', () => {
  it('both work during the overlap, the old one not after it', async () => {
    const app = await client.makeApp()
    const rotated = await client.admin('POST', `/apps/${app.app_key}/rotate-secret`, { overlap_s: 600 })
    const renewed = { ...app, app_secret: String(rotated.app_secret) }
    tokenSetOf(await client.exchange(app, await client.getCode(alice, app)))
    tokenSetOf(await client.exchange(renewed, await client.getCode(alice, app)))
    const later = await laterProcess(601)
    const there = new Client(httpWire(later.origin), later.origin)
    expectFailure(await there.refresh(app, 'x'), { rescode: 20001 })
    expectFailure(await there.refresh(renewed, 'x'), { rescode: 20006 })
  })
})

describe('row 16: an app that has lost a scope since the consent', () => {
  it('gets the remaining scopes, in the requested order', async () => {
    const app = await client.makeApp()
    const browser = await client.signedIn(await client.makeUser(), app)
    const asked = await client.getCode(browser, app, { scope: 'PHONE_NUMBER USER_INFO' })
    const whole = tokenSetOf(await client.exchange(app, asked))
    expect(whole.scope).toBe('PHONE_NUMBER USER_INFO')
    const consented = await client.getCode(browser, app)
    await client.update(app, { scopes: ['USER_INFO'] })
    const narrower = tokenSetOf(await client.exchange(app, consented))
    expect(narrower.scope).toBe('USER_INFO')
    dataOf(await client.userInfo(narrower.access_token))
    expectFailure(await client.phone(narrower.access_token), { rescode: 20004 })
    // A token that was issued before the app lost the scope is refused with another code.
    expectFailure(await client.phone(whole.access_token), { rescode: 20011 })
    expect(tokenSetOf(await client.refresh(app, narrower.refresh_token)).scope).toBe('USER_INFO')
  })

  it('gets no token when no scope is left, and its code is not spent', async () => {
    const app = await client.makeApp()
    const browser = await client.signedIn(await client.makeUser(), app)
    const consented = await client.getCode(browser, app, { scope: 'USER_INFO' })
    await client.update(app, { scopes: ['PHONE_NUMBER'] })
    expectFailure(await client.exchange(app, consented), { rescode: 20004 })
    expectFailure(await client.exchange(app, consented, { state: 'another' }), illegal(/state/))
    await client.update(app, { scopes: ['PHONE_NUMBER', 'USER_INFO'] })
    expect(tokenSetOf(await client.exchange(app, consented)).scope).toBe('USER_INFO')
  })

  it('is refused for a withdrawn grant or a blocked user first', async () => {
    for (const [undo, rescode] of [
      [(user: User) => client.withdraw(user), 20006],
      [(user: User) => client.block(user), 20016],
    ] as const) {
      const [app, user] = [await client.makeApp(), await client.makeUser()]
      const consented = await client.getCode(await client.signedIn(user, app), app, { scope: 'USER_INFO' })
      await client.update(app, { scopes: ['PHONE_NUMBER'] })
      await undo(user)
      expectFailure(await client.exchange(app, consented), { rescode })
    }
  })
})
