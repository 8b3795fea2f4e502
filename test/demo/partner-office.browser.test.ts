import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Demo, startDemo } from '../../src/demo/index.ts'
import { seedDemo } from '../../src/demo/seed.ts'
import { addDays, beijingDate } from '../../src/platform/lib/time-zone.ts'
import { pullCatalogue } from '../../src/ticketing/catalogue/pull-catalogue.ts'
import { pullPrices } from '../../src/ticketing/catalogue/pull-prices.ts'
import { createOrder } from '../../src/ticketing/orders/create-order.ts'
import { payOrder } from '../../src/ticketing/orders/pay-order.ts'
import { queryOrder } from '../../src/ticketing/orders/query-order.ts'
import { refundOrder } from '../../src/ticketing/orders/refund-order.ts'
import { showOrder } from '../../src/ticketing/orders/show-order.ts'
import { newOrder, newRefund } from '../../src/ticketing/orders/wire.ts'
import { BY_COMMAND } from '../../src/ticketing/partner-calls/index.ts'
import { violations } from '../axe.ts'
import { sharedBrowser, toNextPage } from '../browser.ts'
import { freePort } from '../free-port.ts'
import { openWorld, type World } from '../harness.ts'
import { fits, LOOKS, type Look, visit } from '../sandbox/browse.ts'

/**
 * End to end: a click in the back office sends a signed notice that changes the platform's order. SCREENSHOTS=folder
 * saves pictures.
 */

const FOLDER = process.env.SCREENSHOTS
const DESKTOP: Look = { size: 'desktop', locale: 'en' }

let world: World
let demo: Demo
let browser: Browser
let office: string
beforeAll(async () => {
  browser = await sharedBrowser()
  const port = await freePort()
  world = await openWorld({
    PORT: String(port),
    HOST: '0.0.0.0',
    DEMO_PORT: '0',
    DEMO_PARTNER_PORT: '0',
    PARTNER_ADDRESS_ALLOW: '127.0.0.1',
  })
  await seedDemo(world.deps)
  await world.app.listen({ host: '127.0.0.1', port })
  demo = await startDemo(world.deps, world.log)
  office = demo.officeUrl ?? ''
  await pullCatalogue(world.deps, { partner_id: 7001n }, BY_COMMAND)
})
afterAll(async () => {
  await demo.stop()
  await world.close()
})
// Chromium reports what the Content-Security-Policy blocked on the console.
const consoleErrors: string[] = []
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
  expect(consoleErrors.splice(0).filter((text) => /content security policy/i.test(text))).toEqual([])
})

/** Two tickets for tomorrow, created and paid by the platform. */
async function buyTickets(partner_deal_id: string): Promise<bigint> {
  const { deps, clock } = world
  const travel_date = addDays(beijingDate(clock.now()), 1)
  const common = { partner_id: 7001n, partner_deal_id }
  await pullPrices(deps, { ...common, from: travel_date, to: travel_date }, { cause: BY_COMMAND })
  const { order } = await createOrder(deps, newOrder.parse({ ...common, travel_date, quantity: 2 }), BY_COMMAND)
  await payOrder(deps, order.order_id, BY_COMMAND)
  return order.order_id
}

/** An order with a refund that the partner has to decide on. */
async function requestReviewedRefund(): Promise<bigint> {
  const order_id = await buyTickets('DEMO-TOWER')
  world.clock.advance(10)
  await queryOrder(world.deps, order_id, BY_COMMAND)
  await refundOrder(world.deps, newRefund.parse({ order_id }), BY_COMMAND)
  return order_id
}

const stateOf = async (orderId: bigint) => (await showOrder(world.deps, orderId)).order.state

async function open(look: Look): Promise<Page> {
  const page = await (await visit(browser, look)).newPage()
  page.on('console', (message) => message.type() === 'error' && consoleErrors.push(message.text()))
  await page.goto(office)
  return page
}

async function screenshot(page: Page, name: string): Promise<void> {
  if (!FOLDER) return
  mkdirSync(FOLDER, { recursive: true })
  await page.screenshot({ path: join(FOLDER, `office-${name}.png`), fullPage: true })
}

const LONG = `${'Ferry'.repeat(30)} "><script>alert(1)</script>`

/** Fills every part of the page: orders, a refund to decide, notices, mistakes, a long title that contains a script. */
async function fillOffice(): Promise<void> {
  const orderId = await buyTickets('DEMO-BOAT')
  await requestReviewedRefund()
  const control = (path: string, input: object) =>
    fetch(`${office}/control/${path}`, { method: 'POST', body: JSON.stringify(input) })
  await control('consume', { orderId: String(orderId), quantity: 1 })
  await control('change-product', { partnerDealId: 'DEMO-SHOW', title: LONG, onSale: false })
  await control('mistakes', { mistakes: ['answer-slow', 'notice-wrong-signature'] })
}

