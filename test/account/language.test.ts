import { TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Browser } from '../acceptance/browser.ts'
import { Client } from '../acceptance/client.ts'
import { type Answer, injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'

/** The language links of pages that answer a form: their addresses lead to the page that has it, with all it was asked for. */

let world: World
let client: Client
beforeAll(async () => {
  world = await openWorld()
  client = new Client(injectWire(world.app), world.deps.config.PUBLIC_URL)
})
afterAll(() => world.close())

async function signedIn(browser: Browser) {
  const user = await client.makeUser()
  await browser.send('POST', '/sign-in', { passport: user.passport, password: user.password })
  return user
}

/** Presses the link to Chinese of a page that was shown at this path. */
async function inChinese(browser: Browser, path: string, shown: Answer): Promise<string> {
  const link = /href="(\?[^"]*ui_locales=zh-CN)"/.exec(shown.text)?.[1]?.replaceAll('&amp;', '&')
  const page = await browser.open(`${path}${link}`)
  expect(page.text).toContain('<html lang="zh-CN">')
  return page.text
}

const RETURN_TO = '/account/data'

describe('Chinese, pressed on the page that says', () => {
  it('that a passkey was not accepted: the sign-in page, which goes on as before', async () => {
    const browser = client.newBrowser()
    const shown = await browser.send('POST', '/sign-in/passkey', { credential: '{}', return_to: RETURN_TO })
    expect(await inChinese(browser, '/sign-in/passkey', shown)).toContain(`name="return_to" value="${RETURN_TO}"`)
  })

  it('that a passkey was not added: the page of passkeys, which goes on as before', async () => {
    const browser = client.newBrowser()
    await signedIn(browser)
    const shown = await browser.send('POST', '/account/security/passkeys', { credential: '{}', return_to: RETURN_TO })
    expect(await inChinese(browser, '/account/security/passkeys', shown)).toContain(`href="${RETURN_TO}"`)
  })

  it('that there is an authenticator already: the page that asks for its code', async () => {
    const [own, browser] = [client.newBrowser(), client.newBrowser()]
    const { passport, password } = await signedIn(own)
    const made = await own.send('POST', '/account/security/authenticator')
    const secret = /id="secret">([A-Z2-7]+)</.exec(made.text)?.[1] ?? ''
    const code = new TOTP({ secret, period: 30 }).generate({ timestamp: world.clock.now().getTime() })
    await own.send('POST', '/account/security/authenticator/confirm', { code })
    await browser.send('POST', '/sign-in', { passport, password })
    const path = '/sign-in/code/authenticator'
    const shown = await browser.send('POST', path, { return_to: RETURN_TO })
    expect(await inChinese(browser, path, shown)).toContain(`name="return_to" value="${RETURN_TO}"`)
  })
})
