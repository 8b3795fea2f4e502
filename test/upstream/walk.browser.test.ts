import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Client, pkcePair } from '../acceptance/client.ts'
import { httpWire, injectWire } from '../acceptance/http.ts'
import { sharedSystem } from '../acceptance/system.ts'
import { violationsInBothSchemes } from '../axe.ts'
import { sharedBrowser, toNextPage } from '../browser.ts'
import { freePort } from '../free-port.ts'
import { openWorld, type World } from '../harness.ts'
import { StandardApp } from '../oidc/app.ts'

/** Sign-in at another instance of the service, in Chromium with the pages' Content-Security-Policy in force. */

let world: World
let client: Client
let provider: string
let home: string
let arrived: Server
let app: string
let rp: StandardApp
let context: BrowserContext
let user: { passport: string; password: string }
const blockedBy: string[] = []

beforeAll(async () => {
  provider = (await sharedSystem()).origin
  const there = new Client(httpWire(provider), provider)
  home = `http://localhost:${await freePort()}`
  const known = await there.makeApp({
    name: 'Gatehouse of the platform',
    redirect_uris: [`${home}/sign-in/callback`],
    post_logout_uris: [`${home}/sign-out/callback`],
  })
  user = await there.makeUser({ name: 'Petra Provider' })
  world = await openWorld({
    PUBLIC_URL: home,
    UPSTREAM_ISSUER: provider,
    UPSTREAM_CLIENT_ID: known.app_key,
    UPSTREAM_CLIENT_SECRET: known.app_secret,
    UPSTREAM_CID: '3',
    AUTHORIZE_PER_MINUTE: '100000',
  })
  syncClock()
  await world.app.listen({ host: 'localhost', port: Number(new URL(home).port) })
  client = new Client(injectWire(world.app), home)
  arrived = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>arrived</title>'),
  )
  await new Promise<void>((done) => arrived.listen(0, '127.0.0.1', done))
  app = `http://127.0.0.1:${(arrived.address() as AddressInfo).port}/arrived`
  rp = await StandardApp.make(client, { redirect_uris: [app], post_logout_uris: [app], hosts: ['127.0.0.1'] })
})
afterAll(async () => {
  arrived?.close()
  arrived?.closeAllConnections()
  await world?.close()
})
afterEach(async () => {
  await context?.close()
  expect(blockedBy.splice(0)).toEqual([])
})

/** The test service's clock stands still, the provider's does not. */
const syncClock = () => world.clock.advance((Date.now() - world.clock.now().getTime()) / 1000)

async function openTab(options: object = {}): Promise<Page> {
  context = await (await sharedBrowser()).newContext({ locale: 'en', reducedMotion: 'reduce', ...options })
  const page = await context.newPage()
  page.on('console', (message) => {
    if (/content security policy/i.test(message.text())) blockedBy.push(message.text())
  })
  return page
}

/** At the provider: signs in, and consents if asked. */
async function signInThere(page: Page): Promise<void> {
  await page.waitForURL((url) => url.origin === provider)
  await page.fill('#passport', user.passport)
  await page.fill('#password', user.password)
  await toNextPage(page, () => page.click('button[type=submit]'))
  if (page.url().startsWith(provider)) await toNextPage(page, () => page.click('button[value=approve]'))
  expect(new URL(page.url()).origin).not.toBe(provider)
}

const contract = () => home + client.authorizePath(client.request({ ...rp.app, redirect_uri: app }))
const { challenge } = pkcePair()
const standard = (changes: Record<string, string> = {}) =>
  home + rp.authorizeUrl({ redirect_uri: app, code_challenge: challenge, code_challenge_method: 'S256', ...changes })

const isArrived = (url: URL): boolean => url.href.startsWith(app)
const codeIn = (page: Page): string | null => new URL(page.url()).searchParams.get('code')

describe('an app of the contract dialect', () => {
  it('gets its code, and later another one without a sign-in', async () => {
    const page = await openTab()
    for (const first of [true, false]) {
      await page.goto(contract())
      if (first) await signInThere(page)
      await page.click('button[value=approve]')
      await page.waitForURL(isArrived)
      expect(codeIn(page)).toMatch(/^ghac_/)
    }
  })

  it('gets its code after signing out and signing in again', async () => {
    const page = await openTab()
    await page.goto(contract())
    await signInThere(page)
    await page.click('form[action="/sign-out"] button')
    await page.waitForURL((url) => url.origin === provider)
    await page.click('button[value=sign-out]')
    await signInThere(page)
    expect(page.url()).toContain('/oauth/v2/authorize')
    await page.click('button[value=approve]')
    await page.waitForURL(isArrived)
  })

  it('gets nothing about a person who is blocked here, and that person can sign out', async () => {
    const page = await openTab()
    await page.goto(`${home}/account`)
    await signInThere(page)
    const { rows } = await world.pool.query("update user_profile set status = 'blocked' returning user_id")
    try {
      await page.goto(contract())
      expect(rows).toHaveLength(1)
      expect(await page.textContent('main')).toContain('20016')
      await page.click('form[action="/sign-out"] button')
      await page.waitForURL((url) => url.origin === provider)
      await page.click('button[value=sign-out]')
      await page.locator('#passport').waitFor()
    } finally {
      await world.pool.query("update user_profile set status = 'active'")
    }
  })
})