describe('the back office in a browser', () => {
  it('admits visitors without JavaScript, and the platform’s order is consumed', async () => {
    const orderId = await buyTickets('DEMO-BOAT')
    const page = await open({ ...DESKTOP, javaScriptEnabled: false })
    await page.fill('input[name=quantity]', '2')
    await page.getByRole('button', { name: 'Admit' }).click()
    await page.waitForURL(/\?done=consume/)
    expect(await page.getByRole('status').textContent()).toContain('The visitors were admitted.')
    expect(await page.textContent('#notices')).toMatch(/acknowledged · attempts: 1[\s\S]*200: success/)
    expect(await page.textContent('#orders')).toContain('2 used, 0 refunded of 2')
    expect(await page.locator('input[name=quantity]').count()).toBe(0)
    expect(await stateOf(orderId)).toBe('consumed')
  })

  it('decides on a refund with the keyboard alone', async () => {
    const orderId = await requestReviewedRefund()
    const page = await open(DESKTOP)
    await page.getByLabel('Reason (optional)').focus()
    await page.keyboard.type('all is well')
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Approve')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\?done=decide-refund/)
    expect(await page.textContent('#refunds')).toContain('refunded')
    expect(await stateOf(orderId)).toBe('refunded')
  })

  it('changes a product and tells the platform', async () => {
    const page = await open({ ...DESKTOP, locale: 'zh-CN' })
    await page.click('text=修改 DEMO-OPEN')
    const form = page.locator('details[open] form')
    await form.getByLabel('标题').fill('新门票')
    await form.getByLabel('在售').selectOption('no')
    await form.getByRole('button').click()
    await page.waitForURL(/\?done=change-product/)
    expect(await page.textContent('#products')).toMatch(/新门票[\s\S]*已下架/)
    expect((await page.textContent('#notices'))?.match(/产品变更/g)).toHaveLength(2)
    const { rows } = await world.pool.query(`select body from notice where path like '%deal/change%'`)
    expect(rows).toHaveLength(2)
  })

  it('switches mistakes on and off', async () => {
    const page = await open(DESKTOP)
    await page.getByLabel('accepts orders for products that are sold out').check()
    await page.getByLabel('HTTP status 500').check()
    await page.getByRole('button', { name: 'Switch on these mistakes' }).click()
    await page.waitForURL(/\?done=mistakes/)
    expect(await page.textContent('form.alert')).toMatch(/out-of-stock-sold\s+answer-http-500/)
    expect(await page.locator('input:checked').count()).toBe(2)
    await page.getByRole('button', { name: 'Switch off all mistakes' }).first().click()
    await page.waitForURL(/\?done=honest/)
    expect(await page.locator('input:checked').count()).toBe(0)
  })

  it('cannot be driven by a page of another origin', async () => {
    const page = await open(DESKTOP)
    await page.goto(demo.url)
    const forms = ['application/x-www-form-urlencoded', 'text/plain']
    for (const enctype of forms) {
      const path = enctype === 'text/plain' ? '/control/mistakes' : '/office/mistakes'
      const answer = page.waitForResponse((response) => response.url().endsWith(path))
      // The demo micro-app turned hostile: another port of this machine is another origin.
      await page.context().route(demo.url, (route) =>
        route.fulfill({
          contentType: 'text/html',
          body: `<form method="post" enctype="${enctype}" action="${office}${path}"><button name='{"mistakes":["answer-slow"],"x":"' value='"}'>x</button></form>`,
        }),
      )
      await page.goto(demo.url)
      await toNextPage(page, () => page.click('button'))
      expect((await answer).status()).toBe(403)
      await page.context().unroute(demo.url)
    }
    expect(await (await fetch(`${office}/control/mistakes`)).json()).toMatchObject({ mistakes: [] })
  })

  it('is accessible and fits the screen in every size and language', async () => {
    await fillOffice()
    for (const look of LOOKS) {
      const page = await open(look)
      const name = `${look.size}-${look.locale}`
      expect(await page.getAttribute('html', 'lang'), name).toBe(look.locale)
      expect(await page.textContent('#products'), name).toContain(LONG)
      await screenshot(page, name)
      await page.evaluate(() => {
        for (const details of document.querySelectorAll('details')) details.open = true
      })
      expect(await violations(page), name).toEqual([])
      expect(await fits(page), name).toBe(true)
      await screenshot(page, `${name}-opened`)
      await page.context().close()
    }
  })
})

it('listens on the loopback address only, whatever HOST says', async () => {
  const { networkInterfaces } = await import('node:os')
  const others = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4')
  const port = new URL(office).port
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)
  for (const { address } of [...others, { address: '127.0.0.2' }]) {
    await expect(fetch(`http://${address}:${port}/`), address).rejects.toThrow('fetch failed')
  }
})
