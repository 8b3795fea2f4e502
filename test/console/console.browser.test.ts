import { randomUUID } from 'node:crypto'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { SECTIONS } from '../../src/operations/console/sections/index.ts'
import { createOperator, setOperatorPassword } from '../../src/operations/operators/index.ts'
import { recordAudit } from '../../src/platform/audit/index.ts'
import { violations } from '../axe.ts'
import { sharedBrowser, toNextPage } from '../browser.ts'
import { freePort } from '../free-port.ts'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'
import { fits, gluedWords, LOOKS, type Look, picture, visit } from '../sandbox/browse.ts'
import { addressOf, type Filled, fill, HOSTILE } from './filled.ts'
import { codeOf, PASSWORD } from './person.ts'

/** The console in a real browser: hostile content does not run, and everything is readable and works with the keyboard. */

let world: World
let origin: string
let filled: Filled
let browser: Browser
beforeAll(async () => {
  const port = await freePort()
  origin = `http://localhost:${port}`
  world = await openWorld({ PUBLIC_URL: origin })
  await world.app.listen({ host: '127.0.0.1', port })
  filled = await fill(world)
  await createOperator(world.deps, { name: 'somebody', role: 'viewer', days: 1 })
  browser = await sharedBrowser()
})
afterAll(async () => {
  await world.close()
})

// Chromium reports what the Content-Security-Policy blocked on the console.
const complaints: string[] = []
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
  expect(complaints.splice(0)).toEqual([])
})

