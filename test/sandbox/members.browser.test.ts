import type { Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type JobWorker, startWorker } from '../../src/operations/jobs/worker.ts'
import { violations } from '../axe.ts'
import { toNextPage } from '../browser.ts'
import { freePort } from '../free-port.ts'
import { openWorld, type World } from '../harness.ts'
import { type FakeSeller, fakeSeller, ok, refusal } from '../partner-calls/fake-seller.ts'
import { until } from '../until.ts'
import { browsing, fits, LOOKS, type Look, picture, signInAs } from './browse.ts'
import { type PostOffice, postOffice } from './notify/post-office.ts'

/** The members of a partner, from the first invitation on, with a real mail server, worker and browser. */

const PASSWORD = 'correct horse battery'

const browser = browsing()
let world: World
let origin: string
let office: PostOffice
let worker: JobWorker
let seller: FakeSeller
let number = 7200
beforeAll(async () => {
  office = await postOffice()
  const port = await freePort()
  origin = `http://localhost:${port}`
  world = await openWorld({ SMTP_URL: office.url, PUBLIC_URL: origin, PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  await world.app.listen({ host: '127.0.0.1', port })
  worker = await startWorker(world.deps, world.log, world.databaseUrl)
})
afterAll(async () => {
  await worker.stop()
  await world.close()
  await office.close()
})
beforeEach(async () => {
  await world.pool.query('delete from failed_attempt')
  seller = await fakeSeller(world, ++number, { fields: { name: '湖畔票务 Lakeside' } })
  return () => seller.close()
})

/** The Referer headers of all requests. */
const referers = new Set<string>()
async function open(address: string, look: Look): Promise<Page> {
  const context = await browser.visit(look)
  context.on('request', async (request) => {
    referers.add((await request.allHeaders().catch(() => ({ referer: '' }))).referer ?? '')
  })
  return browser.tab(context, address)
}

/** Pages whose screenshots are kept. */
const KEPT = ['members-first', 'members', 'join', 'secret', 'forgotten']

const looksRight = async (page: Page, name: string, look: Look) => {
  expect(await page.getAttribute('html', 'lang')).toBe(look.locale)
  expect(await violations(page)).toEqual([])
  expect(await fits(page), name).toBe(true)
  if (KEPT.includes(name) && look.colorScheme !== 'dark') await picture(page, name, look)
}

/** The link in the newest mail to this address, which is the same in both languages. */
async function linkTo(address: string, mails: number): Promise<string> {
  await until(() => office.to(address).length === mails)
  const links = new Set(String(office.to(address).at(-1)?.mail.text).match(/http\S+/g))
  expect(links.size).toBe(1)
  return [...links].join()
}

async function invite(page: Page, mail: string, role: 'owner' | 'developer'): Promise<void> {
  await page.fill('#mail', mail)
  await page.check(`input[name=role][value=${role}]`)
  await toNextPage(page, () => page.click('form.invite button'))
  expect(page.url()).toMatch(/\?done=invited$/)
}

async function choosePassword(page: Page, password: string, again = password): Promise<void> {
  await page.fill('#password', password)
  await page.fill('#password_again', again)
  await toNextPage(page, () => page.click('main button[type=submit]'))
}

async function signInMember(page: Page, mail: string, password = PASSWORD): Promise<void> {
  await page.fill('#mail', mail)
  await page.fill('#password', password)
  await toNextPage(page, () => page.click('main button[type=submit]'))
  expect(new URL(page.url()).pathname).not.toBe('/sandbox/sign-in')
}

describe.each(LOOKS)('viewed as %j', (look) => {
  it('an owner is invited, joins and is signed in, invites a developer and rotates the clientSecret', async () => {
    const [owner, developer] = [`lin@team-${number}.example`, `dev@team-${number}.example`]
    const page = await open(`${origin}/sandbox/members`, look)
    await signInAs(page, { client_id: `seller-${number}`, client_secret: seller.secret })
    await looksRight(page, 'members-first', look)
    expect(await page.isDisabled('input[name=role][value=developer]')).toBe(true)
    await invite(page, owner, 'owner')

    const link = await linkTo(owner, 1)
    const other = await open(link, look)
    await looksRight(other, 'join', look)
    await choosePassword(other, PASSWORD, `${PASSWORD}!`)
    await other.getByRole('alert').waitFor()
    await looksRight(other, 'join-failed', look)
    await choosePassword(other, PASSWORD)
    await other.waitForURL((url) => url.pathname === '/sandbox')
    expect(await other.content()).toContain(owner)

    await page.goto(`${origin}/sandbox`)
    expect(new URL(page.url()).pathname).toBe('/sandbox/sign-in')
    await signInAs(page, { client_id: `seller-${number}`, client_secret: seller.secret })
    await page.getByRole('alert').waitFor()
    await looksRight(page, 'sign-in-members', look)
    await page.goto(link)
    await looksRight(page, 'join-used', look)

    await toNextPage(other, () => other.click('header nav a[href="/sandbox/members"]'))
    // Browsers take this address, we do not: both fields stay as they were given.
    await other.fill('#mail', 'dev@localhost')
    await other.check('input[name=role][value=owner]')
    await toNextPage(other, () => other.click('form.invite button'))
    await other.getByRole('alert').waitFor()
    expect(await other.inputValue('#mail')).toBe('dev@localhost')
    expect(await other.isChecked('input[name=role][value=owner]')).toBe(true)
    await invite(other, developer, 'developer')
    await other.click('.members li:nth-child(2) summary')
    await looksRight(other, 'members', look)

    await other.goto(`${origin}/sandbox/secret`)
    await toNextPage(other, () => other.click('form[action$="/rotate"] button'))
    const newSecret = String(await other.textContent('#made'))
    expect(newSecret).toMatch(/^ghcs_[0-9A-Za-z]{49}$/)
    await looksRight(other, 'secret', look)
    seller.on('/alive', refusal(300), ok({}))
    await toNextPage(other, () => other.click('form[action$="/switch"] button'))
    await other.getByRole('alert').waitFor()
    await looksRight(other, 'secret-failed', look)
    expect(await other.content()).not.toContain(newSecret)
    await toNextPage(other, () => other.click('form[action$="/switch"] button'))
    await other.waitForURL(/\?done=switched$/)
    await looksRight(other, 'secret-switched', look)

    await page.goto(await linkTo(developer, 1))
    await choosePassword(page, PASSWORD)
    await page.waitForURL((url) => url.pathname === '/sandbox')
    expect(await page.locator('header nav a[href="/sandbox/members"]').count()).toBe(0)
    await page.goto(`${origin}/sandbox/members`)
    await looksRight(page, 'owners-only', look)
  })

  it('a forgotten password is reset', async () => {
    const mail = `lin@team-${number}.example`
    const page = await open(`${origin}/sandbox/members`, look)
    await signInAs(page, { client_id: `seller-${number}`, client_secret: seller.secret })
    await invite(page, mail, 'owner')
    await page.goto(await linkTo(mail, 1))
    await choosePassword(page, PASSWORD)
    await page.waitForURL((url) => url.pathname === '/sandbox')

    const other = await open(`${origin}/sandbox/sign-in?client_id=seller-${number}`, look)
    await other.click('a[href^="/sandbox/forgotten"]')
    await other.waitForURL(/\/sandbox\/forgotten/)
    await looksRight(other, 'forgotten', look)
    await other.fill('#mail', mail.toUpperCase())
    await toNextPage(other, () => other.click('main button[type=submit]'))
    await other.getByRole('status').waitFor()
    await looksRight(other, 'forgotten-sent', look)
    await other.goto(await linkTo(mail, 2))
    await looksRight(other, 'new-password', look)
    await choosePassword(other, `${PASSWORD} new`)
    await other.waitForURL(/\/sandbox\/sign-in\?/)
    await looksRight(other, 'sign-in-ready', look)
    await signInMember(other, mail, `${PASSWORD} new`)
    await page.goto(`${origin}/sandbox`)
    expect(new URL(page.url()).pathname).toBe('/sandbox/sign-in')
  })
})

it('inviting and joining work without JavaScript, with the keyboard', async () => {
  const mail = `key@team-${number}.example`
  const page = await open(`${origin}/sandbox/members`, { size: 'phone', locale: 'zh-CN', javaScriptEnabled: false })
  await signInAs(page, { client_id: `seller-${number}`, client_secret: seller.secret })
  await page.fill('#mail', mail)
  await toNextPage(page, () => page.keyboard.press('Enter'))
  expect(page.url()).toMatch(/\?done=invited$/)
  await page.goto(await linkTo(mail, 1))
  await page.locator('#password:focus').waitFor()
  await page.keyboard.type(PASSWORD)
  await page.keyboard.press('Tab')
  await page.keyboard.type(PASSWORD)
  await toNextPage(page, () => page.keyboard.press('Enter'))
  expect(page.url()).toBe(`${origin}/sandbox`)
  await page.goto(`${origin}/sandbox/secret`)
  await toNextPage(page, () => page.click('form[action$="/rotate"] button'))
  expect(await page.textContent('#made')).toMatch(/^ghcs_/)
})

it('no Referer header contains a token, and no token is logged', () => {
  expect(office.mails.length).toBeGreaterThan(0)
  const tokens = office.mails.flatMap(({ mail }) => String(mail.text).match(/ghml_[\w-]{48}/g) ?? [])
  for (const token of tokens) expect(world.logged()).not.toContain(token.slice(5))
  expect([...referers].filter((referer) => referer.includes('token'))).toEqual([])
})
