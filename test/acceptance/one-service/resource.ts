import { beforeAll, describe, expect, it } from 'vitest'
import type { Browser } from '../browser.ts'
import { ALICE, type App, BOB, BOTH_SCOPES, Client, DEMO_APP, dataOf, type TokenSet, type User } from '../client.ts'
import { expectFailure, expectJson } from '../expectations.ts'
import { httpWire, queryOf } from '../http.ts'
import {
  addRaw,
  callOf,
  type Defect,
  type Draft,
  defect,
  draftOf,
  illegal,
  pairsOf,
  set,
  useMethod,
} from '../ladder.ts'
import { laterProcess, type RunningProcess, type System, sharedSystem } from '../system.ts'

/** A4 and A5 rows 1–9 (REFERENCE "A4 and A5: order of checks"). */

const DAY = 86_400
const MODES = ['200', 'native'] as const
type Mode = (typeof MODES)[number]
const RESOURCES = ['get_phonenumber', 'get_userinfo'] as const
type Resource = (typeof RESOURCES)[number]

interface World {
  readonly app: App
  readonly user: User
  readonly tokens: TokenSet
  readonly resource: Resource
}

let system: System
let client: Client
let native: Client
/** On a day after today's access tokens have expired. */
let future: Client
let futureNative: Client
let alice: Browser

const at = (running: RunningProcess | undefined): Client =>
  new Client(httpWire(running?.origin ?? ''), running?.origin ?? '')

beforeAll(async () => {
  system = await sharedSystem()
  const [one, two] = system.processes
  const [three, four] = [await laterProcess(8 * DAY), await laterProcess(8 * DAY, 'native')]
  ;[client, native, future, futureNative] = [at(one), at(two), at(three), at(four)]
  alice = await client.signedIn(ALICE)
})

const scopeFor = (resource: Resource): string => (resource === 'get_userinfo' ? 'USER_INFO' : 'PHONE_NUMBER')
const otherScope = (resource: Resource): string => (resource === 'get_userinfo' ? 'PHONE_NUMBER' : 'USER_INFO')
const EXPIRED = 'expired'
const LACKS = 'token lacks the scope'

const DEFECTS: readonly Defect<World>[] = [
  ...['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((method) =>
    defect<World>(1, method, 'method', useMethod(method), { rescode: 20010, status: 405 }),
  ),
  defect<World>(2, 'no access_token', 'access_token', set({ access_token: undefined }), illegal(/access_token/)),
  defect<World>(2, 'empty access_token', 'access_token', set({ access_token: '' }), illegal(/access_token/)),
  defect<World>(2, 'access_token twice', 'access_token raw', addRaw('&access_token=x'), illegal(/./)),
  defect<World>(2, 'undecodable', 'raw', addRaw('&x=%zz'), illegal(/./)),
  defect<World>(2, 'longer than 8 KiB', 'raw', addRaw(`&x=${'y'.repeat(8_200)}`), illegal(/./)),
  ...['nonsense', `ghat_${'A'.repeat(48)}`, 'x'.repeat(5_000), '令牌'].map((access_token) =>
    defect<World>(3, `malformed ${access_token.slice(0, 20)}`, 'access_token', set({ access_token }), {
      rescode: 20009,
    }),
  ),
  defect<World>(
    3,
    'one character changed',
    'access_token',
    (draft, { tokens }) => set({ access_token: `${tokens.access_token.slice(0, -1)}!` })(draft),
    { rescode: 20009 },
  ),
  defect<World>(
    3,
    'a refresh token',
    'access_token',
    (draft, { tokens }) => set({ access_token: tokens.refresh_token })(draft),
    { rescode: 20009 },
  ),
  defect<World>(4, EXPIRED, 'time', () => undefined, { rescode: 20020 }),
  defect<World>(5, 'revoked', 'grant', (_draft, { user }) => client.withdraw(user), { rescode: 20009 }),
  defect<World>(6, 'app suspended', 'app', (_draft, { app }) => client.suspend(app), { rescode: 20011 }),
  defect<World>(
    6,
    'app deleted',
    'app',
    async (_draft, { app }) => {
      await system.query('delete from micro_app_secret where app_key = $1', [app.app_key])
      await system.query('delete from micro_app where app_key = $1', [app.app_key])
    },
    { rescode: 20011 },
  ),
  defect<World>(
    6,
    'app lost the scope',
    'app scope',
    (_draft, { app, resource }) => client.update(app, { scopes: [otherScope(resource)] }),
    { rescode: 20011 },
  ),
  defect<World>(7, 'user blocked', 'status', (_draft, { user }) => client.block(user), { rescode: 20016 }),
  defect<World>(8, LACKS, 'scope', () => undefined, { rescode: 20004 }),
]
const NO_PHONE = defect<World>(9, 'user has no phone number', 'phone', () => undefined, {
  rescode: 20013,
  message: /^Server error$/,
  nativeStatus: 500,
})

