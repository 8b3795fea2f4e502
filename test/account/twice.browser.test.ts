import { TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { Client, type User } from '../acceptance/client.ts'
import { injectWire } from '../acceptance/http.ts'
import { toNextPage } from '../browser.ts'
import { freePort } from '../free-port.ts'
import { openWorld, type World } from '../harness.ts'
import { browsing } from '../sandbox/browse.ts'
import { pressTwice } from '../twice.ts'

/** Double-pressed buttons: the browser shows the second answer, so the form must be sent only once. */

const NEW = 'four words and a horse'

let world: World
let client: Client
let origin: string
let user: User
let page: Page
let secret: string
const { open } = browsing()
beforeAll(async () => {
  const port = await freePort()
  origin = `http://localhost:${port}`
  world = await openWorld({ PUBLIC_URL: origin })
  client = new Client(injectWire(world.app), origin)
  await world.app.listen({ host: '127.0.0.1', port })
})
afterAll(() => world.close())
beforeEach(async () => {
  user = await client.makeUser()
  page = await open(`${origin}/sign-in`, { size: 'phone', locale: 'en' })
})

async function signIn(path: string): Promise<void> {
  await page.goto(`${origin}/sign-in?return_to=${encodeURIComponent(path)}`)
  await page.fill('#passport', user.passport)
  await page.fill('#password', user.password)
  await toNextPage(page, () => page.click('form[action="/sign-in"] button'))
}

async function fillNew(): Promise<void> {
  await page.fill('#password', NEW)
  await page.fill('#password_again', NEW)
}

async function addAuthenticator(): Promise<void> {
  const browser = client.newBrowser()
  await browser.send('POST', '/sign-in', { passport: user.passport, password: user.password })
  const made = await browser.send('POST', '/account/security/authenticator')
  secret = /id="secret">([A-Z2-7]+)</.exec(made.text)?.[1] ?? ''
  await browser.send('POST', '/account/security/authenticator/confirm', { code: code() })
  world.clock.advance(60)
}
const code = (): string => new TOTP({ secret, period: 30 }).generate({ timestamp: world.clock.now().getTime() })

const sentBy = (button: string): Promise<number> =>
  pressTwice(page, button, world.pool, 'user_profile where user_id', user.user_id)

it('pressing twice changes one’s password once, and the page says so', async () => {
  await signIn('/password')
  await page.fill('#current_password', user.password)
  await fillNew()
  expect(await sentBy('form[action="/password"] button')).toBe(1)
  expect(await page.textContent('h1')).toBe('The password was changed')
})

it('pressing twice uses a password link once, and the page says so', async () => {
  const { url } = (await client.admin('POST', '/users/reset-password', { cid: user.cid, user_id: user.user_id })) as {
    url: string
  }
  await page.goto(url)
  await fillNew()
  expect(await sentBy('form[action="/password"] button')).toBe(1)
  expect(await page.textContent('h1')).toBe('The password was changed')
})

it('pressing twice sends a sign-in code once, and the person is signed in', async () => {
  await addAuthenticator()
  await signIn('/account')
  await page.fill('#code', code())
  expect(await sentBy('form[action="/sign-in/code"] button')).toBe(1)
  expect(new URL(page.url()).pathname).toBe('/account')
})
