import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CORPUS_APPS, REDIRECT_CORPUS } from '../../redirect-corpus.ts'
import { type App, Client } from '../client.ts'
import { expectedStatus, expectFailure, expectHeaders } from '../expectations.ts'
import { signInForm, visibleText } from '../form.ts'
import { type Answer, header, httpWire, queryOf } from '../http.ts'
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
  setRaw,
  useMethod,
} from '../ladder.ts'
import { type System, sharedSystem } from '../system.ts'

/** A1 rows 1–10 (REFERENCE "A1: order of checks"). */

const PATH = '/oauth/v2/authorize'
const MODES = ['200', 'native'] as const

interface World {
  readonly app: App
  /** Approved, but holds PHONE_NUMBER alone. */
  readonly phoneOnly: App
  /** Not approved, and holds PHONE_NUMBER alone. */
  readonly pending: App
  readonly suspended: App
}

let system: System
let client: Client
let native: Client
let world: World

beforeAll(async () => {
  system = await sharedSystem()
  const [first, second] = system.processes
  client = new Client(httpWire(first?.origin ?? ''), first?.origin ?? '')
  native = new Client(httpWire(second?.origin ?? ''), second?.origin ?? '')
  world = {
    app: await client.makeApp(),
    phoneOnly: await client.makeApp({ scopes: ['PHONE_NUMBER'] }),
    pending: await client.makeApp({ scopes: ['PHONE_NUMBER'], status: 'pending' }),
    suspended: await client.makeApp(),
  }
  await client.suspend(world.suspended)
})
afterAll(() => system?.stop())

const clientFor = (mode: (typeof MODES)[number]): Client => (mode === 'native' ? native : client)

const rightDraft = (): Draft =>
  draftOf('GET', PATH, client.request(world.app, { scope: 'USER_INFO', state: 'abcXYZ019' }))

const useApp =
  (which: keyof World) =>
  (draft: Draft, { [which]: app }: World) => {
    draft.parameters.app_key = app.app_key
  }
const DEFECTS: readonly Defect<World>[] = [
  ...['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((method) =>
    defect<World>(1, method, 'method', useMethod(method), { rescode: 20010, status: 405 }),
  ),
  ...['state', 'scope', 'redirect_uri', 'app_key', 'response_type'].map((name) =>
    defect<World>(2, `${name} twice`, `${name} raw`, addRaw(`&${name}=x`), illegal(/./)),
  ),
  defect<World>(2, 'the same value twice', 'raw', addRaw('&response_type=code'), illegal(/./)),
  ...['%', '%2', '%zz', '%c3%28', '%ff', '%ed%a0%80', '%c0%ae', '%f4%90%80%80', '%00'].map((raw) =>
    defect<World>(2, `undecodable: ${raw}`, 'scope raw', setRaw('scope', `USER_INFO${raw}`), illegal(/./)),
  ),
  defect<World>(2, 'longer than 8 KiB', 'raw', addRaw(`&x=${'y'.repeat(8_200)}`), illegal(/./)),
  defect<World>(2, 'of 20 KB', 'raw', addRaw(`&x=${'y'.repeat(20_000)}`), illegal(/./)),
  defect<World>(3, 'no response_type', 'response_type', set({ response_type: undefined }), illegal(/response_type/)),
  ...['token', 'CODE', 'code ', 'code token', 'none'].map((response_type) =>
    defect<World>(3, `response_type "${response_type}"`, 'response_type', set({ response_type }), {
      rescode: 20018,
      message: response_type.trim(),
    }),
  ),
  defect<World>(4, 'no app_key', 'app_key', set({ app_key: undefined }), illegal(/app_key/)),
  ...['no-such-app', 'DEMO-APP', "' or 1=1 --", '名', 'x'.repeat(5_000)].map((app_key) =>
    defect<World>(4, `unknown app_key ${JSON.stringify(app_key.slice(0, 20))}`, 'app_key', set({ app_key }), {
      rescode: 20001,
    }),
  ),
  defect<World>(5, 'app not approved', 'app_key', useApp('pending'), { rescode: 20014 }),
  defect<World>(5, 'app suspended', 'app_key', useApp('suspended'), { rescode: 20014 }),
  defect<World>(6, 'no redirect_uri', 'redirect_uri', set({ redirect_uri: undefined }), illegal(/redirect_uri/)),
  defect<World>(
    6,
    'redirect_uri no URL',
    'redirect_uri',
    set({ redirect_uri: 'app.example.com' }),
    illegal(/redirect_uri/),
  ),
  ...[
    ...['https://evil.example.com/callback', 'http://app.example.com.evil.com/', 'https://app.example.com@evil.com/'],
    ...['javascript:alert(1)', 'https://app.example.com./', ' https://app.example.com/'],
  ].map((redirect_uri) =>
    defect<World>(7, `redirect_uri ${redirect_uri}`, 'redirect_uri', set({ redirect_uri }), { rescode: 20012 }),
  ),
  ...[
    ['https://app.example.com/#x', /redirect_uri must not have a fragment/] as const,
    ['https://app.example.com/?code=1', /redirect_uri must not have code or state in its query/] as const,
    ['https://app.example.com/?a=1&state=x', /redirect_uri must not have code or state in its query/] as const,
  ].map(([redirect_uri, message]) =>
    defect<World>(7, `redirect_uri ${redirect_uri}`, 'redirect_uri', set({ redirect_uri }), illegal(message)),
  ),
  defect<World>(8, 'no state', 'state', set({ state: undefined }), illegal(/state/)),
  defect<World>(8, 'empty state', 'state', set({ state: '' }), illegal(/state/)),
  defect<World>(8, 'state of 129 bytes', 'state', set({ state: 'a'.repeat(129) }), illegal(/state/)),
  defect<World>(8, 'state with a hyphen', 'state', set({ state: 'a-b' }), illegal(/state/)),
  defect<World>(9, 'no scope', 'scope', set({ scope: undefined }), illegal(/scope/)),
  ...['', ' ', 'EMAIL', 'user_info', 'USER_INFO EMAIL', 'USER_INFO,PHONE_NUMBER', 'USER_INFO\tPHONE_NUMBER'].map(
    (scope) => defect<World>(9, `scope ${JSON.stringify(scope)}`, 'scope', set({ scope }), { rescode: 20008 }),
  ),
  defect<World>(10, 'a scope that the app does not hold', 'app_key', useApp('phoneOnly'), { rescode: 20004 }),
]

