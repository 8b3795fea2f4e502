import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openBrowser } from '../browser.ts'
import { openWorld, type World } from '../harness.ts'
import { fits, LOOKS, type Look, picture, violations, visit } from './browse.ts'

let world: World
let origin: string
let browser: Browser
beforeAll(async () => {
  world = await openWorld()
  await world.app.listen({ host: '127.0.0.1', port: 0 })
  origin = `http://localhost:${(world.app.server.address() as AddressInfo).port}`
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await world.close()
})

// Chromium reports what the Content-Security-Policy blocked on the console.
const complaints: string[] = []
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
  expect(complaints.splice(0)).toEqual([])
})

async function open(address: string, look: Look): Promise<Page> {
  const page = await (await visit(browser, look)).newPage()
  page.setDefaultTimeout(120_000)
  page.on('console', (message) => {
    if (/content security policy/i.test(message.text())) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  await page.goto(origin + address)
  return page
}

async function looksRight(page: Page, name: string, look: Look): Promise<void> {
  expect(await violations(page)).toEqual([])
  expect(await fits(page)).toBe(true)
  await picture(page, name, look, false)
}

describe.each(LOOKS)('the field reference, looked at as %j', (look) => {
  it('is accessible and fits, from its contents to its diagrams and results', async () => {
    const page = await open('/sandbox/docs', look)
    expect(await page.getAttribute('html', 'lang')).toBe(look.locale)
    await looksRight(page, 'docs', look)
    for (const anchor of ['limits', 'functions', 'downloads', 'order-states', 'refund-states', 'order-pay']) {
      await page.evaluate((id) => document.getElementById(id)?.scrollIntoView(), anchor)
      await picture(page, `docs-${anchor}`, look, false)
    }
    await page.goto(`${origin}/sandbox/docs?q=refund`)
    await looksRight(page, 'docs-search', look)
  })
})

const DESKTOP: Look = { size: 'desktop', locale: 'en' }

it('the search works without JavaScript and leads to the field', async () => {
  const page = await open('/sandbox/docs', { ...DESKTOP, javaScriptEnabled: false })
  await page.fill('#q', 'credentialType')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/sandbox/docs?q=credentialType')
  await page.click('.found a')
  await page.waitForURL('**/sandbox/docs#**credentialType')
  expect(await page.locator('tr:target').count()).toBe(1)
})

it('the contents stay in view on a desktop', async () => {
  const page = await open('/sandbox/docs', DESKTOP)
  await page.evaluate(() => document.getElementById('order-create')?.scrollIntoView())
  const box = await page.locator('#contents').boundingBox()
  expect(box?.y).toBeGreaterThanOrEqual(0)
  expect(box?.y).toBeLessThan(100)
})

it('an example is copied with a button', async () => {
  const context = await visit(browser, DESKTOP)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin })
  const page = await context.newPage()
  await page.goto(`${origin}/sandbox/docs`)
  const section = page.locator('section[aria-labelledby=order-create]')
  await section.locator('summary').first().click()
  await section.locator('button.copy').first().click()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(JSON.parse(copied)).toHaveProperty('body.partnerDealId', 'D1')
})
