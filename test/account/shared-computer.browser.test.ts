import type { AddressInfo } from 'node:net'
import { TOTP } from 'otpauth'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Client, type User } from '../acceptance/client.ts'
import { injectWire } from '../acceptance/http.ts'
import { toNextPage } from '../browser.ts'
import { openWorld, type World } from '../harness.ts'
import { browsing } from '../sandbox/browse.ts'

/** What the next person at a shared computer can find, in Chromium. */

let world: World
let client: Client
let origin: string
const { visit, tab } = browsing()
beforeAll(async () => {
  world = await openWorld()
  await world.app.listen({ host: '127.0.0.1', port: 0 })
  origin = `http://localhost:${(world.app.server.address() as AddressInfo).port}`
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
})
afterAll(() => world.close())

const newPerson = () => client.makeUser({ name: 'Lin Yue', passport: `lin.yue.${Date.now()}@example.com` })
async function signIn(page: Page, { passport, password }: User) {
  await page.goto(`${origin}/sign-in?return_to=%2Faccount%2Fprofile`)
  await page.fill('#passport', passport)
  await page.fill('#password', password)
  await toNextPage(page, () => page.click('form[action="/sign-in"] button'))
}

/** Everything the browser has stored, raw and decoded. */
async function storedBy(context: BrowserContext, page: Page): Promise<string> {
  const cookies = await context.cookies()
  const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))
  const texts = cookies.flatMap(({ value }) => [value, decodeURIComponent(value)])
  const parts = texts.flatMap((text) => text.split(/[.~]/))
  return [stored, ...texts, ...parts.map((part) => Buffer.from(part, 'base64url').toString())].join('\n')
}
const personalDataOf = ({ passport, user_id }: User) => [passport, 'Lin Yue', user_id]

describe('on a shared computer', () => {
  it('signing out leaves no name, no session and no page to go back to', async () => {
    const user = await newPerson()
    const context = await visit({ size: 'desktop', locale: 'en' })
    const page = await tab(context, origin)
    await signIn(page, user)
    await page.waitForURL('**/account/profile')
    for (const path of ['/account', '/account/security', '/account/data']) await page.goto(origin + path)
    const before = await context.cookies()
    await toNextPage(page, () => page.click('form[action="/sign-out"] button'))
    expect((await context.cookies()).map(({ name }) => name).filter((name) => /session|step/.test(name))).toEqual([])
    const kept = await storedBy(context, page)
    for (const personal of personalDataOf(user)) expect(kept).not.toContain(personal)
    for (let back = 0; back < 3; back++) {
      await page.goBack()
      for (const personal of personalDataOf(user)) expect(await page.content()).not.toContain(personal)
    }
    await page.goto(`${origin}/sign-in`)
    expect([await page.inputValue('#passport'), await page.inputValue('#password')]).toEqual(['', ''])
    // Copied cookies are worthless too.
    await context.addCookies(before)
    await page.goto(`${origin}/account`)
    expect(new URL(page.url()).pathname).toBe('/sign-in')
  })

  it('a sign-in abandoned before its code names nobody, and ends with the browser', async () => {
    const user = await newPerson()
    const browser = client.newBrowser()
    await browser.send('POST', '/sign-in', { passport: user.passport, password: user.password })
    const made = await browser.send('POST', '/account/security/authenticator')
    const secret = /id="secret">([A-Z2-7]+)</.exec(made.text)?.[1] ?? ''
    const code = new TOTP({ secret, period: 30 }).generate({ timestamp: world.clock.now().getTime() })
    await browser.send('POST', '/account/security/authenticator/confirm', { code })
    const context = await visit({ size: 'desktop', locale: 'en' })
    const page = await tab(context, origin)
    await signIn(page, user)
    await page.waitForSelector('#code')
    expect(await page.content()).not.toContain(user.passport)
    const kept = await storedBy(context, page)
    for (const personal of personalDataOf(user)) expect(kept).not.toContain(personal)
    const step = (await context.cookies()).find(({ name }) => name.includes('second_step'))
    expect(step?.expires).toBe(-1)
    await toNextPage(page, () => page.click('text=Sign in as somebody else'))
    expect(await page.inputValue('#passport')).toBe('')
  })
})