describe.each(MODES)('a request that is wrong in one place, statuses %s', (mode) => {
  it.each(DEFECTS)('row $row: $name', async ({ breakIt, failure }) => {
    const draft = rightDraft()
    await breakIt(draft, world)
    const { method, path, headers } = callOf(draft)
    const answer = await clientFor(mode).call(method, path, headers)
    expectFailure(answer, { ...failure, mode })
    expect(header(answer, 'location'), 'never redirects').toBe('')
    if (failure.status === 405) expect(header(answer, 'allow')).toBe('GET')
  })

  it.each(DEFECTS.filter(({ touches }) => !touches.includes('method')))('row $row as a page: $name', async (row) => {
    const draft = rightDraft()
    await row.breakIt(draft, world)
    const answer = await clientFor(mode).newBrowser().send('GET', callOf(draft).path)
    expect(answer.status).toBe(expectedStatus({ ...row.failure, mode }))
    expect(header(answer, 'content-type').toLowerCase()).toBe('text/html; charset=utf-8')
    expectHeaders(answer)
    expect(visibleText(answer.text)).toContain(String(row.failure.rescode))
    expect(header(answer, 'location')).toBe('')
  })
})

describe('of two failures the earlier row answers', () => {
  const isFirstOfRow = ({ row }: Defect<World>, index: number) =>
    DEFECTS.findIndex((other) => other.row === row) === index
  const representatives = DEFECTS.filter(
    (each, index) => isFirstOfRow(each, index) || /^no |8 KiB|token"/.test(each.name),
  )
  it.each(pairsOf(representatives))('$name', async ({ first, second }) => {
    const draft = rightDraft()
    await second.breakIt(draft, world)
    await first.breakIt(draft, world)
    const { method, path } = callOf(draft)
    expectFailure(await client.call(method, path), first.failure)
  })

  it('approval of the app is checked before its scopes', async () => {
    const draft = rightDraft()
    expect(draft.parameters.scope, 'which the pending app does not hold').toBe('USER_INFO')
    draft.parameters.app_key = world.pending.app_key
    expectFailure(await client.call('GET', callOf(draft).path), { rescode: 20014 })
  })
})

