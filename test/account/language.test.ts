import { TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Browser } from '../acceptance/browser.ts'
import { Client } from '../acceptance/client.ts'
import { consentForm, visibleText } from '../acceptance/form.ts'
import { type Answer, injectWire } from '../acceptance/http.ts'
import { openWorld, type World } from '../harness.ts'

/** Language links on pages that answer a form post lead to the page with the form, with its parameters kept. */

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

/** Follows the link to Chinese of a page that was shown at this path. */
async function inChinese(browser: Browser, path: string, shown: Answer): Promise<string> {
  const link = /href="(\?[^"]*ui_locales=zh-CN)"/.exec(shown.text)?.[1]?.replaceAll('&amp;', '&')
  const page = await browser.open(`${path}${link}`)
  expect(page.text).toContain('<html lang="zh-CN">')
  return page.text
}

const RETURN_TO = '/account/data'
const LINK_TO_CHINESE = /href="[^"]*ui_locales=zh-CN"/

describe('switching to Chinese', () => {
  it('after a passkey was rejected shows the sign-in page with its return_to', async () => {
    const browser = client.newBrowser()
    const shown = await browser.send('POST', '/sign-in/passkey', { credential: '{}', return_to: RETURN_TO })
    expect(await inChinese(browser, '/sign-in/passkey', shown)).toContain(`name="return_to" value="${RETURN_TO}"`)
  })

  it('after a passkey could not be added shows the page of passkeys with its return_to', async () => {
    const browser = client.newBrowser()
    await signedIn(browser)
    const shown = await browser.send('POST', '/account/security/passkeys', { credential: '{}', return_to: RETURN_TO })
    expect(await inChinese(browser, '/account/security/passkeys', shown)).toContain(`href="${RETURN_TO}"`)
  })

  it('after an authenticator turned out to exist already shows the page that asks for its code', async () => {
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

  it('on an error page of the standard dialect shows the same error', async () => {
    const browser = client.newBrowser()
    const shown = await browser.open('/oauth2/authorize?client_id=nobody&redirect_uri=https://app.example.com/callback')
    const code = '<strong>invalid_client</strong>'
    expect(shown.text).toContain(code)
    expect(await inChinese(browser, '/oauth2/authorize', shown)).toContain(code)
  })

  it('is not offered on pages that answer a form and cannot be shown again', async () => {
    const browser = client.newBrowser()
    await signedIn(browser)
    const form = consentForm((await browser.open('/oauth2/logout')).text)
    if (!form) throw new Error('no form')
    const signedOut = await browser.submit(form, { decision: 'sign-out' })
    expect(visibleText(signedOut.text)).toContain('You are signed out')
    expect(signedOut.text).not.toMatch(LINK_TO_CHINESE)
    const refused = await browser.send('POST', '/oauth2/consent', {})
    expect(refused.status).toBe(400)
    expect(refused.text).not.toMatch(LINK_TO_CHINESE)
  })
})
