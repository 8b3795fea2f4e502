import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { violations } from '../axe.ts'
import { toNextPage } from '../browser.ts'
import { openWorld, type World } from '../harness.ts'
import { browsing, fits, LOOKS, type Look, picture } from './browse.ts'

const browser = browsing()
let world: World
let origin: string
beforeAll(async () => {
  world = await openWorld()
  await world.app.listen({ host: '127.0.0.1', port: 0 })
  origin = `http://localhost:${(world.app.server.address() as AddressInfo).port}`
})
afterAll(async () => {
  await world.close()
})

const open = (path: string, look: Look) => browser.open(origin + path, look)

async function looksRight(page: Page, name: string, look: Look): Promise<void> {
  expect(await violations(page)).toEqual([])
  expect(await fits(page)).toBe(true)
  await picture(page, name, look, false)
}

describe.each(LOOKS)('the field reference viewed as %j', (look) => {
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
  await toNextPage(page, () => page.keyboard.press('Enter'))
  expect(page.url()).toMatch(/\/sandbox\/docs\?q=credentialType$/)
  await toNextPage(page, () => page.click('.found a'))
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
  const context = await browser.visit(DESKTOP)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin })
  const page = await context.newPage()
  await page.goto(`${origin}/sandbox/docs`)
  const section = page.locator('section[aria-labelledby=order-create]')
  await section.locator('summary').first().click()
  await section.locator('button.copy').first().click()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(JSON.parse(copied)).toHaveProperty('body.partnerDealId', 'D1')
})

it('without a clipboard, as inside some apps, the button selects the example', async () => {
  const context = await browser.visit(DESKTOP)
  await context.addInitScript(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
  const page = await context.newPage()
  await page.goto(`${origin}/sandbox/docs`)
  const section = page.locator('section[aria-labelledby=order-create]')
  await section.locator('summary').first().click()
  await section.locator('button.copy').first().click()
  await page.waitForFunction(() => getSelection()?.toString().includes('partnerDealId'))
})
