import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterEach, beforeAll, expect } from 'vitest'
import { lookAt, sharedBrowser, toNextPage } from '../browser.ts'

/** Opens pages in several sizes, languages and colour schemes, and takes screenshots if SCREENSHOTS names a folder. */

const FOLDER = process.env.SCREENSHOTS
const SIZES = { phone: { width: 360, height: 780 }, desktop: { width: 1280, height: 800 } } as const

export interface Look {
  readonly size: keyof typeof SIZES
  readonly locale: 'en' | 'zh-CN'
  readonly colorScheme?: 'light' | 'dark'
  readonly javaScriptEnabled?: boolean
}

const LIGHT_LOOKS: readonly Look[] = [
  { size: 'phone', locale: 'en' },
  { size: 'phone', locale: 'zh-CN' },
  { size: 'desktop', locale: 'en' },
  { size: 'desktop', locale: 'zh-CN' },
]

/**
 * Each size, language and colour scheme once; `fits` tries all widths in each language. Screenshots are taken in every
 * size and language, but only in the light scheme.
 */
export const LOOKS: readonly Look[] = FOLDER
  ? LIGHT_LOOKS
  : [
      { size: 'phone', locale: 'en', colorScheme: 'light' },
      { size: 'desktop', locale: 'zh-CN', colorScheme: 'dark' },
    ]

export const visit = (
  browser: Browser,
  { size, ...look }: Look,
  more: Parameters<Browser['newContext']>[0] = {},
): Promise<BrowserContext> => browser.newContext({ viewport: SIZES[size], reducedMotion: 'reduce', ...look, ...more })

interface Browsing {
  /** A new visitor, without cookies. */
  visit(look: Look, more?: Parameters<Browser['newContext']>[0]): Promise<BrowserContext>
  /** Another tab of a visitor. */
  tab(context: BrowserContext, address: string): Promise<Page>
  /** The first tab of a new visitor. */
  open(address: string, look: Look): Promise<Page>
}

/** A browser for the tests of a file; fails a test if a page has a script error or violates its security policy. */
export function browsing(): Browsing {
  let browser: Browser
  const pageErrors: string[] = []
  beforeAll(async () => {
    browser = await sharedBrowser()
  })
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close()
    expect(pageErrors.splice(0)).toEqual([])
  })

  const tab: Browsing['tab'] = async (context, address) => {
    const page = await context.newPage()
    // Chromium logs what the Content-Security-Policy blocked to the console.
    page.on('console', (message) => {
      if (/content security policy/i.test(message.text())) pageErrors.push(message.text())
    })
    page.on('pageerror', (error) => pageErrors.push(String(error)))
    await page.goto(address)
    return page
  }
  const arrive: Browsing['visit'] = (look, more) => visit(browser, look, more)
  return { visit: arrive, tab, open: async (address, look) => tab(await arrive(look), address) }
}

export async function signInAs(page: Page, partner: { client_id: string; client_secret: string }): Promise<void> {
  await page.fill('#client_id', partner.client_id)
  await page.fill('#password', partner.client_secret)
  await toNextPage(page, () => page.click('button[type=submit]'))
}

/** Presses Tab until the element has the focus. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  await page.waitForLoadState()
  for (let stops = 0; stops < 150; stops++) {
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`${selector} cannot be reached`)
}

/** Opens every `<details>`. */
export const openAllParts = (page: Page): Promise<void> =>
  page.evaluate(() => {
    for (const part of document.querySelectorAll('details')) {
      part.removeAttribute('name') // otherwise opening one closes the others
      part.open = true
    }
  })

/** Whether the page never scrolls sideways: at both sizes, and at 320 px, which is a desktop at 400 % zoom. */
export async function fits(page: Page): Promise<boolean> {
  const size = page.viewportSize() ?? SIZES.desktop
  const tooWide: number[] = []
  for (const width of new Set([size.width, 320, SIZES.phone.width, SIZES.desktop.width])) {
    if (width !== size.width) await page.setViewportSize({ width, height: size.height })
    const fitting = await lookAt(page, () =>
      page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth),
    )
    if (!fitting) tooWide.push(width)
  }
  await page.setViewportSize(size)
  return tooWide.length === 0
}

/**
 * Words of two elements that run together on an English page, such as "code 200Operator": a template drops the line break
 * after a tag.
 */
export const gluedWords = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    if (document.documentElement.lang !== 'en') return []
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    const glued: string[] = []
    let before: { readonly node: Text; readonly end: DOMRect } | undefined
    for (let node = texts.nextNode() as Text | null; node; node = texts.nextNode() as Text | null) {
      if (node.parentElement?.closest('pre, textarea, select, script, style')) continue
      const range = document.createRange()
      range.selectNodeContents(node)
      const boxes = [...range.getClientRects()].filter(({ width }) => width > 0)
      const [start, end] = [boxes[0], boxes.at(-1)]
      if (!start || !end) continue
      if (before && before.node.parentElement !== node.parentElement) {
        const touch = Math.abs(before.end.bottom - start.bottom) < 8 && Math.abs(before.end.right - start.left) < 1
        const words = [before.node.data.slice(-20), node.data.slice(0, 20)] as const
        if (touch && /[\p{L}\p{N})]$/u.test(words[0]) && /^[\p{L}\p{N}(]/u.test(words[1])) glued.push(words.join('|'))
      }
      before = { node, end }
    }
    return glued
  })

/** Takes a screenshot of the whole page, or only of the viewport for a page too long for one image. */
export async function picture(page: Page, name: string, { size, locale }: Look, fullPage = true): Promise<void> {
  if (!FOLDER) return
  mkdirSync(FOLDER, { recursive: true })
  const path = join(FOLDER, `sandbox-${name}-${size}-${locale}.png`)
  await page.waitForLoadState('networkidle')
  // Chromium without a GPU is sometimes "unable to capture" right after a navigation, and able a moment later.
  await page.screenshot({ path, fullPage }).catch(async () => {
    await page.waitForTimeout(500)
    await page.screenshot({ path, fullPage })
  })
}

/** Whether only the current element has a line of a different colour in forced colours (high contrast). */
export async function onlyCurrentMarked(page: Page, selector: string, line: 'borderBottomColor' | 'borderLeftColor') {
  await page.emulateMedia({ forcedColors: 'active' })
  const found = await page.locator(selector).evaluateAll(
    (elements, side) =>
      elements.map((element) => ({
        isCurrent: element.hasAttribute('aria-current'),
        colour: getComputedStyle(element)[side],
      })),
    line,
  )
  await page.emulateMedia({ forcedColors: 'none' })
  const colours = (isCurrent: boolean) =>
    new Set(found.filter((one) => one.isCurrent === isCurrent).map(({ colour }) => colour))
  const [current, others] = [colours(true), colours(false)]
  return current.size === 1 && others.size === 1 && ![...current].some((colour) => others.has(colour))
}