describe('a client of the standard dialect', () => {
  it('gets a code, has its consent remembered, and can require a new sign-in', async () => {
    const page = await openTab()
    await page.goto(standard())
    await signInThere(page)
    const allow = page.locator('button[value=approve]')
    if (await allow.isVisible()) await toNextPage(page, () => allow.click())
    await page.waitForURL(isArrived)
    expect(codeIn(page)).toMatch(/^ghac_/)
    await page.goto(standard())
    expect(isArrived(new URL(page.url()))).toBe(true)
    for (const changes of [{ prompt: 'login' }, { max_age: '0' }, { prompt: 'select_account' }]) {
      syncClock()
      await page.goto(standard(changes))
      await signInThere(page)
      await page.waitForURL(isArrived)
      expect(codeIn(page)).toMatch(/^ghac_/)
    }
    await page.goto(standard({ response_mode: 'form_post', prompt: 'login' })).catch(() => {})
    await signInThere(page)
    await page.waitForURL(isArrived)
  })

  it('can sign the person out there too, and gets them back', async () => {
    const page = await openTab()
    await page.goto(`${home}/account`)
    await signInThere(page)
    const asked = { client_id: rp.app.app_key, post_logout_redirect_uri: app, state: 'xyz' }
    await page.goto(`${home}/oauth2/logout?${new URLSearchParams(asked)}`)
    await page.click('button[value=sign-out]')
    await page.waitForURL((url) => url.origin === provider)
    await page.click('button[value=sign-out]')
    await page.waitForURL(isArrived)
    expect(new URL(page.url()).searchParams.get('state')).toBe('xyz')
    await page.goto(`${home}/account`)
    await page.locator('#passport').waitFor()
    expect(page.url().startsWith(provider)).toBe(true)
  })
})

describe('the account', () => {
  it('can be opened and signed out of, here and at the provider', async () => {
    const page = await openTab()
    await page.goto(`${home}/account/security`)
    await signInThere(page)
    expect(await page.textContent('main')).toContain(`Your sign-in is at ${new URL(provider).host}`)
    await page.click('.signed-in button')
    await page.waitForURL((url) => url.origin === provider)
    await page.click('button[value=sign-out]')
    await page.waitForURL(`${home}/`)
    await page.goto(`${home}/account`)
    await page.locator('#passport').waitFor()
  })

  it('requires a sign-in again if a form is sent after the session has ended', async () => {
    const page = await openTab()
    await page.goto(`${home}/account/security`)
    await signInThere(page)
    await context.clearCookies({ name: 'gatehouse_session', domain: 'localhost' })
    await page.click('form[action="/account/sessions/end"] button')
    await page.waitForURL(`${home}/account/security#unsent`) // the provider still knew the person
  })

  it('requires a new sign-in for sensitive pages', async () => {
    const page = await openTab()
    await page.goto(`${home}/sign-in?confirm=1&return_to=%2Faccount%2Fdata`)
    await signInThere(page)
    expect(page.url()).toBe(`${home}/account/data`)
  })
})

describe.each(['en', 'zh-CN'])('the pages in %s', (locale) => {
  const PAGES = [
    ['failed', '/sign-in/callback?state=none'],
    ['elsewhere', '/password'],
  ] as const
  it.each(PAGES)('are accessible: %s', async (name, path) => {
    const page = await openTab({ locale })
    const folder = process.env.PICTURES
    for (const [kind, size] of [
      ['phone', { width: 390, height: 844 }],
      ['desktop', { width: 1280, height: 900 }],
    ] as const) {
      await page.setViewportSize(size)
      await page.goto(home + path)
      if (folder) await page.screenshot({ path: `${folder}/${name}-${locale}-${kind}.png` })
    }
    expect(await violationsInBothSchemes(page)).toEqual([])
    expect(await page.getAttribute('html', 'lang')).toBe(locale)
  })
})
