import { mkdirSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, Client, dataOf, type User } from '../acceptance/client.ts'
import { expectFailure } from '../acceptance/expectations.ts'
import { injectWire } from '../acceptance/http.ts'
import { violations } from '../axe.ts'
import { toNextPage } from '../browser.ts'
import { openWorld, type World } from '../harness.ts'
import {
  browsing,
  fits,
  gluedWords,
  LOOKS,
  type Look,
  onlyCurrentMarked,
  openAllParts,
  tabTo,
} from '../sandbox/browse.ts'

/** The account pages in a browser, also with the keyboard alone and without JavaScript. */

const SCREENSHOTS = process.env.SCREENSHOTS
/** The pages whose screenshots are kept. */
const PICTURED = new Set(['apps', 'security', 'profile'])
const PAGES = { apps: '', reads: '/reads', data: '/data', security: '/security', profile: '/profile' }

let world: World
let client: Client
let app: App
let origin: string
const { visit, tab } = browsing()
beforeAll(async () => {
  world = await openWorld({
    PASSWORD_RESET_HOOK: 'https://messages.example/hook',
    PASSWORD_RESET_HOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
  })
  await world.app.listen({ host: '127.0.0.1', port: 0 })
  origin = `http://localhost:${(world.app.server.address() as AddressInfo).port}`
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
  const redirect_uri = 'https://trips.example.com/callback'
  app = { ...(await client.makeApp({ name: 'Sunny Day Trips', redirect_uris: [redirect_uri] })), redirect_uri }
})
afterAll(() => world?.close())

let serial = 0

/** A person with two apps, one of which has lost access, a session elsewhere, and a failed sign-in. */
async function makePerson(): Promise<{ user: User; token: string }> {
  const user = await client.makeUser({ name: 'Lin Yue', passport: `lin.yue.${++serial}@example.com` })
  const former = await client.makeApp({ name: SCREENSHOTS ? 'City Theatre' : `${'W'.repeat(40)} Theatre` })
  const elsewhere = await client.signedIn(user, app)
  await client.signedIn({ ...user, password: 'wrong-password' }, app).catch(() => {})
  const theirs = await client.getTokens(elsewhere, former)
  dataOf(await client.userInfo(theirs.access_token))
  await elsewhere.send('POST', '/account/apps/withdraw', { app_key: former.app_key })
  const { access_token: token } = await client.getTokens(elsewhere, app)
  for (let n = 0; n < 12; n++) dataOf(await client.phone(token))
  dataOf(await client.userInfo(token))
  return { user, token }
}

async function signIn(context: BrowserContext, { passport, password }: User, path = '/account'): Promise<Page> {
  const page = await tab(context, `${origin}${path}`)
  await page.fill('#passport', passport)
  await page.fill('#password', password)
  await toNextPage(page, () => page.click('button[type=submit]'))
  expect(page.url()).toBe(`${origin}${path}`)
  return page
}

async function screenshot(page: Page, name: string, { size, locale }: Look): Promise<void> {
  if (!SCREENSHOTS) return
  mkdirSync(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `account-${name}-${size}-${locale}.png`), fullPage: true })
}

it.each(LOOKS)('each page is accessible and fits the screen: %j', async (look) => {
  const { user } = await makePerson()
  const page = await signIn(await visit(look), user)
  for (const [name, path] of Object.entries(PAGES)) {
    await page.goto(`${origin}/account${path}`)
    expect(await page.getAttribute('html', 'lang'), name).toBe(look.locale)
    expect(await page.locator('header nav a[aria-current=page]').count(), name).toBe(1)
    await openAllParts(page)
    expect(await violations(page), name).toEqual([])
    expect(await fits(page), name).toBe(true)
    expect(await gluedWords(page), name).toEqual([])
    expect(await onlyCurrentMarked(page, 'header nav a', 'borderBottomColor'), name).toBe(true)
    if (PICTURED.has(name)) await screenshot(page, name, look)
  }
})

