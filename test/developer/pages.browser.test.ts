import type { Browser, Page } from 'playwright-core'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { sharedSystem } from '../acceptance/system.ts'
import { violations } from '../axe.ts'
import { sharedBrowser } from '../browser.ts'
import { fits, gluedWords, LOOKS, type Look, openAllParts, picture, visit } from '../sandbox/browse.ts'

/** The public pages for developers of micro-apps, in a browser. */

let browser: Browser
let origin: string
beforeAll(async () => {
  origin = (await sharedSystem()).origin
  browser = await sharedBrowser()
})

// Chromium logs violations of the Content-Security-Policy to the console.
const problems: string[] = []
afterEach(async () => {
  for (const context of browser.contexts()) await context.close()
  expect(problems.splice(0)).toEqual([])
})

async function open(path: string, look: Look): Promise<Page> {
  const page = await (await visit(browser, look)).newPage()
  page.on('console', (message) => {
    if (/content security policy/i.test(message.text())) problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(String(error)))
  await page.goto(origin + path)
  return page
}

const PHONE: Look = { size: 'phone', locale: 'en' }
const WITHOUT_SCRIPT: Look = { ...PHONE, javaScriptEnabled: false }

it.each(LOOKS)('each page is accessible and fits the screen, with all parts open: %j', async (look) => {
  const page = await open('/connect', look)
  for (const [name, path] of Object.entries({ connect: '/connect', docs: '/docs', home: '/' })) {
    await page.goto(origin + path)
    expect(await page.getAttribute('html', 'lang'), name).toBe(look.locale)
    if (look.colorScheme === undefined) await picture(page, `developer-${name}`, look, false)
    // Everything else on the closed page is checked below, with all parts open.
    if (await page.locator('summary').count()) expect(await violations(page, 'summary'), name).toEqual([])
    await openAllParts(page)
    expect(await violations(page), name).toEqual([])
    expect(await fits(page), name).toBe(true)
    expect(await gluedWords(page), name).toEqual([])
    if (look.colorScheme === undefined) await picture(page, `developer-${name}-open`, look, path !== '/docs')
  }
})

/** Without the rules and declarations that it skips, as it does not know them. */
const asInChromium79 = (css: string): string =>
  css
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/[^{};]*(:(is|where|has)\(|:not\([^)]*,|:focus-visible)[^{}]*\{[^{}]*\}/g, '')
    .replaceAll(/overflow-wrap: ?anywhere/g, 'un: known')
    .replaceAll(/\b((margin|padding|border|inset)-(inline|block)|inset|aspect-ratio|text-wrap)\b(-\w+)?:/g, 'un-known:')

it.each(['en', 'zh-CN'] as const)('the reference fits a phone whose browser breaks no words (%s)', async (locale) => {
  const context = await visit(browser, { size: 'phone', locale })
  await context.route(/\.css/, async (route) => {
    const response = await route.fetch()
    await route.fulfill({ response, body: asInChromium79(await response.text()) })
  })
  const page = await context.newPage()
  await page.goto(`${origin}/docs`)
  await openAllParts(page)
  const wide = await page.evaluate(() =>
    [...document.querySelectorAll('main *')]
      .filter((one) => one.getBoundingClientRect().right > innerWidth && !one.closest('pre'))
      .map((one) => `${one.tagName} ${one.className} ${one.textContent?.slice(0, 40)}`),
  )
  expect(wide).toEqual([])
  expect(await fits(page)).toBe(true)
})

describe('without JavaScript', () => {
  it('everything is readable, and forms that need it are hidden', async () => {
    const page = await open('/docs', WITHOUT_SCRIPT)
    expect(await page.locator('section.reference').count()).toBe(17)
    expect(await page.locator('details.try:visible').count()).toBeGreaterThan(4)
    expect(await page.locator('#contract_user ~ details.try:visible').count()).toBe(0)
    await page.goto(`${origin}/connect`)
    await page.click('#python summary')
    expect(await page.locator('#python pre').last().textContent()).toContain('server_metadata_url')
  })

  it('a form navigates to the response', async () => {
    const page = await open('/docs', WITHOUT_SCRIPT)
    const form = page.locator('form[action="/oauth2/introspect"]')
    await form.locator('xpath=..').locator('summary').click()
    await form.locator('button').click()
    await page.waitForURL('**/oauth2/introspect')
    expect(JSON.parse((await page.textContent('body')) ?? '')).toEqual({ active: false })
  })
})

describe('a request tried from the docs', () => {
  const tryRequest = async (page: Page, action: string, fields: Record<string, string> = {}) => {
    const form = page.locator(`form[action="${action}"]`).first()
    await form.locator('xpath=..').locator('summary').click()
    for (const [field, value] of Object.entries(fields)) await form.locator(field).fill(value)
    await form.locator('button').click()
    await form.locator('output.answered').waitFor()
    return form.locator('output').textContent()
  }

  it('shows its response beside the form, in both dialects', async () => {
    const page = await open('/docs', { size: 'desktop', locale: 'en' })
    expect(await tryRequest(page, '/oauth2/introspect')).toMatch(/^200 OK\s+\{\s+"active": false\s+\}$/)
    expect(await tryRequest(page, '/oauth2/userinfo', { '[data-bearer]': 'ghat_none' })).toMatch(
      /^401 .*invalid_token/s,
    )
    expect(await tryRequest(page, '/oauth2/token')).toMatch(/^400 .*invalid_grant/s)
    expect(await tryRequest(page, '/oauth2/jwks')).toMatch(/^200 .*"RS256"/s)
    expect(await tryRequest(page, '/oauth/v2/api/token')).toMatch(/^200 .*20013/s)
    expect(new URL(page.url()).pathname).toBe('/docs')
    await openAllParts(page)
    expect(await page.locator('output.answered:visible').count()).toBe(5)
    expect(await violations(page, 'details.try')).toEqual([]) // the rest of the page is checked above
  })

  it('is a plain link for the authorization endpoint', async () => {
    const page = await open('/docs', { size: 'desktop', locale: 'en' })
    await page.click('a[href^="/oauth2/authorize?"]')
    await page.waitForURL('**/sign-in?**')
  })
})
