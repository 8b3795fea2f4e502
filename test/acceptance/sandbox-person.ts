import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { toNextPage } from '../browser.ts'
import { signInAs, visit } from '../sandbox/browse.ts'
import { firstLineOf, loadOf, watchForFirstLine } from './sandbox-moments.ts'

/** What a step waits for, as the page shows it: field → value. */
type About = Readonly<Record<string, string>>

export const CURRENT = '#steps li[aria-current=step]'
const START = '#now form[action$="/start"] button'
/** Leads to the next step or, after the last one, to the acceptance check. */
const NEXT = '#now :is(form[action$="/next"], form[action$="/accept"]) button'

/**
 * An engineer of the demo partner in a real browser, who knows only what the pages say. The first time a step waits for
 * a notice, the engineer runs the command that the page shows; later by clicking in the partner's back office.
 */
export class Person {
  readonly page: Page
  /** The HTML of every page and answer so far. */
  readonly seen: string[] = []
  /** Content-Security-Policy violations and uncaught errors in the browser. */
  readonly complaints: string[] = []
  /** Milliseconds from pressing Start to the first line of the log. */
  readonly firstLines: number[] = []
  /** Milliseconds to load the same page at about the same time. */
  readonly loads: number[] = []
  readonly #context: BrowserContext
  readonly #office: string
  #hasCopied = false

  private constructor(context: BrowserContext, page: Page, office: string) {
    this.page = page
    this.#context = context
    this.#office = office
    page.on('pageerror', (error) => this.complaints.push(String(error)))
    page.on('console', (message) => {
      if (/content security policy/i.test(message.text())) this.complaints.push(message.text())
    })
    page.on('response', async (answer) => {
      if (!/text\/html/.test(answer.headers()['content-type'] ?? '')) return
      // The body is gone if the browser has already left the page; look() also records what the person saw.
      const body = await answer.text().catch(() => '')
      this.seen.push(`${JSON.stringify(answer.headers())}\n${body}`)
    })
  }

  /** `office`: the address of the demo partner's back office. */
  static async arrive(browser: Browser, office: string): Promise<Person> {
    const context = await visit(browser, { size: 'desktop', locale: 'en' })
    return new Person(context, await context.newPage(), office)
  }

  /** Records the page as it is now. */
  async look(): Promise<void> {
    this.seen.push(await this.page.content())
  }

  async signIn(origin: string, partner: { client_id: string; client_secret: string }): Promise<void> {
    await this.page.goto(`${origin}/sandbox`)
    await this.look()
    await signInAs(this.page, partner)
    await this.page.waitForURL(`${origin}/sandbox`)
    await this.look()
  }

  /** The session cookie's value, and the header that a program would send. */
  async session(): Promise<{ value: string; header: string }> {
    const found = (await this.#context.cookies()).find(({ name }) => name === 'gatehouse_sandbox')
    return { value: String(found?.value), header: `gatehouse_sandbox=${found?.value}` }
  }

  /** Fetches a link without leaving the page. */
  async read(path: string): Promise<string> {
    const answer = await this.#context.request.get(new URL(path, this.page.url()).href)
    const text = await answer.text()
    this.seen.push(text)
    return text
  }

  /** Presses Start, does what the page asks for, and waits until the attempt has ended. */
  async makeStep(): Promise<void> {
    const before = String(await this.page.getAttribute('#log', 'data-attempt'))
    const timed = before === ''
    if (timed) await watchForFirstLine(this.page)
    await this.page.click(START)
    if (timed) this.firstLines.push(await firstLineOf(this.page))
    await this.page.waitForSelector(`#log:not([data-attempt="${before}"])`)
    const over = '#now form[action$="/start"]'
    // Tickets that are issued later need no action.
    await this.page.waitForSelector(`.waiting .demo, ${over}`)
    await this.look()
    if (await this.page.locator('.waiting .demo').count()) await this.#doAsTold()
    await this.page.waitForSelector(over)
    await this.page.waitForSelector('#lines > li.is-ended')
    await this.look()
    if (timed) this.loads.push(await loadOf(this.page))
  }

  goOn = (): Promise<void> => this.page.click(NEXT)
  canGoOn = async (): Promise<boolean> => (await this.page.locator(NEXT).count()) > 0

  async #doAsTold(): Promise<void> {
    if (!this.#hasCopied) {
      this.#hasCopied = true
      const command = String(await this.page.textContent('.waiting .demo pre'))
      const { stdout } = await promisify(execFile)('bash', ['-euc', command])
      if (!stdout.includes('"acknowledged":true')) throw new Error(`${command}: ${stdout}`)
      return
    }
    const about: About = Object.fromEntries(
      await this.page
        .locator('.waiting dl.facts div')
        .evaluateAll((rows) =>
          rows.map((row) => ['dt code', 'dd code'].map((at) => row.querySelector(at)?.textContent)),
        ),
    )
    const [tab] = await Promise.all([this.#context.waitForEvent('page'), this.page.click('.waiting .demo a')])
    await tab.waitForLoadState()
    await fillIn(tab, about)
    await tab.close()
  }

  /** Switches on exactly these mistakes of the demo partner, in its back office in a second tab. */
  async switchMistakes(...names: string[]): Promise<void> {
    const tab = await this.#context.newPage()
    await tab.goto(this.#office)
    for (const box of await tab.locator('#mistakes input[type=checkbox]').all()) {
      const name = String(await box.getAttribute('value'))
      if ((await box.isChecked()) !== names.includes(name)) await box.setChecked(names.includes(name))
    }
    await toNextPage(tab, () => tab.click('#mistakes form button'))
    await tab.waitForSelector('#said[role=status]')
    await tab.close()
  }
}

/** Does in the back office what the step waits for: admits a visitor, approves a refund or changes a product. */
async function fillIn(tab: Page, about: About): Promise<void> {
  if (about.refundId !== undefined) {
    await tab.locator('#refunds li', { hasText: about.refundId }).locator('button[name=approve][value=yes]').click()
  } else if (about.orderId !== undefined) {
    const order = tab.locator('#orders li', { hasText: about.orderId })
    await order.locator('input[name=quantity]').fill(String(about.usedQuantity))
    await order.locator('button').click()
  } else {
    const product = tab.locator('#products li', { has: tab.locator(`input[value="${about.partnerDealId}"]`) })
    await product.locator('summary').click()
    await product.locator('input[name=title]').fill('A trip with another name')
    await product.locator('button').click()
  }
  await tab.waitForSelector('#said[role=status]')
}
