import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { violations } from '../axe.ts'
import { toNextPage } from '../browser.ts'
import { browsing, fits, LOOKS, type Look, picture, signInAs } from './browse.ts'
import { type Lab, openLab } from './lab.ts'

const browser = browsing()
let lab: Lab
let origin: string
beforeAll(async () => {
  lab = await openLab()
  await lab.run()
  origin = lab.url.replace('127.0.0.1', 'localhost')
})
afterAll(async () => {
  await lab.close()
})

afterEach(() => lab.world.clock.advance(61))

async function open(path: string, look: Look): Promise<Page> {
  const page = await browser.open(origin + path, look)
  await signInAs(page, { client_id: 'lab', client_secret: lab.secret })
  await page.waitForURL((url) => url.pathname === path)
  return page
}

/** Pages whose screenshots are kept. */
const KEPT = ['play', 'play-result', 'play-order']

const looksRight = async (page: Page, name: string, look: Look) => {
  expect(await page.getAttribute('html', 'lang')).toBe(look.locale)
  expect(await violations(page)).toEqual([])
  expect(await fits(page)).toBe(true)
  if (KEPT.includes(name) && look.colorScheme === undefined) await picture(page, name, look)
}

const press = async (page: Page, action: string) => {
  await toNextPage(page, () => page.click(`form[action$="${action}"] button`))
  await page.waitForSelector('#result')
}

describe.each(LOOKS)('viewed as %j', (look) => {
  it('an order is created, paid and partly refunded, and every page is accessible and fits', async () => {
    const page = await open('/sandbox/play', look)
    await press(page, '/orders')
    await press(page, '/pay')
    await looksRight(page, 'play-result', look)
    await press(page, '/refund')
    await toNextPage(page, () => page.click('a[href="/sandbox/play"]'))
    await looksRight(page, 'play', look)
    await toNextPage(page, () => page.click('.playing a[href*="/play/orders/"]'))
    await looksRight(page, 'play-order', look)
  })

  it('the first visit shows the editor, and a call leads to its answer, without scrolling', async () => {
    const page = await open('/sandbox/play/order-query', look)
    const isInView = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => {
          const { top } = element.getBoundingClientRect()
          return top >= 0 && top + 60 < innerHeight
        })
    expect(await isInView('#body')).toBe(true)
    await toNextPage(page, () => page.click('.card form button'))
    await page.waitForSelector('#result')
    for (const part of ['#result-title', '#result h2 .mark', '#result pre.body']) {
      await expect.poll(() => isInView(part), { message: part }).toBe(true)
    }
    const order = await page.evaluate(() => [...document.querySelectorAll('#result, #body')].map(({ id }) => id))
    expect(order).toEqual(['result', 'body'])
  })

  it('invalid JSON and a failed check are shown accessibly', async () => {
    const page = await open('/sandbox/play/order-query', look)
    await page.fill('#body', '{"body": {"orderId": 1,}}')
    await toNextPage(page, () => page.click('.card form button'))
    await page.waitForSelector('#body-problem')
    await looksRight(page, 'play-problem', look)
    await page.fill('#body', '{"body": {"orderId": 1}}')
    await page.check('input[value="signature"]')
    await toNextPage(page, () => page.click('.card form button'))
    await page.waitForSelector('#result')
    await looksRight(page, 'play-forged', look)
  })
})

it('the playground works without scripts, and with the keyboard alone', async () => {
  const page = await open('/sandbox/play/heartbeat', { size: 'desktop', locale: 'en', javaScriptEnabled: false })
  await page.focus('#body')
  await page.keyboard.press('Tab')
  await page.keyboard.press('ArrowDown')
  expect(await page.isChecked('input[value="signature"]')).toBe(true)
  await page.keyboard.press('ArrowUp')
  for (const _ of ['expected answer', 'the button']) await page.keyboard.press('Tab')
  await toNextPage(page, () => page.keyboard.press('Enter'))
  await page.waitForSelector('#result')
  expect(await page.textContent('#result-title')).toContain('All checks passed')
})
