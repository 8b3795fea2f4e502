import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openBrowser } from '../browser.ts'
import { fits, LOOKS, type Look, picture, signInAs, violations, visit } from './browse.ts'
import { type Lab, openLab } from './lab.ts'

let lab: Lab
let browser: Browser
let origin: string
beforeAll(async () => {
  lab = await openLab()
  await lab.run()
  origin = lab.url.replace('127.0.0.1', 'localhost')
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await lab.close()
})

// Chromium reports what the Content-Security-Policy blocked on the console.
const complaints: string[] = []
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
  expect(complaints.splice(0)).toEqual([])
  lab.world.clock.advance(61)
})

async function open(path: string, look: Look, javaScriptEnabled = true): Promise<Page> {
  const context = javaScriptEnabled
    ? await visit(browser, look)
    : await browser.newContext({ locale: look.locale, javaScriptEnabled })
  const page = await context.newPage()
  page.setDefaultTimeout(120_000)
  page.on('console', (message) => {
    if (/content security policy/i.test(message.text())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  await page.goto(origin + path)
  await signInAs(page, { client_id: 'lab', client_secret: lab.secret })
  await page.waitForURL((url) => url.pathname === path)
  return page
}

/** Pages of which pictures are taken. */
const KEPT = ['play', 'play-result', 'play-order']

const looksRight = async (page: Page, name: string, look: Look) => {
  expect(await page.getAttribute('html', 'lang')).toBe(look.locale)
  expect(await violations(page)).toEqual([])
  expect(await fits(page)).toBe(true)
  if (KEPT.includes(name) && look.colorScheme === undefined) await picture(page, name, look)
}

const press = async (page: Page, action: string) => {
  await page.click(`form[action$="${action}"] button`)
  await page.waitForSelector('#result')
}

describe.each(LOOKS)('looked at as %j', (look) => {
  it('an order is made, paid and refunded in part, and every page is accessible and fits', async () => {
    const page = await open('/sandbox/play', look)
    await press(page, '/orders')
    await press(page, '/pay')
    await looksRight(page, 'play-result', look)
    await press(page, '/refund')
    await page.click('a[href="/sandbox/play"]')
    await looksRight(page, 'play', look)
    await page.click('.playing a[href*="/play/orders/"]')
    await looksRight(page, 'play-order', look)
  })

  it('a body that is no JSON, and a failed check, are told accessibly', async () => {
    const page = await open('/sandbox/play/order-query', look)
    await page.fill('#body', '{"body": {"orderId": 1,}}')
    await page.click('.card form button')
    await page.waitForSelector('#body-problem')
    await looksRight(page, 'play-problem', look)
    await page.fill('#body', '{"body": {"orderId": 1}}')
    await page.check('input[value="signature"]')
    await page.click('.card form button')
    await page.waitForSelector('#result')
    await looksRight(page, 'play-forged', look)
  })
})

it('works without scripts, and with the keyboard alone', async () => {
  const page = await open('/sandbox/play/heartbeat', { size: 'desktop', locale: 'en' }, false)
  await page.focus('#body')
  await page.keyboard.press('Tab')
  await page.keyboard.press('ArrowDown')
  expect(await page.isChecked('input[value="signature"]')).toBe(true)
  await page.keyboard.press('ArrowUp')
  for (const _ of ['expected answer', 'the button']) await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.waitForSelector('#result')
  expect(await page.textContent('#result-title')).toContain('All checks passed')
})
