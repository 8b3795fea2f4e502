import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { purge } from '../../src/operations/jobs/purge.ts'
import type { Browser } from '../acceptance/browser.ts'
import { type App, Client, dataOf, newState, tokenSetOf, type User } from '../acceptance/client.ts'
import { expectFailure } from '../acceptance/expectations.ts'
import { type Form, visibleText } from '../acceptance/form.ts'
import { type Answer, header, injectWire } from '../acceptance/http.ts'
import { MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'

/** A consent form is decided once (DECISIONS "Decided about area A"): a refusal, first or later, always prevails. */

let world: World
let client: Client
let app: App
let user: User
let browser: Browser
beforeAll(async () => {
  world = await openWorld(MANY_CONNECTIONS)
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  app = await client.makeApp()
  user = await client.makeUser()
  browser = await client.signedIn(user, app)
})
afterAll(() => world?.close())

interface Shown {
  readonly form: Form
  readonly state: string
}
const shown = async (): Promise<Shown> => {
  const state = newState()
  return { state, form: await client.consentFormFor(browser, client.request(app, { state })) }
}
const press = (form: Form, decision: 'approve' | 'refuse') => browser.submit(form, { decision })
const codeOf = (answer: Answer): string => {
  expect(answer.status, visibleText(answer.text)).toBe(303)
  return new URL(header(answer, 'location')).searchParams.get('code') ?? ''
}
function expectPage(answer: Answer, message: RegExp): void {
  expect(header(answer, 'location')).toBe('')
  expect(visibleText(answer.text)).toContain('20007')
  expect(visibleText(answer.text)).toMatch(message)
}
const auditOf = async (event: string): Promise<number> =>
  (await world.pool.query('select count(*)::int as n from audit_event where event = $1', [event])).rows[0].n
const liveGrants = async (): Promise<number> =>
  (await world.pool.query('select count(*)::int as n from user_grant where revoked_at is null')).rows[0].n

describe('the first decision on a consent form', () => {
  it('is a refusal: approving the same form afterwards gives no code and no grant', async () => {
    const { form, state } = await shown()
    const before = await liveGrants()
    expect(header(await press(form, 'refuse'), 'location')).toBe(`${app.redirect_uri}?state=${state}`)
    expectPage(await press(form, 'approve'), /was refused already/)
    expect(await liveGrants()).toBe(before)
  })

  it('is a refusal: repeating it gets the same answer, and is audited once', async () => {
    const { form, state } = await shown()
    const before = await auditOf('user_denied_authorization')
    const answers = await Promise.all(Array.from({ length: 5 }, () => press(form, 'refuse')))
    for (const answer of answers) expect(header(answer, 'location')).toBe(`${app.redirect_uri}?state=${state}`)
    expect(await auditOf('user_denied_authorization')).toBe(before + 1)
  })

  it('is an approval: refusing afterwards withdraws the grant, so that the code gives no tokens', async () => {
    const { form, state } = await shown()
    const code = codeOf(await press(form, 'approve'))
    expectPage(await press(form, 'refuse'), /was approved already.*withdrawn/)
    expectFailure(await client.exchange(app, { code, state }), { rescode: 20006 })
  })

  it('is an approval: refusing after the exchange ends the tokens too', async () => {
    const { form, state } = await shown()
    const code = codeOf(await press(form, 'approve'))
    const tokens = tokenSetOf(await client.exchange(app, { code, state }))
    expectPage(await press(form, 'refuse'), /withdrawn/)
    expectFailure(await client.userInfo(tokens.access_token), { rescode: 20009 })
    expectFailure(await client.refresh(app, tokens.refresh_token), { rescode: 20006 })
  })

  it('is an approval: refusing it repeatedly withdraws once, and approving again gives no code', async () => {
    const { form } = await shown()
    const before = await auditOf('grant_withdrawn')
    codeOf(await press(form, 'approve'))
    for (let pressed = 0; pressed < 3; pressed++) expectPage(await press(form, 'refuse'), /withdrawn/)
    expectPage(await press(form, 'approve'), /withdrawn/)
    expect(await auditOf('grant_withdrawn')).toBe(before + 1)
  })

  it('is an approval: refusing withdraws the grant even if the app is suspended by now', async () => {
    const other = await client.makeApp()
    const state = newState()
    const form = await client.consentFormFor(browser, client.request(other, { state }))
    const code = codeOf(await press(form, 'approve'))
    await client.suspend(other)
    expectPage(await press(form, 'refuse'), /withdrawn/)
    await client.approve(other)
    expectFailure(await client.exchange(other, { code, state }), { rescode: 20006 })
  })

  it('is exactly one when approve and refuse race, and no code of that form works', async () => {
    for (let round = 0; round < 10; round++) {
      const { form, state } = await shown()
      const presses = ['approve', 'refuse', 'approve', 'refuse'] as const
      const answers = await Promise.all(presses.map((decision) => press(form, decision)))
      const codes = new Set(answers.filter(({ status }) => status === 303).map(codeOf))
      codes.delete('')
      expect(codes.size).toBeLessThanOrEqual(1)
      for (const code of codes) expectFailure(await client.exchange(app, { code, state }), { rescode: 20006 })
    }
  })

  it('is remembered as long as the session that was shown the form', async () => {
    const [{ form }, old, older] = [await shown(), await shown(), await shown()]
    codeOf(await press(form, 'approve'))
    const kept = async () => (await world.pool.query('select count(*)::int as n from consent_decision')).rows[0].n
    const before = await kept()
    await purge(world.deps, {})
    expect(await kept()).toBe(before)
    await press(old.form, 'refuse')
    world.clock.advance(11 * 3_600)
    await purge(world.deps, {})
    expectPage(await press(old.form, 'approve'), /was refused already/)
    expectPage(await press(form, 'approve'), /was used already/)
    expect(codeOf(await press(older.form, 'approve'))).not.toBe('')
    world.clock.advance(13 * 3_600 + 1)
    await purge(world.deps, {})
    expect(await kept()).toBe(0)
    expect(header(await press(form, 'refuse'), 'location')).toMatch(/^\/oauth\/v2\/authorize\?/)
    browser = await client.signedIn(user, app)
  })
})

describe('A2: a code_verifier', () => {
  it('without a challenge at A1 is refused with 20006 and does not spend the code', async () => {
    const consented = await client.getCode(await client.signedIn(user, app), app)
    expectFailure(await client.exchange(app, consented, { code_verifier: 'a'.repeat(43) }), { rescode: 20006 })
    dataOf(await client.exchange(app, consented))
  })

  it('that is empty counts as missing', async () => {
    const consented = await client.getCode(await client.signedIn(user, app), app)
    dataOf(await client.exchange(app, consented, { code_verifier: '' }))
  })
})

describe('A1: a redirect_uri', () => {
  it.each(['code=1', 'state=1', 'a=1&state=', 'code', 'c%6Fde=1', 'a=1&%73tate=x'])(
    'with ?%s is refused',
    async (query) => {
      const redirect_uri = `https://app.example.com/cb?${query}`
      const answer = await client.call('GET', client.authorizePath(client.request(app, { redirect_uri })))
      expectFailure(answer, { rescode: 20007, message: /redirect_uri must not have code or state in its query/ })
    },
  )

  it.each(['Code=1', 'a=code', 'mystate=1'])('with ?%s is accepted', async (query) => {
    const redirect_uri = `https://app.example.com/cb?${query}`
    await client.consentFormFor(browser, client.request(app, { redirect_uri }))
  })

  it('with code or state cannot be registered', async () => {
    for (const name of ['code', 'state']) {
      const redirect_uris = [`https://app.example.com/cb?${name}=1`]
      await expect(client.makeApp({ redirect_uris })).rejects.toThrow(/redirect_uris.*code.*state/)
    }
  })
})
