import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { violations } from '../axe.ts'
import { toNextPage } from '../browser.ts'
import { openWorld, type World } from '../harness.ts'
import { signatureOf } from '../signer.ts'
import { browsing, fits, LOOKS, type Look, picture, signInAs } from './browse.ts'
import { newSandboxPartner, type SandboxPartner } from './partners.ts'

const PATH = '/mtp/api/order/test/ba'

const browser = browsing()
let world: World
let origin: string
let partner: SandboxPartner
beforeAll(async () => {
  world = await openWorld()
  await world.app.listen({ host: '127.0.0.1', port: 0 })
  origin = `http://localhost:${(world.app.server.address() as AddressInfo).port}`
})
afterAll(async () => {
  await world.close()
})
beforeEach(async () => {
  partner = await newSandboxPartner(world, { client_id: undefined })
  await world.pool.query('delete from failed_attempt')
})

const open = (path: string, look: Look) => browser.open(origin + path, look)

const date = () => world.clock.now().toUTCString()
const authorization = (newline: string) =>
  `MWS ${partner.client_id}:${signatureOf({ path: PATH, date: date(), secret: partner.client_secret, newline })}`

async function paste(page: Page, newline: string): Promise<void> {
  await page.fill('#date', date())
  await page.fill('#authorization', authorization(newline))
  await toNextPage(page, () => page.click('#paste button[type=submit]'))
}

/** Pages whose screenshots are kept, in the light colour scheme only. */
const KEPT = ['sign-in', 'home', 'signature-failed', 'signature-passed']

const looksRight = async (page: Page, name: string, look: Look) => {
  expect(await page.getAttribute('html', 'lang')).toBe(look.locale)
  expect(await violations(page)).toEqual([])
  expect(await fits(page)).toBe(true)
  if (KEPT.includes(name) && look.colorScheme !== 'dark') await picture(page, name, look)
}

describe.each(LOOKS)('viewed as %j', (look) => {
  it('each page is accessible, fits, and leads to the next', async () => {
    const page = await open('/sandbox', look)
    await looksRight(page, 'sign-in', look)
    await signInAs(page, { ...partner, client_secret: 'wrong' })
    await page.getByRole('alert').waitFor()
    await looksRight(page, 'sign-in-failed', look)
    await signInAs(page, partner)
    await looksRight(page, 'home', look)
    await toNextPage(page, () => page.click('li[aria-current=step] a.button'))
    await looksRight(page, 'signature-empty', look)
    await paste(page, '')
    expect(await page.locator('#verdict .mistakes code').allTextContents()).toEqual(['newline-missing'])
    await looksRight(page, 'signature-failed', look)
    await paste(page, '\n')
    await page.click('#snippets details:nth-of-type(3) summary')
    await looksRight(page, 'signature-passed', look)
    await toNextPage(page, () => page.click('#snippets a[href="/sandbox/starters"]'))
    await looksRight(page, 'starters', look)
    await page.goto(`${origin}/sandbox`)
    await looksRight(page, 'home-passed', look)
    await page.goto(`${origin}/sandbox/nothing`)
    await looksRight(page, 'error', look)
  })
})

