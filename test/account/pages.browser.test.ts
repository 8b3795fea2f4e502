import { mkdirSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import cookie from '@fastify/cookie'
import Fastify, { type FastifyRequest } from 'fastify'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createUser } from '../../src/authorization/account/user.ts'
import { registerPages, sendErrorPage, sendPage, textsFor } from '../../src/platform/lib/web/page.ts'
import { RescodeError, tooManyRequests } from '../../src/platform/lib/web/rescode.ts'
import { violations } from '../axe.ts'
import { sharedBrowser, toNextPage } from '../browser.ts'
import { openWorld, type World } from '../harness.ts'
import { fits, LOOKS, type Look, tabTo, visit } from '../sandbox/browse.ts'
import { ALICE } from './people.ts'

const SCREENSHOTS = process.env.SCREENSHOTS
const LOGO = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path fill="#0a7d55" d="M0 0h8v8H0z"/><circle cx="4" cy="4" r="2" fill="#fff"/></svg>')}`

const CONSENT = {
  app: { name: 'Star Theatre Tickets', logoUrl: LOGO },
  host: 'tickets.star-theatre.example',
  user: { name: 'Alice', avatarUrl: '' },
  action: '/decide',
  form: 'signed',
  signOut: { action: '/sign-out', returnTo: '/oauth/v2/authorize?x=1' },
}
/** With the scopes as the consent page shows them, in the language of the request. */
const withScopes = (request: FastifyRequest, data: object) => {
  const t = textsFor(request)
  const shown = (icon: string, key: string) => ({ icon, title: t(key), detail: t(`${key}.detail`) })
  return { ...data, scopes: [shown('person', 'scope.user_info'), shown('phone', 'scope.phone_number')] }
}
const PASSWORD = { token: '', passport: '', alert: 'The present password is wrong.', done: false, refused: false }
const LONG = {
  ...CONSENT,
  app: { name: 'W'.repeat(60), logoUrl: null },
  host: `${'sub.'.repeat(15)}example.com`,
  user: { name: 'A user with quite a long name indeed '.repeat(2), avatarUrl: 'https://nowhere.invalid/x.png' },
}

let world: World
let origin: string
let browser: Browser
/** Serves pages of other modules with sample data. */
const samples = Fastify()
let sampleOrigin: string

beforeAll(async () => {
  world = await openWorld({ SIGN_IN_FAILURES_PER_PASSPORT: '2' })
  await createUser(world.deps, ALICE)
  await createUser(world.deps, { ...ALICE, user_id: '10009', passport: 'jos\u00e9', password: 'p\u00e4ssword lang' })
  await world.app.listen({ host: '127.0.0.1', port: 0 })
  origin = `http://localhost:${(world.app.server.address() as AddressInfo).port}`
  await samples.register(cookie)
  await registerPages(samples, 'http://localhost')
  samples.get('/consent', (request, reply) => sendPage(request, reply, 'oauth/consent', withScopes(request, CONSENT)))
  samples.get('/password', (request, reply) => sendPage(request, reply, 'account/password', PASSWORD))
  samples.get('/password-used', (request, reply) =>
    sendPage(request, reply, 'account/password', { ...PASSWORD, refused: true, forgotten: true }),
  )
  samples.get('/long', (request, reply) => sendPage(request, reply, 'oauth/consent', withScopes(request, LONG)))
  samples.get('/error', (request, reply) => sendErrorPage(request, reply, new RescodeError(20012), false))
  samples.get('/blocked', (request, reply) => sendErrorPage(request, reply, new RescodeError(20016), false))
  samples.get('/limited', (request, reply) => sendErrorPage(request, reply, tooManyRequests(90), false))
  await samples.listen({ host: '127.0.0.1', port: 0 })
  sampleOrigin = `http://localhost:${(samples.server.address() as AddressInfo).port}`
  browser = await sharedBrowser()
})
afterAll(async () => {
  await samples.close()
  await world.close()
})

async function open(address: string, look: Look): Promise<Page> {
  const page = await (await visit(browser, look)).newPage()
  page.on('console', (message) => {
    if (message.type() === 'error') consoleErrors.push(message.text())
  })
  await page.goto(address)
  return page
}

// Chromium logs violations of the Content-Security-Policy to the console.
const consoleErrors: string[] = []
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
  expect(consoleErrors.splice(0).filter((text) => /content security policy/i.test(text))).toEqual([])
})

async function screenshot(page: Page, name: string): Promise<void> {
  if (!SCREENSHOTS) return
  mkdirSync(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true })
}

const PAGES = {
  home: () => `${origin}/`,
  'sign-in': () => `${origin}/sign-in?return_to=%2F`,
  consent: () => `${sampleOrigin}/consent`,
  'consent-long': () => `${sampleOrigin}/long`,
  password: () => `${sampleOrigin}/password`,
  'password-used': () => `${sampleOrigin}/password-used`,
  error: () => `${sampleOrigin}/error`,
  blocked: () => `${sampleOrigin}/blocked`,
  limited: () => `${sampleOrigin}/limited`,
}

