import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { altered } from '../../altered.ts'
import { CORPUS_APPS, REDIRECT_CORPUS } from '../../redirect-corpus.ts'
import type { Browser } from '../browser.ts'
import { ALICE, type App, BOB, Client, DEMO_APP, newState, tokenSetOf } from '../client.ts'
import { expectedStatus, expectHeaders } from '../expectations.ts'
import { consentForm, type Form, signInForm, visibleText } from '../form.ts'
import { type Answer, header, httpWire } from '../http.ts'
import { laterProcess, type System, sharedSystem } from '../system.ts'

/** A1 rows 11–14: the sign-in page, the consent form and the redirect back; row 15 is in area-a-settings.ts. */

let system: System
let client: Client
let native: Client
let app: App
let alice: Browser

beforeAll(async () => {
  system = await sharedSystem()
  const [first, second] = system.processes
  client = new Client(httpWire(first?.origin ?? ''), first?.origin ?? '')
  native = new Client(httpWire(second?.origin ?? ''), second?.origin ?? '')
  app = await client.makeApp({ name: 'The <b>"Bold"</b> & \'Quoted\' app' })
  alice = await client.signedIn(ALICE)
})
afterAll(() => system?.stop())

const locationOf = (answer: Answer): URL => {
  expect(answer.status, answer.text.slice(0, 500)).toBe(303)
  expectHeaders(answer)
  return new URL(header(answer, 'location'))
}

const codeOf = (answer: Answer): string => {
  const code = locationOf(answer).searchParams.get('code') ?? ''
  expect(code).not.toBe('')
  return code
}

function expectPageFailure(answer: Answer, rescode: number, mode: '200' | 'native' = '200'): void {
  expect(visibleText(answer.text)).toContain(String(rescode))
  expect(answer.status).toBe(expectedStatus({ rescode, mode }))
  expect(header(answer, 'content-type')).toContain('text/html')
  expect(header(answer, 'location')).toBe('')
  expectHeaders(answer)
}

describe('row 11: a user who is not signed in', () => {
  it('signs in and comes back to the very same request', async () => {
    const browser = client.newBrowser()
    const state = newState()
    const first = await browser.send('GET', client.authorizePath(client.request(app, { state })))
    expectHeaders(first)
    const page = await browser.follow(first)
    expect(page.status).toBe(200)
    expectHeaders(page)
    const signIn = signInForm(page.text)
    expect(signIn).toBeDefined()
    const before = browser.cookieHeader
    const answer = await browser.submit(signIn as Form, { passport: ALICE.passport, password: ALICE.password })
    expect(browser.cookieHeader, 'the session id is new').not.toBe(before)
    const consent = consentForm((await browser.follow(answer)).text)
    expect(consent).toBeDefined()
    const location = locationOf(await browser.submit(consent as Form, { decision: 'approve' }))
    expect(location.searchParams.get('state')).toBe(state)
  })

  it('stays on the sign-in page with a wrong password', async () => {
    const browser = client.newBrowser()
    const page = await browser.open(client.authorizePath(client.request(app)))
    const wrong = await browser.submit(signInForm(page.text) as Form, { passport: ALICE.passport, password: 'no' })
    const again = await browser.follow(wrong)
    expect(signInForm(again.text)).toBeDefined()
    const next = await browser.open(client.authorizePath(client.request(app)))
    expect(signInForm(next.text)).toBeDefined()
  })

  it('cannot be sent elsewhere by an altered sign-in form', async () => {
    const browser = client.newBrowser()
    const page = await browser.open(client.authorizePath(client.request(app)))
    const form = signInForm(page.text) as Form
    for (const name of Object.keys(form.fields).filter((field) => !['passport', 'password'].includes(field))) {
      for (const elsewhere of ['https://evil.example.com/', '//evil.example.com/', '/\\evil.example.com']) {
        const values = { passport: ALICE.passport, password: ALICE.password, [name]: elsewhere }
        const answer = await client.newBrowser().submit(form, values)
        expect(header(answer, 'location')).not.toContain('evil.example.com')
      }
    }
    const target = `${form.action}${form.action.includes('?') ? '&' : '?'}next=//evil.example.com`
    const answer = await browser.submit({ ...form, action: target }, { ...ALICE, cid: '' } as Record<string, string>)
    expect(header(answer, 'location')).not.toMatch(/^(https?:)?\/\/evil/)
  })
})