/** An entirely valid call with a new user and app, except for defects of the user or token themselves. */
async function rightDraft(
  resource: Resource,
  defects: readonly Defect<World>[],
): Promise<{ draft: Draft; world: World }> {
  const app = await client.makeApp()
  const user = await client.makeUser(defects.includes(NO_PHONE) ? { phone_number: null } : {})
  const scope = defects.some(({ name }) => name === LACKS) ? otherScope(resource) : scopeFor(resource)
  const tokens = await client.getTokens(await client.signedIn(user), app, { scope })
  const draft = draftOf('POST', `/oauth/v2/api/resource/${resource}`, { access_token: tokens.access_token })
  return { draft, world: { app, user, tokens, resource } }
}

async function send(draft: Draft, mode: Mode, defects: readonly Defect<World>[]) {
  const { method, path } = callOf(draft)
  const expired = defects.some(({ name }) => name === EXPIRED)
  const there = mode === 'native' ? [native, futureNative] : [client, future]
  return (there[expired ? 1 : 0] ?? client).call(method, path)
}

async function failing(resource: Resource, mode: Mode, ...defects: Defect<World>[]) {
  const { draft, world } = await rightDraft(resource, defects)
  for (const { breakIt } of [...defects].reverse()) await breakIt(draft, world)
  return send(draft, mode, defects)
}

describe.each(MODES)('a call that is wrong in one place, statuses %s', (mode) => {
  describe.each(RESOURCES)('%s', (resource) => {
    it.each(DEFECTS)('row $row: $name', async (wrong) => {
      const answer = await failing(resource, mode, wrong)
      expectFailure(answer, { ...wrong.failure, mode })
      if (wrong.failure.status === 405) expect(answer.headers.allow).toBe('POST')
    })
  })

  it('row 9: a user without a phone number', async () => {
    const answer = await failing('get_phonenumber', mode, NO_PHONE)
    expectFailure(answer, { ...NO_PHONE.failure, mode })
  })
})

describe('of two failures the earlier row answers', () => {
  const representatives = DEFECTS.filter(
    ({ row, name }, index) =>
      DEFECTS.findIndex((other) => other.row === row) === index ||
      name === 'app lost the scope' ||
      name.startsWith('longer'),
  )
  it.each(pairsOf([...representatives, NO_PHONE]))('$name', async ({ first, second }) => {
    expectFailure(await failing('get_phonenumber', '200', first, second), first.failure)
  })
})

describe('get_phonenumber', () => {
  it('answers with only the phone number', async () => {
    const { access_token } = await client.getTokens(alice, DEMO_APP, { scope: 'PHONE_NUMBER' })
    const answer = await client.phone(access_token)
    expectJson(answer)
    expect(answer.status).toBe(200)
    expect(JSON.parse(answer.text)).toEqual({ rescode: 0, data: { phone_number: '13800000001' } })
  })
})