async function open(look: Look): Promise<Page> {
  const page = await (await visit(browser, look)).newPage()
  page.on('console', (message) => {
    if (/content security policy/i.test(message.text())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('dialog', (dialog) => complaints.push(dialog.message()))
  return page
}

async function enter(page: Page): Promise<void> {
  await page.goto(`${origin}/console/sign-in?first=1`)
  await page.fill('#token', ADMIN_TOKEN)
  await page.click('main button[type=submit]')
  await page.waitForURL(`${origin}/console`)
}

const PATHS = [
  ['home', ''],
  ['search', '/search?q=x'],
  ['search-found', '/search?q='],
  ['forbidden', '/nowhere'],
  ...SECTIONS.flatMap(({ lists = [], details = [], forms = [] }) =>
    [...lists, ...details, ...forms].map(({ path }) => [path.slice(1).replaceAll(/[/:]+/g, '-'), path]),
  ),
] as const

const addressIn = (path: string): string =>
  path === '/search?q='
    ? `/console${path}${filled.app_key}`
    : path === '/grants'
      ? `/console/grants?app_key=${filled.app_key}`
      : addressOf(path, filled)

async function look(page: Page, name: string, as: Look): Promise<void> {
  const found = await violations(page)
  expect(found, name).toEqual([])
  expect(await fits(page), `${name} scrolls sideways`).toBe(true)
  expect(await gluedWords(page), name).toEqual([])
  const there = await page.evaluate(() => ({
    headings: document.querySelectorAll('h1').length,
    ran: 'ran' in globalThis,
    foreign: document.querySelectorAll('main :is(script, img, [style])').length,
  }))
  expect(there, name).toEqual({ headings: 1, ran: false, foreign: 0 })
  await picture(page, `console-${name}`, as)
}

it.each(LOOKS)('each page on a $size in $locale runs nothing hostile, passes axe and fits', async (as) => {
  const page = await open(as)
  await page.goto(`${origin}/console/sign-in`)
  await look(page, 'sign-in', as)
  await enter(page)
  for (const [name, path] of PATHS) {
    await page.goto(origin + addressIn(path))
    await look(page, name, as)
  }
})

it('the menu of sections can be opened on a phone, even without JavaScript', async () => {
  const page = await open({ size: 'phone', locale: 'en', javaScriptEnabled: false })
  await enter(page)
  const users = page.locator('header nav').getByRole('link', { name: 'Users' })
  expect(await users.isVisible()).toBe(false)
  await page.locator('header .menu summary').press('Enter')
  await toNextPage(page, () => users.click())
  expect(page.url()).toBe(`${origin}/console/users`)
})

it('the filters of a list are collapsed on a phone, unless one is set or required', async () => {
  const page = await open({ size: 'phone', locale: 'en', javaScriptEnabled: false })
  await enter(page)
  await page.goto(`${origin}/console/apps`)
  const filter = page.getByLabel('State')
  const button = page.getByRole('link', { name: 'Register a micro-app' })
  expect(await filter.isVisible()).toBe(false)
  expect((await button.boundingBox())?.y).toBeLessThan(500)
  await page.locator('main .menu summary').press('Enter')
  await filter.selectOption('suspended')
  await toNextPage(page, () => page.getByRole('button', { name: 'Show' }).click())
  expect(await filter.isVisible()).toBe(true)
  await page.goto(`${origin}/console/grants`) // a list that requires a filter
  expect(await page.getByLabel('app_key').isVisible()).toBe(true)
})

it('a change of state with long names stays on the screen of a phone', async () => {
  const page = await open({ size: 'phone', locale: 'en' })
  await enter(page)
  for (const path of ['/orders/:order_id', '/orders', '/jobs']) {
    await page.goto(origin + addressIn(path))
    const marks = await page.locator('.mark').evaluateAll((all) => {
      for (const mark of all) mark.textContent = 'Created, not paid → Payment failed or unknown'
      return all.length
    })
    expect(marks, path).toBeGreaterThan(0)
    expect(await fits(page), path).toBe(true)
  }
})

it('a list cuts no short name in two, and stays in its card on every screen', async () => {
  const crowded = { reason: 'a long reason '.repeat(20), request_id: randomUUID() }
  await recordAudit(world.deps, { event: 'operator_signed_in', target: 'operator:somebody', detail: crowded })
  const page = await open({ size: 'desktop', locale: 'en' })
  await enter(page)
  const at = async (path: string, width: number) => {
    await page.setViewportSize({ width, height: 800 })
    await page.goto(`${origin}${addressIn(path)}`)
    return page.evaluate(() => {
      const card = document.querySelector('main .card')
      const inside = card && card.getBoundingClientRect().right - Number.parseFloat(getComputedStyle(card).paddingRight)
      const linesOf = (whole: string, name: string) => {
        const cell = [...document.querySelectorAll('td')].find(({ textContent }) => textContent === whole)
        const range = document.createRange()
        const text = cell?.lastChild
        if (text) range.setStart(text, (text.textContent ?? '').length - name.length)
        if (text) range.setEnd(text, (text.textContent ?? '').length)
        return range.getClientRects().length
      }
      return {
        isInside: (document.querySelector('table')?.getBoundingClientRect().right ?? 0) <= (inside ?? 0) + 1,
        lines: [linesOf('Operator ADMIN_TOKEN', 'ADMIN_TOKEN'), linesOf('operator:somebody', 'somebody')],
      }
    })
  }
  for (const width of [360, 769, 900, 1023, 1024, 1280])
    expect(await at('/audit', width), `${width}`).toEqual({ isInside: true, lines: [1, 1] })
  for (const path of ['/apps/:app_key/events', '/grants', '/orders'])
    for (const width of [961, 1024, 1280]) expect(await at(path, width), path).toMatchObject({ isInside: true })
})

it('the form of a new app folds what has a default, and opens it if something in it is filled in or wrong', async () => {
  const page = await open({ size: 'phone', locale: 'en', javaScriptEnabled: false })
  await enter(page)
  await page.goto(`${origin}/console/-/apps/new`)
  const webhook = page.getByLabel('Webhook')
  const submit = () => toNextPage(page, () => page.click('main button'))
  expect(await webhook.isVisible()).toBe(false)
  expect((await page.getByRole('button', { name: 'Register a micro-app' }).boundingBox())?.y).toBeLessThan(1_700)
  await page.fill('#field-name', 'Folded')
  await submit()
  await page.getByRole('alert').waitFor() // no scope
  expect(await webhook.isVisible()).toBe(false)
  await page.getByRole('checkbox', { name: 'USER_INFO' }).check()
  await page.fill('#field-hosts', 'a.example')
  await page.locator('main .more summary').press('Enter')
  await webhook.fill('not a URL')
  await submit()
  expect(await page.getByRole('alert').textContent()).toContain('Webhook')
  expect(await webhook.inputValue()).toBe('not a URL')
  expect(await webhook.isVisible()).toBe(true)
  await page.goto(`${origin}/console/-/apps/new?refresh_days=60`)
  expect(await webhook.isVisible()).toBe(true)
})

it('checkboxes for several values keep their state after an error and are saved', async () => {
  const page = await open({ size: 'phone', locale: 'en', javaScriptEnabled: false })
  await enter(page)
  await page.goto(`${origin}/console/-/apps/new`)
  const box = (name: string) => page.getByRole('checkbox', { name })
  await page.locator('main .more summary').press('Enter')
  expect(await box('client_secret_basic').isChecked()).toBe(true)
  await page.fill('#field-name', 'Boxes')
  await page.fill('#field-app_key', 'boxes')
  await box('PHONE_NUMBER').check()
  await box('client_secret_basic').uncheck()
  await toNextPage(page, () => page.click('main button'))
  await page.getByRole('alert').waitFor() // neither a host nor a redirect URI
  expect(await box('client_secret_basic').isChecked()).toBe(false)
  expect(await box('PHONE_NUMBER').isChecked()).toBe(true)
  await box('USER_INFO').check()
  await page.fill('#field-hosts', 'a.example')
  await toNextPage(page, () => page.click('main button'))
  await page.getByText('This is shown only now').waitFor()
  await page.goto(`${origin}/console/apps/boxes/edit`)
  await box('PHONE_NUMBER').uncheck()
  await toNextPage(page, () => page.click('main button'))
  const { rows } = await world.pool.query("select scopes, token_auth_methods from micro_app where app_key = 'boxes'")
  expect(rows).toEqual([{ scopes: ['USER_INFO'], token_auth_methods: ['client_secret_post'] }])
})

it('a right-to-left name keeps its direction and does not affect the text around it', async () => {
  const name = 'رحلات (2)!'
  await world.pool.query('update partner set name = $1', [name])
  const page = await open({ size: 'desktop', locale: 'en' })
  await enter(page)
  await page.goto(`${origin}/console/partners/${filled.partner_id}/suspend`)
  /** Horizontal positions: of the first and last character of the name, and of the text before it. */
  const ends = (selector: string) =>
    page
      .locator(selector)
      .filter({ hasText: name })
      .first()
      .evaluate((element, name) => {
        const text = [...element.childNodes].find((node) => node.textContent?.includes(name)) ?? element
        const start = text.textContent?.indexOf(name) ?? 0
        const left = (at: number) => {
          const range = document.createRange()
          range.setStart(text, at)
          range.setEnd(text, at + 1)
          return range.getBoundingClientRect().left
        }
        return { first: left(start), last: left(start + name.length - 1), before: start > 0 ? left(0) : undefined }
      }, name)
  const title = await ends('h1')
  expect(title.last).toBeLessThan(title.first)
  expect(title.before).toBeLessThan(title.last)
  await page.goto(`${origin}/console/partners/${filled.partner_id}`)
  const fact = await ends('dd')
  expect(fact.last).toBeLessThan(fact.first)
  expect(fact.last - ((await page.locator('dd').filter({ hasText: name }).boundingBox())?.x ?? 0)).toBeLessThan(20)
  await world.pool.query('update partner set name = $1', [HOSTILE])
})

describe('the keyboard', () => {
  it('suffices to sign in, add an authenticator, and make a change', async () => {
    await createOperator(world.deps, { name: 'keys', role: 'editor', days: 1 })
    await setOperatorPassword(world.deps, { name: 'keys', password: PASSWORD })
    const as: Look = { size: 'desktop', locale: 'en', javaScriptEnabled: false }
    const page = await open(as)
    await page.goto(`${origin}/console/apps/${filled.app_key}`)
    await page.locator('#name').focus()
    await page.keyboard.type('keys')
    await page.keyboard.press('Tab')
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/console/authenticator')
    await toNextPage(page, () => page.locator('main button').first().press('Enter'))
    const secret = (await page.locator('#secret').textContent()) ?? ''
    await picture(page, 'console-authenticator', as)
    await page.locator('#code').focus()
    await page.keyboard.type(codeOf(world, secret))
    await page.keyboard.press('Enter')
    const keptCodes = page.getByRole('link', { name: 'I have kept them' })
    await keptCodes.waitFor()
    await picture(page, 'console-recovery-codes', as)
    await keptCodes.press('Enter')
    await page.waitForURL(`${origin}/console`)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    expect(await page.locator(':focus').textContent()).toContain('Skip to content')
    await page.goto(`${origin}/console/apps/${filled.app_key}`)
    await toNextPage(page, () => page.getByRole('link', { name: 'Suspend' }).press('Enter'))
    await toNextPage(page, () => page.getByRole('button', { name: 'Suspend' }).press('Enter'))
    expect(page.url()).toMatch(/\?done=1$/)
    expect(await page.locator('[role=status]:focus').textContent()).toContain('Done')
    await toNextPage(page, () => page.getByRole('link', { name: 'Approve' }).press('Enter'))
    await toNextPage(page, () => page.getByRole('button', { name: 'Approve' }).press('Enter'))
    expect(page.url()).toMatch(/\?done=1$/)
    await page.goto(`${origin}/console/apps/${filled.app_key}/rotate-secret`)
    await page.fill('#field-overlap_s', '9999999')
    await toNextPage(page, () => page.locator('main form button').press('Enter'))
    expect(await page.locator('[role=alert]:focus').textContent()).toContain('Nothing was changed')
    await page.goto(`${origin}${addressIn('/users/user')}`)
    expect(await page.locator('main').textContent()).toContain('The role Admin may also: Erase this person')
    await page.goto(`${origin}/console/operators`)
    expect(await page.locator('h1').textContent()).toBe('Your role does not allow this')
    await picture(page, 'console-role', as)
  })
})