describe.each(['200', 'native'] as const)('row 12: a blocked user, statuses %s', (mode) => {
  it('is refused instead of being asked for consent', async () => {
    const here = mode === 'native' ? native : client
    const user = await here.makeUser()
    const browser = await here.signedIn(user)
    await here.block(user)
    expectPageFailure(await browser.open(here.authorizePath(here.request(app))), 20016, mode)
    await here.unblock(user)
    expect((await here.getCode(await here.signedIn(user), app)).code).not.toBe('')
  })

  it('is refused when submitting a consent form that was shown before', async () => {
    const here = mode === 'native' ? native : client
    const user = await here.makeUser()
    const browser = await here.signedIn(user)
    const form = await here.consentFormFor(browser, here.request(app))
    await here.block(user)
    expectPageFailure(await browser.submit(form, { decision: 'approve' }), 20016, mode)
  })
})

describe('the consent page', () => {
  it('names the host of the app and the data of each scope', async () => {
    const page = await alice.open(client.authorizePath(client.request(DEMO_APP)))
    const text = visibleText(page.text)
    expect(text).toContain('localhost')
    expect(text).toMatch(/phone/i)
    expect(text).toMatch(/name/i)
    expect(page.status).toBe(200)
    expect(header(page, 'content-type').toLowerCase()).toBe('text/html; charset=utf-8')
    expectHeaders(page)
  })

  it('does not mention a scope that was not requested', async () => {
    const page = await alice.open(client.authorizePath(client.request(DEMO_APP, { scope: 'USER_INFO' })))
    expect(visibleText(page.text)).not.toMatch(/phone number/i)
  })

  it('has both buttons', async () => {
    const form = await client.consentFormFor(alice, client.request(app))
    expect(form.method).toBe('POST')
    const decisions = form.buttons.filter(({ name }) => name === 'decision').map(({ value }) => value)
    expect(decisions.sort()).toEqual(['approve', 'refuse'])
  })

  it('shows names as text, never as markup', async () => {
    const name = '<img src=x onerror=alert(1)>"\'><script>alert(2)</script>'
    const browser = await client.signedIn(await client.makeUser({ name }))
    const page = await browser.open(client.authorizePath(client.request(app)))
    expect(consentForm(page.text)).toBeDefined()
    expect(page.text).not.toMatch(/<img src=x|<script>alert|<b>"Bold"/)
    expect(visibleText(page.text)).toContain('The <b>"Bold"</b> & \'Quoted\' app')
  })

  it('comes in Chinese and in English', async () => {
    const path = client.authorizePath(client.request(app))
    const inLanguage = (language: string) =>
      client.call('GET', path, { accept: 'text/html', cookie: alice.cookieHeader, 'accept-language': language })
    expect(visibleText((await inLanguage('zh-CN,zh;q=0.9,en;q=0.8')).text)).toMatch(/[\u4e00-\u9fff]{4}/)
    expect(visibleText((await inLanguage('en-GB,en;q=0.9')).text)).not.toMatch(/[\u4e00-\u9fff]{4}/)
  })

  it('cannot be framed by other sites', async () => {
    const page = await alice.open(client.authorizePath(client.request(app)))
    expect(header(page, 'content-security-policy')).toMatch(/frame-ancestors 'none'/)
  })
})