describe('the signature tool', () => {
  const send = (newline: string) =>
    fetch(`${origin}${PATH}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json; charset=utf-8',
        PartnerId: String(partner.partner_id),
        Date: date(),
        Authorization: authorization(newline),
      },
      body: '{}',
    })

  it('shows calls as they arrive, and keeps what was typed and which call was chosen', async () => {
    const page = await open('/sandbox/signature', { size: 'desktop', locale: 'en' })
    await signInAs(page, partner)
    await page.waitForURL(`${origin}/sandbox/signature`)
    await page.evaluate(() => Object.assign(globalThis, { same: true }))
    await page.fill('#date', 'typed')
    await send('')
    await page.waitForSelector('#verdict.bad')
    expect(await page.locator('#verdict .mistakes code').allTextContents()).toEqual(['newline-missing'])
    expect(await page.locator('#verdict time[data-local]').count()).toBe(1)
    await send('\n')
    await page.waitForSelector('#verdict.good')
    await page.waitForSelector('#reached a[href="/sandbox/functions"]')
    expect(await page.locator('.calls li').count()).toBe(2)
    expect(await page.inputValue('#date')).toBe('typed')
    expect(await page.evaluate(() => 'same' in globalThis)).toBe(true)
    expect(await violations(page)).toEqual([])
    await toNextPage(page, () => page.click('.calls li:last-child a'))
    await page.waitForSelector('#verdict.bad')
    await send('\n')
    await page.waitForSelector('.calls li:nth-child(3)')
    expect(await page.locator('#verdict.bad').count()).toBe(1)
  })

  it('leads to the sign-in page when the session is over', async () => {
    const page = await open('/sandbox/signature', { size: 'desktop', locale: 'en' })
    await signInAs(page, partner)
    await page.waitForURL(`${origin}/sandbox/signature`)
    await page.context().clearCookies()
    await page.waitForURL(/\/sandbox\/sign-in/)
  })
})

describe('without JavaScript', () => {
  it('a partner signs in, sees its mistake, passes, and signs out', async () => {
    const page = await open('/sandbox/signature', { size: 'phone', locale: 'zh-CN', javaScriptEnabled: false })
    await signInAs(page, partner)
    expect(new URL(page.url()).pathname).toBe('/sandbox/signature')
    await paste(page, '\\n')
    expect(await page.textContent('#verdict h2')).toContain('该调用未通过签名校验')
    expect(await page.textContent('#verdict .mistakes')).toContain('反斜杠')
    await paste(page, '\n')
    expect(await page.textContent('#verdict h2')).toContain('签名正确')
    expect(await page.textContent('.success')).toContain('联调测试已开放')
    expect(await page.locator('.copy').count()).toBe(0)
    await toNextPage(page, () => page.click('footer a[lang=en]'))
    expect(await page.textContent('#verdict h2')).toContain('This signature is correct')
    await toNextPage(page, () => page.click('.signed-in button'))
    expect(new URL(page.url()).pathname).toBe('/sandbox/sign-in')
  })

  it('a partner sees a received call after reloading the page', async () => {
    const page = await open('/sandbox/signature', { size: 'desktop', locale: 'en', javaScriptEnabled: false })
    await signInAs(page, partner)
    expect(await page.textContent('#send')).toContain('No calls received yet.')
    const headers = { date: date(), authorization: authorization('') }
    await world.app.inject({ method: 'POST', url: PATH, headers })
    // What is in noscript has no text for the browser driver.
    await toNextPage(page, () => page.click('a.button[href="/sandbox/signature"]'))
    expect(await page.textContent('.calls')).toContain('newline-missing')
    expect(await page.textContent('#verdict')).toContain('The line feed between path and Date is missing.')
    expect(await page.textContent('#verdict .when')).toMatch(/ UTC$/)
  })

  it('a partner whose session ended before it sent a form signs in and is back on the page of the form', async () => {
    const page = await open('/sandbox/signature', { size: 'desktop', locale: 'en', javaScriptEnabled: false })
    await signInAs(page, partner)
    world.clock.advance(world.deps.config.SESSION_LIFETIME_S + 1)
    await paste(page, '\n')
    expect(await page.getByRole('status').textContent()).toContain('Your session has ended.')
    await signInAs(page, partner)
    expect(new URL(page.url()).pathname).toBe('/sandbox/signature')
  })
})

describe('with the keyboard alone', () => {
  it('a partner signs in, skips the navigation, and has a call checked', async () => {
    const page = await open('/sandbox/signature', { size: 'desktop', locale: 'en' })
    await page.locator('#client_id:focus').waitFor()
    await page.keyboard.type(partner.client_id)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab') // skips the email address, which only members enter
    await page.keyboard.type(partner.client_secret)
    await toNextPage(page, () => page.keyboard.press('Enter'))
    expect(page.url()).toBe(`${origin}/sandbox/signature`)
    const focused = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent?.trim())
    await page.keyboard.press('Tab') // the brand
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('Skip to content')
    await page.keyboard.press('Enter')
    for (let stops = 0; stops < 20 && (await focused()) !== 'date'; stops++) {
      await page.keyboard.press('Tab')
      const outline = await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle)
      expect(outline, String(await focused())).not.toBe('none')
    }
    await page.keyboard.type(date())
    await page.keyboard.press('Tab')
    await page.keyboard.type(authorization('\n'))
    for (let stops = 0; stops < 3; stops++) await page.keyboard.press('Tab')
    await toNextPage(page, () => page.keyboard.press('Enter'))
    expect(await page.textContent('#verdict h2')).toContain('This signature is correct')
  })
})

describe('with JavaScript', () => {
  it('a snippet can be copied', async () => {
    const page = await open('/sandbox/signature', { size: 'desktop', locale: 'en' })
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await signInAs(page, partner)
    await page.click('#snippets details[open] .copy')
    await page.getByText('Copied').waitFor()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied).toContain(`client_id='${partner.client_id}'`)
    expect(copied).toContain('-hmac "$CLIENT_SECRET"')
  })
})