/** The typefaces that Chromium actually draws the elements' own text with. */
async function typefacesOf(page: Page, selector: string): Promise<string[]> {
  await page.evaluate(async () => {
    document.body.getBoundingClientRect() // forces a layout, which requests the fonts in use
    await document.fonts.ready
  })
  const debug = await page.context().newCDPSession(page)
  await debug.send('DOM.enable')
  await debug.send('CSS.enable')
  const { root } = await debug.send('DOM.getDocument')
  const { nodeIds } = await debug.send('DOM.querySelectorAll', { nodeId: root.nodeId, selector })
  const found = await Promise.all(nodeIds.map((nodeId) => debug.send('CSS.getPlatformFontsForNode', { nodeId })))
  return [...new Set(found.flatMap(({ fonts }) => fonts.map(({ familyName }) => familyName)))]
}

describe('the typeface', () => {
  it('is served with the pages and used for headings and buttons too', async () => {
    const page = await open(PAGES.consent(), { size: 'desktop', locale: 'en' })
    expect(await typefacesOf(page, 'h1, h2, p, button')).toEqual(['Inter'])
  })

  it('leaves quotation marks to the Chinese typeface on Chinese pages', async () => {
    const [english, chinese] = [
      await open(PAGES.consent(), { size: 'desktop', locale: 'en' }),
      await open(PAGES.consent(), { size: 'desktop', locale: 'zh-CN' }),
    ]
    const faces = (page: Page, text: string) =>
      page
        .evaluate((heading) => document.querySelector('h1')?.replaceChildren(heading), text)
        .then(() => typefacesOf(page, 'h1'))
    expect(await faces(english, '“…—’')).toEqual(['Inter'])
    expect(await faces(chinese, 'Star Theatre')).toEqual(['Inter'])
    expect(await faces(chinese, '“…—’')).not.toContain('Inter')
  })
})

it.each(LOOKS)('each page is accessible and fits the screen: %j', async (look) => {
  const page = await open(PAGES.home(), look)
  for (const [name, address] of Object.entries(PAGES)) {
    await page.goto(address())
    expect(await page.getAttribute('html', 'lang'), name).toBe(look.locale)
    expect(await violations(page), name).toEqual([])
    expect(await fits(page), name).toBe(true)
    const gaps = await page
      .locator('h1 + .alert')
      .evaluateAll((alerts) => alerts.map((one) => parseFloat(getComputedStyle(one).marginTop)))
    for (const gap of gaps) expect(gap, name).toBeGreaterThan(0)
    await screenshot(page, `${name}-${look.size}-${look.locale}`)
  }
})

it.each(['en', 'zh-CN'] as const)('each page fits a phone at twice the text size, in %s', async (locale) => {
  const page = await open(PAGES.home(), { size: 'phone', locale })
  for (const [name, address] of Object.entries(PAGES)) {
    await page.goto(address())
    await page.evaluate(() => {
      document.documentElement.style.fontSize = '200%'
    })
    expect(await fits(page), name).toBe(true)
    await screenshot(page, `${name}-phone-twice-${locale}`)
  }
})

describe('the sign-in page', () => {
  const look: Look = { size: 'desktop', locale: 'en' }

  it('can be used with the keyboard alone', async () => {
    const page = await open(`${origin}/sign-in?return_to=%2Faccount%3Fback%3D1`, look)
    await page.locator('#passport:focus').waitFor()
    await page.keyboard.type('alice')
    await page.keyboard.press('Tab')
    await page.keyboard.type('alice-password')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${origin}/account?back=1`)
    expect(await page.textContent('header')).toContain('Alice')
    await screenshot(page, 'home-signed-in')
    await tabTo(page, '.signed-in button')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${origin}/`)
    expect(await page.textContent('body')).not.toContain('Alice')
  })

  it('accepts decomposed and fullwidth letters and other spaces', async () => {
    const page = await open(`${origin}/sign-in`, look)
    await page.fill('#passport', '\uff4aose\u0301')
    await page.fill('#password', 'pa\u0308ssword\u3000lang')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${origin}/account`)
    expect(await page.textContent('header')).toContain('Alice')
  })

  it('announces an error, keeps the passport, and says when to try again', async () => {
    await world.pool.query('delete from failed_attempt')
    const page = await open(`${origin}/sign-in`, look)
    const attempt = async () => {
      await page.fill('#password', 'wrong-password')
      await toNextPage(page, () => page.keyboard.press('Enter'))
    }
    await page.fill('#passport', 'alice')
    await attempt()
    expect(await page.getByRole('alert').textContent()).toContain('The username or the password is wrong.')
    expect(await page.title()).toBe('Not signed in – Gatehouse')
    expect(await page.inputValue('#passport')).toBe('alice')
    expect(await page.inputValue('#password')).toBe('')
    const focused = page.locator(':focus')
    expect(await focused.getAttribute('id')).toBe('password')
    expect(await focused.getAttribute('aria-describedby')).toBe('alert')
    expect(await violations(page)).toEqual([])
    await screenshot(page, 'sign-in-failed')
    await attempt()
    await attempt()
    expect(await page.getByRole('alert').textContent()).toContain('Please try again in 15 minutes.')
    await toNextPage(page, () => page.click('text=中文'))
    expect(await page.getAttribute('html', 'lang')).toBe('zh-CN')
    expect(await page.textContent('h1')).toBe('登录')
  })

  it('outlines the focused element', async () => {
    const page = await open(`${origin}/sign-in`, look)
    for (let stops = 0; stops < 6; stops++) {
      await page.keyboard.press('Tab')
      const outline = await page.evaluate(() => {
        const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement as Element)
        return `${outlineStyle} ${outlineWidth}`
      })
      if (await page.evaluate(() => document.activeElement !== document.body)) expect(outline).toBe('solid 3px')
    }
  })
})
