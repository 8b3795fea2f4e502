import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type System, startSystem } from '../acceptance/system.ts'
import { sharedBrowser, toNextPage } from '../browser.ts'
import { until } from '../until.ts'

/** A newcomer's walk after `npm start`, in a real browser without JavaScript. SCREENSHOTS=folder saves pictures. */

const FOLDER = process.env.SCREENSHOTS
const SIZES = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 } } as const
type Size = keyof typeof SIZES
type Language = 'en' | 'zh-CN'

let system: System
let browser: Browser

beforeAll(async () => {
  system = await startSystem()
  // The demo listens a moment after the service is ready.
  await until(async () => (await fetch(demoUrl()).catch(() => undefined))?.status === 200)
  browser = await sharedBrowser()
})
afterAll(async () => {
  await system.stop()
})

const demoUrl = () => (system.processes[0]?.demoOrigin ?? '').replace('127.0.0.1', 'localhost')

async function visitor(size: Size, locale: Language): Promise<{ page: Page; context: BrowserContext }> {
  const context = await browser.newContext({
    viewport: SIZES[size],
    locale,
    javaScriptEnabled: false,
    deviceScaleFactor: 1.5,
  })
  return { context, page: await context.newPage() }
}

async function screenshot(page: Page, name: string): Promise<void> {
  if (!FOLDER) return
  mkdirSync(FOLDER, { recursive: true })
  const path = join(FOLDER, `${name}.png`)
  await page.waitForLoadState('networkidle')
  // Chromium without a GPU is at times "unable to capture" right after a navigation, and able a moment later.
  await page.screenshot({ path }).catch(async () => {
    await page.waitForTimeout(500)
    await page.screenshot({ path })
  })
}

async function signIn(page: Page): Promise<void> {
  await page.goto(demoUrl())
  await toNextPage(page, () => page.click('a[href="/sign-in"]'))
  await page.fill('input[name=passport]', 'alice')
  await page.fill('input[name=password]', 'alice-password')
}

async function openConsent(page: Page): Promise<void> {
  await signIn(page)
  await toNextPage(page, () => page.click('button[type=submit]'))
}

/** The other combinations of size and language, which run only for screenshots. */
const OTHERS: [Size, Language][] = [
  ['phone', 'zh-CN'],
  ['desktop', 'en'],
]

describe.each<[Size, Language]>([['phone', 'en'], ['desktop', 'zh-CN'], ...(FOLDER ? OTHERS : [])])(
  'on a %s in %s',
  (size, language) => {
    it('leads from sign-in through consent to name and phone number', async () => {
      const { page, context } = await visitor(size, language)
      await signIn(page)
      await screenshot(page, `sign-in-${size}-${language}`)
      await toNextPage(page, () => page.click('button[type=submit]'))
      await screenshot(page, `consent-${size}-${language}`)
      await toNextPage(page, () => page.click('button[value=approve]'))
      expect(new URL(page.url()).origin).toBe(demoUrl())
      expect(await page.textContent('#name')).toBe('爱丽丝 Alice')
      expect(await page.textContent('#phone')).toBe('13800000001')
      expect(await page.textContent('#user')).toBe('1 + 10001')
      await screenshot(page, `demo-${size}-${language}`)
      await context.close()
    })

    it('shows a failure as a page', async () => {
      const { page, context } = await visitor(size, language)
      await page.goto(`${system.origin}/oauth/v2/authorize?response_type=code&app_key=nobody`)
      expect(await page.textContent('body')).toContain('20001')
      await screenshot(page, `error-${size}-${language}`)
      await context.close()
    })
  },
)

describe('the output of npm start', () => {
  const printed = () => system.processes[0]?.output() ?? ''

  it('names the sandbox and the credentials to sign in with', () => {
    expect(printed()).toContain(`${system.origin}/sandbox `)
    expect(printed()).toContain('clientId demo-partner, clientSecret demo-partner-secret-local-use-only')
  })

  it('leads to the back office of the ticket seller', async () => {
    const office = /Seller +(http:\/\/localhost:\d+) /.exec(printed())?.[1] ?? ''
    const { page, context } = await visitor('desktop', 'en')
    await page.goto(office)
    expect(await page.textContent('h1')).toBe('Back office')
    await context.close()
  })
})

