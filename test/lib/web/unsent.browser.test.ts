import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { updatePartner } from '../../../src/ticketing/partners/index.ts'
import { Client, type User } from '../../acceptance/client.ts'
import { injectWire } from '../../acceptance/http.ts'
import { toNextPage } from '../../browser.ts'
import { codeOf, PASSWORD, signedIn } from '../../console/person.ts'
import { freePort } from '../../free-port.ts'
import { ADMIN_TOKEN, openWorld, type World } from '../../harness.ts'
import { browsing, signInAs } from '../../sandbox/browse.ts'
import { newSandboxPartner } from '../../sandbox/partners.ts'

/** A form that was not sent, because its sender had to sign in first, comes back with what was typed. */

const DESKTOP = { size: 'desktop', locale: 'en' } as const
const NOTICE = 'the form was not sent'

let world: World
let client: Client
let origin: string
let user: User
const { open, visit, tab } = browsing()
beforeAll(async () => {
  const port = await freePort()
  origin = `http://localhost:${port}`
  world = await openWorld({ PUBLIC_URL: origin, ADMIN_TOKEN, SMTP_URL: 'smtp://127.0.0.1:1' })
  client = new Client(injectWire(world.app), origin)
  await world.app.listen({ host: '127.0.0.1', port })
})
afterAll(() => world?.close())
beforeEach(async () => {
  user = await client.makeUser()
})

async function signIn(page: Page, who = user): Promise<void> {
  await page.fill('#passport', who.passport)
  await page.fill('#password', who.password)
  await toNextPage(page, () => page.click('form[action="/sign-in"] button'))
}

const sent = (page: Page) => toNextPage(page, () => page.click('main form button >> visible=true'))

/** Of somebody who has accepted the terms. */
async function teamPage(): Promise<Page> {
  const page = await open(`${origin}/sign-in?return_to=%2Fdeveloper`, DESKTOP)
  await signIn(page)
  await sent(page)
  await toNextPage(page, () => page.click('main h2 a'))
  return page
}

async function newApp(): Promise<Page> {
  const page = await teamPage()
  await page.goto(`${page.url()}/apps/new`)
  await page.fill('#name', 'Sunny Day Trips')
  await page.check('input[name=kind][value=native]')
  await page.check('input[name=scope_PHONE_NUMBER]')
  await page.uncheck('input[name=scope_USER_INFO]')
  await page.fill('#reason_PHONE_NUMBER', 'The guide calls')
  await page.context().clearCookies()
  await sent(page)
  return page
}

it('a form of several kinds of fields, after the session has ended', async () => {
  const page = await newApp()
  await page.getByText('Your session has ended.').waitFor()
  await signIn(page)
  await page.getByText(NOTICE).waitFor()
  expect(await page.inputValue('#name')).toBe('Sunny Day Trips')
  expect(await page.inputValue('#reason_PHONE_NUMBER')).toBe('The guide calls')
  const checked = await page
    .locator('main :checked')
    .evaluateAll((boxes) => boxes.map((box) => box.getAttribute('value')))
  expect(checked).toEqual(['native', '1'])
  await sent(page)
  await page.getByText('The app is registered.').waitFor()
  expect(await page.getByText(NOTICE).isVisible()).toBe(false)
  expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
})

it('but not to somebody else, who signs in next', async () => {
  const page = await newApp()
  await signIn(page, await client.makeUser())
  await page.goto(`${origin}/developer#unsent`)
  expect(await page.content()).not.toContain('Sunny Day Trips')
  expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
})

it('a change that needs a fresh sign-in', async () => {
  const page = await open(`${origin}/sign-in?return_to=%2Faccount%2Fprofile`, DESKTOP)
  await signIn(page)
  world.clock.advance(1_000)
  await page.click('[aria-labelledby=mail] summary')
  await page.fill('#mail-value', 'new@example.com')
  await toNextPage(page, () => page.click('form[action="/account/profile/mail"] button'))
  await page.fill('#password', user.password)
  await toNextPage(page, () => page.click('form[action="/sign-in"] button'))
  expect(new URL(page.url()).pathname).toBe('/account/profile')
  expect(await page.getByText(NOTICE).isVisible()).toBe(true)
  expect(await page.locator('#mail-value').isVisible()).toBe(true)
  expect(await page.inputValue('#mail-value')).toBe('new@example.com')
})

it('without JavaScript the page says that nothing was sent', async () => {
  const page = await open(`${origin}/sign-in?return_to=%2Faccount%2Fprofile`, { ...DESKTOP, javaScriptEnabled: false })
  await signIn(page)
  expect(await page.getByText(NOTICE).isVisible()).toBe(false)
  await page.context().clearCookies()
  await sent(page)
  await signIn(page)
  expect(await page.getByText(NOTICE).isVisible()).toBe(true)
})

