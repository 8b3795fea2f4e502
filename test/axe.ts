import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type * as axe from 'axe-core'
import type { BrowserContext, Page } from 'playwright-core'

/** Runs axe-core, an accessibility checker, on a page. */

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Contexts whose new pages load axe by themselves: sending it is most of the cost of a check. */
const prepared = new WeakSet<BrowserContext>()

/** Injects axe through the debugger, so that the page's Content-Security-Policy stays in force. */
async function prepare(page: Page): Promise<void> {
  await page.waitForLoadState()
  const context = page.context()
  if (!prepared.has(context)) await context.addInitScript({ content: SOURCE })
  prepared.add(context)
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(SOURCE)
}

interface Checker {
  readonly run: typeof axe.run
  readonly _audit: { readonly rules: readonly { readonly id: string; readonly impact: axe.ImpactValue }[] }
}

/**
 * Without preloading: no rule that is used needs style sheets to be fetched again, or media. A violation has the impact of
 * its rule, so rules whose violations are left out are not tried.
 */
const run = (page: Page, options: axe.RunOptions = {}, part?: string): Promise<axe.Result[]> =>
  page.evaluate(
    async ([chosen, selector]) => {
      const { axe: checker } = globalThis as unknown as { axe: Checker }
      const lesser = checker._audit.rules.filter(({ impact }) => impact === 'minor' || impact === 'moderate')
      const rules = Object.fromEntries(lesser.map(({ id }) => [id, { enabled: false }]))
      const where = selector === undefined ? document : { include: [[selector]] }
      return (await checker.run(where, { ...chosen, rules, resultTypes: ['violations'], preload: false })).violations
    },
    [options, part] as const,
  )

/** Violations that axe calls serious or critical, in the page's colour scheme; `part` is a selector that limits the check. */
export async function violations(page: Page, part?: string): Promise<string[]> {
  await prepare(page)
  return worst(await run(page, {}, part))
}

/** For a page that is checked only once: also checks the contrast in the other colour scheme. */
export async function violationsInBothSchemes(page: Page): Promise<string[]> {
  const found = await violations(page)
  const isDark = await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches)
  const [scheme, other] = isDark ? (['dark', 'light'] as const) : (['light', 'dark'] as const)
  await page.emulateMedia({ colorScheme: other })
  found.push(...worst(await run(page, { runOnly: ['color-contrast'] })))
  await page.emulateMedia({ colorScheme: scheme })
  return found
}

const worst = (found: readonly axe.Result[]): string[] =>
  found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