describe('consent', () => {
  it('returns code and state in a 303', async () => {
    const { location, state } = await client.getCode(alice, app)
    expect(location.origin + location.pathname).toBe(app.redirect_uri)
    expect([...location.searchParams.keys()]).toEqual(['code', 'state'])
    expect(location.searchParams.get('state')).toBe(state)
  })

  it('returns a state of 128 bytes unchanged', async () => {
    const state = 'aZ09'.repeat(32)
    expect((await client.getCode(alice, app, { state })).state).toBe(state)
  })

  it.each([
    ['https://app.example.com/cb?a=1', 'a=1&'],
    ['https://app.example.com/cb?a=%2f%2F+b&a=2&&c', 'a=%2f%2F+b&a=2&&c&'],
    ['https://app.example.com/cb?', ''],
    ['https://app.example.com?q=%E4%B8%AD', 'q=%E4%B8%AD&'],
    ["https://app.example.com/cb?it='s|{}", "it='s|{}&"],
  ])('keeps the query of %s', async (redirect_uri, kept) => {
    const form = await client.consentFormFor(alice, client.request(app, { redirect_uri, state: 'S1' }))
    const answer = await alice.submit(form, { decision: 'approve' })
    const code = codeOf(answer)
    const before = redirect_uri.split('?')[0]
    expect(header(answer, 'location')).toBe(`${before}?${kept}code=${code}&state=S1`)
    tokenSetOf(await client.exchange({ ...app, redirect_uri }, { code, state: 'S1' }))
  })

  it('redirects to each valid redirect_uri of the corpus, with a code that can be exchanged', async () => {
    for (const name of ['plain', 'http', 'pinned'] as const) {
      const { hosts, redirect_uris, http_allowed } = CORPUS_APPS[name]
      const made = await client.makeApp({ hosts, redirect_uris, http_allowed })
      for (const { uri } of REDIRECT_CORPUS.filter((entry) => entry.app === name && entry.verdict === 'ok')) {
        const { location, code, state } = await client.getCode(alice, made, { redirect_uri: uri })
        const asked = new URL(uri)
        expect(location.origin + location.pathname, uri).toBe(asked.origin + asked.pathname)
        expect(location.search.startsWith(asked.search.replace(/'/g, '%27')), location.href).toBe(true)
        tokenSetOf(await client.exchange({ ...made, redirect_uri: uri }, { code, state }))
      }
    }
  })

  it('submitted several times at once gives one code', async () => {
    const form = await client.consentFormFor(alice, client.request(app))
    const answers = await Promise.all(Array.from({ length: 20 }, () => alice.submit(form, { decision: 'approve' })))
    const codes = new Set(answers.filter(({ status }) => status === 303).map(codeOf))
    expect(codes.size).toBe(1)
  })

  it('submitted again after the code was used gives no new code', async () => {
    const state = newState()
    const form = await client.consentFormFor(alice, client.request(app, { state }))
    const code = codeOf(await alice.submit(form, { decision: 'approve' }))
    const tokens = tokenSetOf(await client.exchange(app, { code, state }))
    const again = await alice.submit(form, { decision: 'approve' })
    if (again.status === 303) expect(codeOf(again)).toBe(code)
    else expectPageFailure(again, 20007)
    expect((await client.userInfo(tokens.access_token)).text).toContain('"rescode":0')
  })

  it('works in any number of tabs, in any order', async () => {
    const states = Array.from({ length: 5 }, newState)
    const forms: Form[] = []
    for (const state of states) forms.push(await client.consentFormFor(alice, client.request(app, { state })))
    const codes = new Set<string>()
    for (const at of [3, 0, 4, 1, 2]) {
      const answer = await alice.submit(forms[at] as Form, { decision: 'approve' })
      const code = codeOf(answer)
      expect(locationOf(answer).searchParams.get('state')).toBe(states[at])
      tokenSetOf(await client.exchange(app, { code, state: states[at] ?? '' }))
      codes.add(code)
    }
    expect(codes.size).toBe(5)
  })

  it('in one tab and refusal in another do not disturb each other', async () => {
    const [left, right] = [
      await client.consentFormFor(alice, client.request(app, { state: 'left' })),
      await client.consentFormFor(alice, client.request(app, { state: 'right' })),
    ]
    expect(locationOf(await alice.submit(left, { decision: 'refuse' })).search).toBe('?state=left')
    expect(locationOf(await alice.submit(right, { decision: 'approve' })).searchParams.get('state')).toBe('right')
  })
})

describe.each(['200', 'native'] as const)('row 13: a consent form that is not ours, statuses %s', (mode) => {
  const here = () => (mode === 'native' ? native : client)
  const approve = (form: Form, browser: Browser) => browser.submit(form, { decision: 'approve' })

  it('that was altered in a hidden field is refused', async () => {
    const browser = await here().signedIn(ALICE)
    const form = await here().consentFormFor(browser, here().request(app))
    const names = Object.keys(form.fields)
    expect(names.length).toBeGreaterThan(0)
    for (const name of names) {
      const value = form.fields[name] ?? ''
      const middle = Math.floor(value.length / 2)
      for (const wrong of [
        altered(value, middle),
        `${value}A`,
        value.slice(1),
        value.slice(0, -1),
        '',
        'null',
        '{}',
        '%',
      ]) {
        const answer = await approve({ ...form, fields: { ...form.fields, [name]: wrong } }, browser)
        expectPageFailure(answer, 20007, mode)
      }
      const { [name]: _, ...others } = form.fields
      expectPageFailure(await approve({ ...form, fields: others }, browser), 20007, mode)
    }
    codeOf(await approve(form, browser))
  })

  it('that mixes two forms of the same session is refused, or counts as one of the two', async () => {
    const browser = await here().signedIn(ALICE)
    const [one, two] = [
      await here().consentFormFor(browser, here().request(app, { state: 'one' })),
      await here().consentFormFor(browser, here().request(app, { state: 'two', scope: 'USER_INFO' })),
    ]
    for (const name of Object.keys(one.fields)) {
      const answer = await approve({ ...one, fields: { ...one.fields, [name]: two.fields[name] ?? '' } }, browser)
      if (answer.status === 303) expect(['one', 'two']).toContain(locationOf(answer).searchParams.get('state'))
      else expectPageFailure(answer, 20007, mode)
    }
  })

  it.each([
    ['another user', BOB],
    ['the same user', ALICE],
  ] as const)('from another session, of %s, gives no code; that session is asked for consent', async (_who, user) => {
    const [shownTo, sentBy] = [await here().signedIn(ALICE), await here().signedIn(user)]
    const state = newState()
    const form = await here().consentFormFor(shownTo, here().request(app, { state }))
    const answer = await approve(form, sentBy)
    expect([answer.status, header(answer, 'location')]).toEqual([
      303,
      expect.stringMatching(/^\/oauth\/v2\/authorize\?/),
    ])
    const again = consentForm((await sentBy.follow(answer)).text)
    const location = locationOf(await approve(again as Form, sentBy))
    expect(location.searchParams.get('state')).toBe(state)
  })

  it('that is sent without a session leads to sign-in and gives no code', async () => {
    const browser = await here().signedIn(ALICE)
    const form = await here().consentFormFor(browser, here().request(app))
    const stranger = here().newBrowser()
    const answer = await stranger.follow(await approve(form, stranger))
    expect(signInForm(answer.text)).toBeDefined()
  })

  it('without a valid decision is refused', async () => {
    const browser = await here().signedIn(ALICE)
    const form = await here().consentFormFor(browser, here().request(app))
    for (const typed of [{}, { decision: '' }, { decision: 'maybe' }, { decision: 'APPROVE' }]) {
      expectPageFailure(await browser.submit(form, typed as Record<string, string>), 20007, mode)
    }
  })

  it('that another site forged without the hidden fields is refused', async () => {
    const browser = await here().signedIn(ALICE)
    const form = await here().consentFormFor(browser, here().request(app))
    const parameters = here().request(app) as Record<string, string>
    expectPageFailure(
      await browser.submit({ ...form, fields: {} }, { ...parameters, decision: 'approve' }),
      20007,
      mode,
    )
  })

  it('is refused when the app was suspended, or lost the scope or the host, since it was shown', async () => {
    const browser = await here().signedIn(ALICE)
    const shown = async () => {
      const made = await here().makeApp()
      return { made, form: await here().consentFormFor(browser, here().request(made)) }
    }
    const suspended = await shown()
    await here().suspend(suspended.made)
    expectPageFailure(await approve(suspended.form, browser), 20014, mode)
    const narrowed = await shown()
    await here().update(narrowed.made, { scopes: ['USER_INFO'] })
    expectPageFailure(await approve(narrowed.form, browser), 20004, mode)
    const moved = await shown()
    await here().update(moved.made, { hosts: ['elsewhere.example.com'] })
    expectPageFailure(await approve(moved.form, browser), 20012, mode)
  })
})

describe('row 13: a stale form', () => {
  it('leads to a new form when its session was replaced by a new sign-in', async () => {
    const browser = await client.signedIn(ALICE)
    const form = await client.consentFormFor(browser, client.request(app))
    const page = await client.newBrowser().open(client.authorizePath(client.request(app)))
    const signIn = signInForm(page.text) as Form
    await browser.submit(signIn, { passport: ALICE.passport, password: ALICE.password })
    const answer = await browser.submit(form, { decision: 'approve' })
    expect(header(answer, 'location')).toMatch(/^\/oauth\/v2\/authorize\?/)
  })

  it('that was left open for eleven hours is still accepted, like its session', async () => {
    const later = await laterProcess(11 * 3_600)
    const browser = await client.signedIn(ALICE)
    const form = await client.consentFormFor(browser, client.request(app))
    const laterBrowser = new Client(httpWire(later.origin), later.origin).newBrowser()
    for (const [name, value] of browser.cookies) laterBrowser.cookies.set(name, value)
    codeOf(await laterBrowser.submit(form, { decision: 'approve' }))
  })
})

describe('row 14: refusal', () => {
  it('returns only state, after the original query', async () => {
    for (const [redirect_uri, expected] of [
      ['https://app.example.com/cb', '?state=S1'],
      ['https://app.example.com/cb?a=%2F', '?a=%2F&state=S1'],
    ] as const) {
      const form = await client.consentFormFor(alice, client.request(app, { redirect_uri, state: 'S1' }))
      const answer = await alice.submit(form, { decision: 'refuse' })
      expect(locationOf(answer).search).toBe(expected)
    }
  })

  it('creates no grant, and is recorded as 20019 in the audit log', async () => {
    const user = await client.makeUser()
    const browser = await client.signedIn(user)
    const made = await client.makeApp()
    const form = await client.consentFormFor(browser, client.request(made))
    expect(locationOf(await browser.submit(form, { decision: 'refuse' })).searchParams.get('code')).toBeNull()
    expect(await client.grants(user)).toEqual([])
    const events = await system.query('select * from audit_event where app_key = $1 and user_id = $2', [
      made.app_key,
      user.user_id,
    ])
    expect(events).toHaveLength(1)
    expect(JSON.stringify(events)).toContain('20019')
    expect(events[0]).toMatchObject({ cid: user.cid })
  })
})
