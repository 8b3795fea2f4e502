import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Browser } from '../acceptance/browser.ts'
import { Client, type User } from '../acceptance/client.ts'
import { consentForm, visibleText } from '../acceptance/form.ts'
import { header, injectWire, queryOf } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'
import { FORM, type Parameters, StandardApp } from './app.ts'

/** Sign-out at the request of an app: needs confirmation, and never redirects to an unregistered address. */

const NEXT = 'https://app.example.com/bye'

let world: World
let client: Client
let rp: StandardApp
let user: User
let browser: Browser
let id_token_hint: string
beforeAll(async () => {
  world = await openWorld({ AUTHORIZE_PER_MINUTE: '1000000' })
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  rp = await StandardApp.make(client, { post_logout_uris: [NEXT] })
  user = await client.makeUser()
})
afterAll(() => world?.close())
beforeEach(async () => {
  browser = client.newBrowser()
  id_token_hint = (await rp.tokens(browser, user)).id_token
})

const open = (parameters: Parameters, by = browser) => by.open(`/oauth2/logout?${queryOf(parameters)}`)
const isSignedIn = async () => (await browser.open('/')).text.includes('Test user')
async function press(decision: string, parameters: Parameters) {
  const form = consentForm((await open(parameters)).text)
  if (!form) throw new Error('no form')
  return browser.submit(form, { decision })
}

describe('sign-out', () => {
  it('is confirmed by the person, and leads back to the app with its state', async () => {
    const answer = await press('sign-out', { id_token_hint, post_logout_redirect_uri: NEXT, state: 'a b' })
    expect(header(answer, 'location')).toBe(`${NEXT}?state=a+b`)
    expect(await isSignedIn()).toBe(false)
  })

  it('names the app only if it is live, so reviewed', async () => {
    const own = await StandardApp.make(client, { name: 'You have won' })
    const shown = async () => (await open({ client_id: own.app.app_key })).text
    expect(await shown()).toContain('You have won')
    await world.pool.query("update micro_app set stage = 'development' where app_key = $1", [own.app.app_key])
    expect(await shown()).not.toContain('You have won')
  })

  it('asked for by a form is confirmed in the language that the app asks for', async () => {
    const path = header(await rp.post('logout', { id_token_hint, ui_locales: 'zh-CN' }), 'location')
    expect((await browser.open(path)).text).toContain('<html lang="zh-CN">')
  })

  it('that the person declines leads back too', async () => {
    const answer = await press('stay', { client_id: rp.app.app_key, post_logout_redirect_uri: NEXT })
    expect(header(answer, 'location')).toBe(NEXT)
    expect(await isSignedIn()).toBe(true)
  })

  it('without an app ends on our own page', async () => {
    expect(visibleText((await press('sign-out', {})).text)).toContain('You are signed out')
  })

  it('without a session leads back immediately', async () => {
    const answer = await open({ id_token_hint, post_logout_redirect_uri: NEXT }, client.newBrowser())
    expect(header(answer, 'location')).toBe(NEXT)
  })

  it('by a form of another site is repeated by GET', async () => {
    const answer = await rp.post('logout', { id_token_hint, post_logout_redirect_uri: NEXT })
    expect(header(answer, 'location')).toMatch(/^\/oauth2\/logout\?continue=/)
    expect((await browser.open(header(answer, 'location'))).text).toContain('name="sign_out_request"')
  })

  it.each<[string, () => Parameters]>([
    ['an unregistered address', () => ({ id_token_hint, post_logout_redirect_uri: `${NEXT}/more` })],
    ['an address without a client', () => ({ post_logout_redirect_uri: NEXT })],
    ['a redirect_uri', () => ({ id_token_hint, post_logout_redirect_uri: 'https://app.example.com/callback' })],
    ['another client', () => ({ id_token_hint, client_id: 'demo', post_logout_redirect_uri: NEXT })],
    ['an unknown client', () => ({ client_id: 'nobody', post_logout_redirect_uri: NEXT })],
    ['a forged hint', () => ({ id_token_hint: `${id_token_hint}x`, post_logout_redirect_uri: NEXT })],
    ['an over-long state', () => ({ id_token_hint, post_logout_redirect_uri: NEXT, state: 'x'.repeat(1_025) })],
    ['a forged continuation', () => ({ continue: 'e30.e30' })],
  ])('with %s gets an error page, never a redirect', async (_name, parameters) => {
    const answer = await open(parameters())
    expect([header(answer, 'location'), answer.status >= 400]).toEqual(['', true])
    expect(await isSignedIn()).toBe(true)
  })

  it('ignores unknown parameters, even one with an internal name', async () => {
    for (const unknown of [{ resource: 'a' }, { continue: 'x' }]) {
      const answer = await press('stay', { id_token_hint, post_logout_redirect_uri: NEXT, ...unknown })
      expect(header(answer, 'location')).toBe(NEXT)
    }
  })

  it('continues in the language chosen by a link', async () => {
    const path = header(await rp.post('logout', { id_token_hint }), 'location')
    expect((await browser.open(`${path}&ui_locales=zh-CN`)).text).toContain('name="sign_out_request"')
  })

  it('with an address but no client says what is missing', async () => {
    for (const more of [{}, { state: 'x' }, { client_id: '' }, { id_token_hint: '' }]) {
      const { text } = await open({ post_logout_redirect_uri: NEXT, ...more })
      expect(visibleText(text)).toContain('post_logout_redirect_uri needs id_token_hint or client_id')
      expect(visibleText(text)).not.toContain('not registered')
    }
    const named = await open({ post_logout_redirect_uri: `${NEXT}/more`, client_id: rp.app.app_key })
    expect(visibleText(named.text)).toContain('post_logout_redirect_uri is not registered')
  })

  it.each(['not registered any more', 'of an app that is suspended'])(
    'from a page that was left open works, even if the address is %s',
    async (why) => {
      const own = await StandardApp.make(client, { post_logout_uris: [NEXT] })
      const form = consentForm((await open({ client_id: own.app.app_key, post_logout_redirect_uri: NEXT })).text)
      if (!form) throw new Error('no form')
      world.clock.advance(31 * 60)
      if (why.startsWith('not')) await client.update(own.app, { post_logout_uris: [] })
      else await client.suspend(own.app)
      const answer = await browser.submit(form, { decision: 'sign-out' })
      expect(why.startsWith('not') ? visibleText(answer.text) : header(answer, 'location')).toMatch(
        why.startsWith('not') ? /You are signed out/ : NEXT,
      )
      expect(await isSignedIn()).toBe(false)
    },
  )

  it('is not confirmed by a form of another site', async () => {
    const form = consentForm((await open({})).text)
    const headers = { 'content-type': FORM, cookie: browser.cookieHeader, 'sec-fetch-site': 'cross-site' }
    const body = queryOf({ ...form?.fields, decision: 'sign-out' })
    expect((await client.call('POST', '/oauth2/logout/confirm', headers, body)).status).toBe(400)
    expect(await isSignedIn()).toBe(true)
  })
})