it('a form of the console, but no password', async () => {
  const admin = await signedIn(world, 'admin')
  const context = await visit(DESKTOP)
  await context.addCookies([{ name: 'gatehouse_operator', value: admin.person.cookie, url: origin }])
  const page = await tab(context, `${origin}/console/-/partners/new`)
  await page.fill('#field-name', 'A seller by the sea')
  await context.clearCookies()
  await sent(page)
  world.clock.advance(60)
  await page.fill('#name', admin.name)
  await page.fill('#password', PASSWORD)
  await page.fill('#code', codeOf(world, admin.secret))
  await toNextPage(page, () => page.click('form[action="/console/sign-in"] button'))
  expect(await page.getByText(NOTICE).isVisible()).toBe(true)
  expect(await page.inputValue('#field-name')).toBe('A seller by the sea')
  await page.goto(`${origin}/console/operators/${admin.name}/password`)
  await page.fill('#field-password', 'a secret of nobody')
  await sent(page)
  expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('a secret of nobody')
})

it('a form of the console with JSON, in which secrets may be, leaves nothing in the browser', async () => {
  const admin = await signedIn(world, 'admin')
  const context = await visit(DESKTOP)
  await context.addCookies([{ name: 'gatehouse_operator', value: admin.person.cookie, url: origin }])
  const page = await tab(context, `${origin}/console/api/app_update`)
  await page.fill('#field-app_key', 'no-such-app')
  await page.fill('#field-jwks', '{"keys":[{"d":"a secret of nobody"}]}')
  await context.clearCookies()
  await sent(page)
  expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('a secret of nobody')
})

it('a form of the console does not undo what somebody else has changed meanwhile', async () => {
  const admin = await signedIn(world, 'admin')
  const { partner_id: partnerId } = await newSandboxPartner(world, { base_url: 'https://seller.example' })
  const context = await visit(DESKTOP)
  await context.addCookies([{ name: 'gatehouse_operator', value: admin.person.cookie, url: origin }])
  const page = await tab(context, `${origin}/console/partners/${partnerId}/edit`)
  await page.fill('#field-name', 'A seller by the sea')
  world.clock.advance(60)
  await updatePartner(world.deps, partnerId, { base_url: 'https://moved.example' })
  await context.clearCookies()
  await sent(page)
  await page.fill('#name', admin.name)
  await page.fill('#password', PASSWORD)
  await page.fill('#code', codeOf(world, admin.secret))
  await toNextPage(page, () => page.click('form[action="/console/sign-in"] button'))
  expect(await page.inputValue('#field-name')).toBe('A seller by the sea')
  await sent(page)
  const stored = 'select base_url from partner where partner_id = $1'
  expect((await world.pool.query(stored, [partnerId])).rows).toEqual([{ base_url: 'https://moved.example' }])
})

it('a form of the console is carried out after another sign-in of the same operator in another tab', async () => {
  const admin = await signedIn(world, 'admin')
  const context = await visit(DESKTOP)
  const use = () => context.addCookies([{ name: 'gatehouse_operator', value: admin.person.cookie, url: origin }])
  await use()
  const page = await tab(context, `${origin}/console/-/partners/new`)
  await page.fill('#field-name', 'A seller by the sea')
  world.clock.advance(60)
  const again = { name: admin.name, password: PASSWORD, code: codeOf(world, admin.secret) }
  await admin.person.post('/console/sign-in', again)
  await use()
  await sent(page)
  const { rows } = await world.pool.query("select from partner where name = 'A seller by the sea'")
  expect(rows).toHaveLength(1)
})

it('a body written by hand in the sandbox, on the page where it was written', async () => {
  const partner = await newSandboxPartner(world, { base_url: 'https://seller.example' })
  const page = await open(`${origin}/sandbox/play/order-query?example=1`, DESKTOP)
  await signInAs(page, partner)
  await page.fill('#body', '{"body":{"orderId":17}}')
  await page.check('input[name=expect][value=failure]')
  await page.context().clearCookies()
  await sent(page)
  await signInAs(page, partner)
  expect(new URL(page.url()).pathname).toBe('/sandbox/play/order-query')
  expect(await page.inputValue('#body')).toBe('{"body":{"orderId":17}}')
  expect(await page.isChecked('input[name=expect][value=failure]')).toBe(true)
})

it('but no signature, with which somebody else could send notices', async () => {
  const partner = await newSandboxPartner(world)
  const page = await open(`${origin}/sandbox/signature`, DESKTOP)
  await signInAs(page, partner)
  await page.fill('#url', '/mtp/api/order/pay/notice')
  await page.fill('#authorization', 'MWS seller:c2lnbmF0dXJl')
  await page.context().clearCookies()
  await toNextPage(page, () => page.click('form:has(#authorization) button[type=submit]'))
  await signInAs(page, partner)
  expect(await page.inputValue('#url')).toBe('/mtp/api/order/pay/notice')
  expect(await page.inputValue('#authorization')).toBe('')
})