describe.each([true, false])('with JavaScript: %s', (javaScriptEnabled) => {
  const look: Look = { size: 'phone', locale: 'en', javaScriptEnabled }

  it('a person can withdraw an app with the keyboard alone', async () => {
    const { user, token } = await makePerson()
    const page = await signIn(await visit(look), user)
    await tabTo(page, 'summary')
    await page.keyboard.press('Enter')
    expect(await page.textContent('details')).toContain('Sunny Day Trips loses access to your account at once')
    await tabTo(page, 'details button')
    await toNextPage(page, () => page.keyboard.press('Enter'))
    await page.getByRole('status').waitFor()
    expect(await page.getByRole('status').textContent()).toBe('Sunny Day Trips no longer has access to your account.')
    expectFailure(await client.userInfo(token), { rescode: 20009 })
  })

  it('a person can sign out other browsers, one or all', async () => {
    const { user } = await makePerson()
    const page = await signIn(await visit(look), user, '/account/security')
    const rows = page.locator('section[aria-labelledby=sessions] li')
    expect(await rows.count()).toBe(2)
    expect(await rows.first().textContent()).toMatch(/Chrome on Linux\s*this browser/)
    await toNextPage(page, () => rows.nth(1).locator('button').click())
    await page.getByRole('status').waitFor()
    expect(await rows.count()).toBe(1)
    await client.signedIn(user, app)
    await page.reload()
    await toNextPage(page, () => page.click('text=Sign out everywhere else'))
    await page.getByText('You were signed out everywhere else.').waitFor()
    expect(await rows.count()).toBe(1)
    expect(await page.textContent('section[aria-labelledby=sign-ins]')).toContain('Wrong password')
  })
})

it("times are in the viewer's time zone, with UTC as tooltip", async () => {
  const { user } = await makePerson()
  const page = await signIn(await visit({ size: 'desktop', locale: 'en' }), user)
  const time = page.locator('time').first()
  expect(await time.textContent()).toBe('May 6, 2026, 10:34:20')
  expect(await time.getAttribute('title')).toBe('2026-05-06 10:34:20 UTC')
})

it('a browser that does not say how a page was opened, with a zone unknown to us, loads the page once', async () => {
  const { user } = await makePerson()
  const context = await visit({ size: 'desktop', locale: 'en' })
  await context.addInitScript(() => {
    performance.getEntriesByType = () => []
    Intl.DateTimeFormat.prototype.resolvedOptions = () => ({ timeZone: 'Mars/Olympus' }) as never
  })
  const page = await signIn(context, user)
  let loads = 0
  page.on('load', () => loads++)
  await page.goto(`${origin}/account/reads`)
  await page.waitForTimeout(1_000)
  expect(loads).toBe(1)
})

it('days of reads match the times below them in any time zone', async () => {
  const { user } = await makePerson()
  await world.pool.query(
    `insert into data_access (routing_key, cid, user_id, hour, app_key, kind, reads, last_at)
     select routing_key, cid, user_id, '2026-05-04T20:00:00Z', $1, 'phone', 2, '2026-05-04T20:30:00Z'
     from user_profile where user_id = $2`,
    [app.app_key, user.user_id],
  )
  const context = await visit({ size: 'desktop', locale: 'en' }, { timezoneId: 'Asia/Shanghai' })
  const page = await signIn(context, user, '/account/reads')
  await page.getByRole('heading', { name: '2026-05-05' }).waitFor()
  const days = await page
    .locator('section.card')
    .evaluateAll((sections) =>
      sections.map((one) => [one.querySelector('h2')?.textContent, one.querySelector('time')?.textContent]),
    )
  expect(days).toEqual([
    ['2026-05-06', 'May 6, 2026, 18:34:20'],
    ['2026-05-05', 'May 5, 2026, 04:30:00'],
  ])
})