describe('the Accept header chooses a page or the envelope:', () => {
  const broken = () => `${PATH}?${queryOf({ ...rightDraft().parameters, response_type: 'token' })}`
  it.each([
    ['text/html', 'text/html'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html'],
    ['application/json;q=0.5, text/html', 'text/html'],
    ['application/json', 'application/json'],
    ['application/json, text/html;q=0.5', 'application/json'],
    ['text/html;q=0, application/json', 'application/json'],
    ['*/*', 'application/json'],
    [undefined, 'application/json'],
  ])('Accept %s gets %s', async (accept, type) => {
    const answer = await client.call('GET', broken(), accept ? { accept } : {})
    expect(header(answer, 'content-type')).toContain(type)
    expectHeaders(answer)
  })
})

describe('a parameter repeated in an error message', () => {
  const send = (response_type: string, accept: string) =>
    client.call('GET', `${PATH}?${queryOf({ ...rightDraft().parameters, response_type })}`, { accept })

  it('is cut at 128 characters and free of control characters', async () => {
    const answer = await send(`a\u0001\u001b[31m\r\n\u0085\u2028${'b'.repeat(500)}`, 'application/json')
    const { message } = JSON.parse(answer.text).data
    expect(message).not.toMatch(/\p{Cc}/u)
    expect(message).toContain('b'.repeat(100))
    expect(message).not.toContain('b'.repeat(129))
  })

  it('is shown on a page as text, never as markup', async () => {
    const answer = await send('<script>alert(1)</script>"\'><img src=x>', 'text/html')
    expect(answer.text).not.toMatch(/<script>alert|<img src=x>/)
    expect(visibleText(answer.text)).toContain('<script>alert(1)</script>')
  })
})

describe('unknown paths below /oauth/v2/', () => {
  it.each([
    ...['/oauth/v2/', '/oauth/v2/unknown', '/oauth/v2/authorize/', '/oauth/v2/authorize/x', '/oauth/v2/api'],
    ...['/oauth/v2/api/token/', '/oauth/v2/api/resource', '/oauth/v2/api/resource/get_email', '/oauth/v2/AUTHORIZE'],
    ...['/oauth/v2//authorize', '/oauth/v2/%zz', '/oauth/v2/%ff', '/oauth/v2/%00'],
  ])('%s answers 404 with the envelope', async (path) => {
    for (const method of ['GET', 'POST']) {
      for (const each of [client, native]) {
        expectFailure(await each.call(method, `${path}?app_secret=x`), { rescode: 20007, status: 404 })
      }
    }
  })
})

describe('state', () => {
  const page = (raw: string) =>
    client.call('GET', `${PATH}?${queryOf({ ...rightDraft().parameters, state: undefined })}&state=${raw}`, {
      accept: 'application/json',
    })
  const isSignIn = (answer: Answer) => answer.status < 400 && !answer.text.startsWith('{"rescode"')

  it('has 1 to 128 bytes', async () => {
    for (const length of [1, 2, 127, 128]) expect(isSignIn(await page('a'.repeat(length))), String(length)).toBe(true)
    for (const length of [129, 130, 1_000]) expectFailure(await page('a'.repeat(length)), illegal(/state/))
  })

  it('holds a-z, A-Z and 0-9, and no other character', async () => {
    const wrong: string[] = []
    const characters = [...Array.from({ length: 128 }, (_, at) => String.fromCharCode(at)), 'é', '中', '１', 'ａ', '😀']
    for (const character of characters) {
      const answer = await page(`a${encodeURIComponent(character)}9`)
      if (isSignIn(answer) !== /^[a-zA-Z0-9]$/.test(character)) wrong.push(JSON.stringify(character))
    }
    expect(wrong).toEqual([])
  })
})

describe('the redirect corpus over HTTP', () => {
  it(`gets the expected verdict for each of its ${REDIRECT_CORPUS.length} entries`, async () => {
    const apps: Partial<Record<string, App>> = {}
    for (const [name, { hosts, redirect_uris, http_allowed }] of Object.entries(CORPUS_APPS)) {
      apps[name] = await client.makeApp({ hosts, redirect_uris, http_allowed })
    }
    const verdictOf = async (app: string, redirect_uri: string) => {
      const parameters = { ...rightDraft().parameters, app_key: apps[app]?.app_key, redirect_uri }
      const answer = await client.newBrowser().open(`${PATH}?${queryOf(parameters)}`)
      expect(header(answer, 'location')).toBe('')
      if (signInForm(answer.text)) return 'ok'
      const text = visibleText(answer.text)
      if (/20012/.test(text)) return 'mismatch'
      if (!/20007/.test(text)) return undefined
      if (text.includes('must not have a fragment')) return 'has-fragment'
      return text.includes('must not have code or state in its query') ? 'has-answer' : 'not-a-url'
    }
    const wrong: string[] = []
    for (const { app, uri, verdict } of REDIRECT_CORPUS) {
      const found = await verdictOf(app, uri)
      // No parameter may hold a NUL (row 2), so the redirect_uri itself is not checked.
      const expected = uri.includes('\u0000') ? 'not-a-url' : verdict
      if (found !== expected) wrong.push(`${app} ${JSON.stringify(uri)}: ${found} instead of ${expected}`)
    }
    expect(wrong).toEqual([])
    process.stdout.write(`redirect corpus over HTTP: ${REDIRECT_CORPUS.length} entries\n`)
  })
})