describe('get_userinfo', () => {
  it('answers with uinfo: gender and user_id as text, cid as a number', async () => {
    const { access_token } = await client.getTokens(alice, DEMO_APP, { scope: 'USER_INFO' })
    const answer = await client.userInfo(access_token)
    expectJson(answer)
    const { uinfo } = dataOf(answer) as { uinfo: Record<string, unknown> }
    expect(Object.keys(uinfo).sort()).toEqual(['big_avatar_url', 'cid', 'gender', 'name', 'user_id'])
    expect(uinfo).toMatchObject({ cid: 1, user_id: '10001', gender: '2' })
    expect(typeof uinfo.name).toBe('string')
    expect(uinfo.big_avatar_url).toMatch(/^https?:\/\//)
  })

  it('distinguishes users with the same user_id and different cid', async () => {
    const app = await client.makeApp()
    const one = await client.makeUser({ cid: 101, user_id: 'same', name: 'One', phone_number: '13900000101' })
    const two = await client.makeUser({ cid: 102, user_id: 'same', name: 'Two', phone_number: '13900000102' })
    for (const [user, name, phone] of [
      [one, 'One', '13900000101'],
      [two, 'Two', '13900000102'],
    ] as const) {
      const tokens = await client.getTokens(await client.signedIn(user), app)
      expect(dataOf(await client.userInfo(tokens.access_token)).uinfo).toMatchObject({ name, cid: user.cid })
      expect(dataOf(await client.phone(tokens.access_token))).toEqual({ phone_number: phone })
    }
    await client.block(one)
    const tokens = await client.getTokens(await client.signedIn(two), app)
    dataOf(await client.userInfo(tokens.access_token))
  })

  it('returns names exactly as stored, with markup and emoji', async () => {
    const name = '<b>名字</b> 😀 "quoted"'
    const user = await client.makeUser({ name, gender: '1' })
    const tokens = await client.getTokens(await client.signedIn(user), await client.makeApp())
    expect(dataOf(await client.userInfo(tokens.access_token)).uinfo).toMatchObject({ name, gender: '1' })
  })
})

describe('an access token', () => {
  it('serves both resources any number of times when both scopes were granted', async () => {
    const { access_token } = await client.getTokens(await client.signedIn(BOB), DEMO_APP, { scope: BOTH_SCOPES })
    for (let times = 0; times < 3; times++) {
      expect(dataOf(await client.phone(access_token))).toEqual({ phone_number: '13800000002' })
      expect(dataOf(await client.userInfo(access_token)).uinfo).toMatchObject({ user_id: '10002', gender: '1' })
    }
  })

  it('is read only from the query', async () => {
    const { access_token } = await client.getTokens(alice, DEMO_APP)
    const path = '/oauth/v2/api/resource/get_userinfo'
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const missing = { rescode: 20007, message: /access_token/ }
    expectFailure(await client.call('POST', path, form, queryOf({ access_token })), missing)
    expectFailure(await client.call('POST', path, { authorization: `Bearer ${access_token}` }), missing)
    const withBody = await client.call('POST', `${path}?${queryOf({ access_token })}`, form, 'access_token=other')
    dataOf(withBody)
  })

  it('whose app has lost one scope still serves the other', async () => {
    const app = await client.makeApp()
    const { access_token } = await client.getTokens(alice, app)
    await client.update(app, { scopes: ['USER_INFO'] })
    dataOf(await client.userInfo(access_token))
    expectFailure(await client.phone(access_token), { rescode: 20011 })
  })

  it('works again when the app is approved or the user unblocked again', async () => {
    const [app, user] = [await client.makeApp(), await client.makeUser()]
    const { access_token } = await client.getTokens(await client.signedIn(user), app)
    await client.suspend(app)
    expectFailure(await client.userInfo(access_token), { rescode: 20011 })
    await client.approve(app)
    dataOf(await client.userInfo(access_token))
    await client.block(user)
    expectFailure(await client.userInfo(access_token), { rescode: 20016 })
    await client.unblock(user)
    dataOf(await client.userInfo(access_token))
  })

  it('that the database does not hold is invalid, and after its lifetime is still reported as expired', async () => {
    const [app, user] = [await client.makeApp(), await client.makeUser()]
    const { access_token } = await client.getTokens(await client.signedIn(user), app)
    await system.query(
      'delete from access_token where grant_id in (select grant_id from user_grant where user_id = $1)',
      [user.user_id],
    )
    expectFailure(await client.userInfo(access_token), { rescode: 20009 })
    expectFailure(await future.userInfo(access_token), { rescode: 20020 })
  })
})