describe('the demo micro-app', () => {
  it('refreshes its tokens and reads again with the new one', async () => {
    const { page, context } = await visitor('desktop', 'en')
    await openConsent(page)
    await toNextPage(page, () => page.click('button[value=approve]'))
    const ticket = await page.textContent('#ticket')
    await toNextPage(page, () => page.click('form[action="/refresh"] button'))
    expect(await page.textContent('#phone')).toBe('13800000001')
    expect(await page.textContent('#ticket')).toMatch(/^[0-9a-f]{32}$/)
    expect(await page.textContent('#ticket')).not.toBe(ticket)
    expect(await page.textContent('body')).toContain('A3 refresh')
    await context.close()
  })

  it('signs in with OpenID Connect, and signs out of the service too', async () => {
    const { page, context } = await visitor('desktop', 'en')
    await page.goto(demoUrl())
    await toNextPage(page, () => page.click('a[href="/oidc/sign-in"]'))
    await page.fill('input[name=passport]', 'bob')
    await page.fill('input[name=password]', 'bob-password')
    await toNextPage(page, () => page.click('button[type=submit]'))
    await toNextPage(page, () => page.click('button[value=approve]'))
    const claims = JSON.parse((await page.textContent('#claims')) ?? '')
    expect(claims).toMatchObject({ sub: '1-10002', aud: 'demo-oidc', name: '鲍勃 Bob', phone_number: '+8613800000002' })
    await toNextPage(page, () => page.click('form[action="/oidc/sign-out"] button'))
    await toNextPage(page, () => page.click('button[value=sign-out]'))
    expect(page.url()).toBe(`${demoUrl()}/`)
    expect(await page.isVisible('a[href="/oidc/sign-in"]')).toBe(true)
    await toNextPage(page, () => page.click('a[href="/oidc/sign-in"]'))
    expect(await page.isVisible('input[name=password]')).toBe(true)
    await context.close()
  })

  it('shows a refusal that OpenID Connect reports', async () => {
    const { page, context } = await visitor('desktop', 'en')
    await page.goto(demoUrl())
    await toNextPage(page, () => page.click('a[href="/oidc/sign-in"]'))
    await page.fill('input[name=passport]', 'alice')
    await page.fill('input[name=password]', 'alice-password')
    await toNextPage(page, () => page.click('button[type=submit]'))
    await toNextPage(page, () => page.click('button[value=refuse]'))
    expect(await page.textContent('#oidc-failed')).toContain('access_denied')
    await context.close()
  })

  it('never shows its secret or a whole token', async () => {
    const { page, context } = await visitor('desktop', 'en')
    await openConsent(page)
    await toNextPage(page, () => page.click('button[value=approve]'))
    const html = await page.content()
    expect(html).not.toContain('demo-secret')
    expect(html).toMatch(/ghat_[A-Za-z0-9_-]{6}…/)
    expect(html).not.toMatch(/gh[ar]t_[A-Za-z0-9_-]{20}/)
    await context.close()
  })

  it('gets state and no code when the user refuses', async () => {
    const { page, context } = await visitor('desktop', 'en')
    const addresses: string[] = []
    page.on('request', (request) => addresses.push(request.url()))
    await openConsent(page)
    await toNextPage(page, () => page.click('button[value=refuse]'))
    expect(await page.isVisible('#refused')).toBe(true)
    const callback = addresses.find((address) => address.includes('/callback'))
    expect([...new URL(callback ?? '').searchParams.keys()]).toEqual(['state'])
    await context.close()
  })

  it('ignores a callback for another browser, and says so next to the sign-in link', async () => {
    const { page, context } = await visitor('phone', 'en')
    await page.goto(`${demoUrl()}/callback?code=x&state=0123456789abcdef0123456789abcdef`)
    expect(page.url()).toBe(`${demoUrl()}/`)
    expect(await page.textContent('#stray')).toContain('was not used')
    expect(await page.isVisible('a[href="/sign-in"]')).toBe(true)
    await page.reload()
    expect(await page.isVisible('#stray')).toBe(false)
    await context.close()
  })

  it('stays signed in when the user goes back to the consent page and approves again', async () => {
    const { page, context } = await visitor('phone', 'en')
    await openConsent(page)
    await toNextPage(page, () => page.click('button[value=approve]'))
    await page.goBack()
    await toNextPage(page, () => page.click('button[value=approve]'))
    expect(page.url()).toBe(`${demoUrl()}/`)
    expect(await page.isVisible('#stray')).toBe(true)
    expect(await page.textContent('#name')).toBe('爱丽丝 Alice')
    await context.close()
  })

  it.each(['/sign-in', '/oidc/sign-in'])('accepts the answers of two tabs that both began at %s', async (begin) => {
    const { page: first, context } = await visitor('desktop', 'en')
    await first.goto(`${system.origin}/sign-in`)
    await first.fill('input[name=passport]', 'alice')
    await first.fill('input[name=password]', 'alice-password')
    await toNextPage(first, () => first.click('button[type=submit]'))
    const second = await context.newPage()
    for (const page of [first, second]) await page.goto(`${demoUrl()}${begin}`)
    for (const page of [first, second]) {
      await toNextPage(page, () => page.click('button[value=approve]'))
      expect(await page.textContent(begin === '/sign-in' ? '#name' : '#claims')).toContain('爱丽丝 Alice')
    }
    await context.close()
  })
})
