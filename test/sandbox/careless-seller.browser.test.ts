import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { violationsInBothSchemes } from '../axe.ts'
import { lookAt, toNextPage } from '../browser.ts'
import { type SignedHeaders, signedHeaders } from '../signer.ts'
import { browsing, fits, type Look, picture, signInAs, tabTo } from './browse.ts'
import { type Lab, openLab } from './lab.ts'

/**
 * A seller that makes every common mistake and reads nothing but the pages: no URL and no contacts at first, a scanner
 * that reports ticket by ticket, and first notices with a wrong signature, a wrong path and a wrong body. It is still
 * certified, using only the browser.
 */

const TOOL = '/mtp/api/order/test/ba'
const NOTICE = '/mtp/api/order/consume/notice'

const OFFERED = ['product-pull', 'product-change', 'pay-at-once', 'refund-at-once']

const browser = browsing()

/** Sends a request that the seller signed, with a mistake if one is given. */
function send(lab: Lab, path: string, body: string, mistake?: (headers: SignedHeaders) => SignedHeaders) {
  const caller = { clientId: 'lab', partnerId: String(lab.partnerId), clientSecret: lab.secret }
  const right = signedHeaders(caller, { path, date: lab.world.clock.now().toUTCString() })
  const headers = { ...(mistake ? mistake(right) : right) }
  return fetch(lab.url + path, { method: 'POST', headers, body })
}

const fullUrlSigned =
  (lab: Lab, path: string) =>
  (headers: SignedHeaders): SignedHeaders => {
    const caller = { clientId: 'lab', partnerId: String(lab.partnerId), clientSecret: lab.secret }
    return { ...headers, ...signedHeaders(caller, { path: lab.url + path, date: headers.Date }) }
  }

interface Walk {
  readonly lab: Lab
  readonly page: Page
  readonly origin: string
  /** Checks the language, accessibility and width of the current page, and takes a screenshot if requested. */
  inspect(name: string): Promise<void>
  /** Every page that the browser received. */
  readonly pages: Promise<string>[]
}

/** English sentences on the page, outside code and data from requests. */
const englishOn = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const main = document.querySelector('main')?.cloneNode(true) as Element
    for (const wire of main.querySelectorAll('pre, code, dd, script, [lang=en]')) wire.remove()
    const texts = [...main.querySelectorAll('*')].flatMap(({ childNodes }) => [...childNodes])
    return texts
      .filter(({ nodeType }) => nodeType === Node.TEXT_NODE)
      .flatMap(({ nodeValue }) => nodeValue?.match(/.*\b(?:the|must|is|not|of|no|with|and|request|order)\b .*/g) ?? [])
  })

async function arrive(look: Look): Promise<Walk> {
  const lab = await openLab({}, { fresh: true })
  onTestFinished(() => lab.close())
  const origin = lab.url.replace('127.0.0.1', 'localhost')
  const page = await browser.open(`${origin}/sandbox`, look)
  const pages: Promise<string>[] = []
  page.on('response', (response) => {
    const isPage = response.ok() && response.headers()['content-type']?.startsWith('text/html')
    if (isPage) pages.push(response.text().catch(() => '')) // the page was left before it had loaded
  })
  const inspect = async (name: string) => {
    expect(await page.getAttribute('html', 'lang'), name).toBe(look.locale)
    if (look.locale === 'zh-CN') expect(await lookAt(page, () => englishOn(page)), name).toEqual([])
    if (look.javaScriptEnabled !== false && ONLY_HERE.includes(name)) {
      expect(await violationsInBothSchemes(page), name).toEqual([])
    }
    expect(await fits(page), name).toBe(true)
    await picture(page, `careless-${name}`, look)
  }
  return { lab, page, origin, inspect, pages }
}

/** Checked for accessibility here; access, traffic, report and pages/run.browser.test.ts check the other pages. */
const ONLY_HERE = [
  ...['signature-failed', 'waiting-wrongly', 'refused', 'one-of-two', 'not-accepted', 'contacts'],
  ...['entry-path', 'entry-body'],
]

/** Activates an element with the keyboard alone. */
async function press(page: Page, selector: string): Promise<void> {
  await tabTo(page, selector)
  await page.keyboard.press('Enter')
}

async function passSignatureTool({ lab, page, inspect }: Walk): Promise<void> {
  // With JavaScript the page updates itself, and has no such link.
  const lookAgain = async (): Promise<void> => {
    const link = page.locator('#send a.button')
    if (await link.isVisible()) await toNextPage(page, () => link.click())
  }
  await toNextPage(page, () => page.click('li[aria-current=step] a.button'))
  await send(lab, TOOL, '{}', fullUrlSigned(lab, TOOL))
  await lookAgain()
  await page.waitForSelector('#verdict .mistakes code')
  expect(await page.locator('#verdict .mistakes code').allTextContents()).toEqual(['full-url-signed'])
  await inspect('signature-failed')
  await send(lab, TOOL, '{}')
  await lookAgain()
  await page.waitForSelector('#verdict.good')
  await toNextPage(page, () => page.click('.next a.button'))
}

async function chooseFunctions({ lab, page, inspect }: Walk): Promise<void> {
  await page.waitForSelector('#field-main')
  await page.fill('#field-main', 'DEMO-OPEN')
  for (const box of await page.locator('input[name=functions]:not(:disabled)').all()) {
    await box.setChecked(OFFERED.includes(String(await box.getAttribute('value'))))
  }
  await page.click('button[value=start]')
  await page.waitForSelector('#field-base_url-problem')
  await inspect('functions-problem')
  await page.fill('#field-base_url', lab.sellerUrl)
  await toNextPage(page, () => page.click('button[value=check]'))
  await page.waitForSelector('#preflight .preflight')
  expect(await page.locator('#preflight .mark.bad').count()).toBe(0)
  await inspect('preflight')
  await page.click('button[value=start]')
  await page.waitForURL(/\/sandbox\/run\//)
}

const lines = (page: Page, kind: string) => page.locator(`#lines > li.is-${kind}`)
const stepName = (page: Page) => page.locator('#steps li[aria-current=step] .name').textContent()

/** The example notice that the page shows for copying. */
const exampleNotice = async (page: Page): Promise<string> => String(await page.textContent('.waiting pre.body'))

/** Changes another product first, then the one that the step waits for. */
async function changeProducts({ lab, page }: Walk): Promise<void> {
  await lab.control('change-product', { partnerDealId: 'DEMO-BOAT', title: 'Another product' })
  await lines(page, 'notice').waitFor()
  await lab.control('change-product', { partnerDealId: 'DEMO-OPEN', title: 'A new title' })
}

/** Sends notices with mistakes: none of them ends the wait, and the page shows why a body was refused. */
async function sendWrongly({ lab, page, inspect }: Walk): Promise<void> {
  await page.waitForSelector('.waiting')
  const body = await exampleNotice(page)
  await inspect('waiting')
  await send(lab, NOTICE, body, fullUrlSigned(lab, NOTICE))
  await lines(page, 'unverified').waitFor()
  await send(lab, '/mtp/api/order/consume/notices', body)
  await lines(page, 'wrong-path').waitFor()
  await inspect('waiting-wrongly')
  await send(lab, NOTICE, body.replace(/"usedQuantity": *\d+/, '"usedQuantity":"two"'))
  await lines(page, 'rejected').waitFor()
  expect(await lines(page, 'rejected').textContent()).toContain('usedQuantity')
  await inspect('refused')
}

/** The scanner at the gate reports each ticket separately. */
async function scanTickets({ lab, page, inspect }: Walk): Promise<void> {
  const { orderId } = JSON.parse((await exampleNotice(page)).replace(/("orderId": *)(\d+)/, '$1"$2"')).body
  await lab.control('consume', { orderId, quantity: 1 })
  await lines(page, 'notice').waitFor()
  expect(await lines(page, 'notice').textContent()).toMatch(/1.*2/)
  await inspect('one-of-two')
  await lab.control('consume', { orderId, quantity: 1 })
  await page.waitForSelector('#now form[action$="/next"]')
  await inspect('consumed')
}

async function goThroughSteps(walk: Walk): Promise<void> {
  const { page } = walk
  const all = 'form[action$="/start-all"] button'
  await press(page, all)
  await page.waitForSelector('.waiting')
  await changeProducts(walk)
  await page.waitForSelector('#now form[action$="/next"]')
  walk.lab.world.clock.advance(60)
  await page.click(all)
  await page.waitForSelector('.waiting')
  await page.reload() // changes nothing
  await sendWrongly(walk)
  await scanTickets(walk)
  const consumption = await stepName(page)
  await page.click(all)
  await page.waitForSelector('#now form[action$="/accept"]')
  await page.waitForLoadState()
  expect(await stepName(page)).not.toBe(consumption)
  expect(await page.locator('#steps li .mark.good').count()).toBe(await page.locator('#steps li').count())
}

async function beAccepted({ page, inspect, origin }: Walk): Promise<void> {
  const accept = '#now form[action$="/accept"] button'
  await page.click(accept)
  await page.waitForSelector('#now [role=alert]')
  await inspect('not-accepted')
  await toNextPage(page, () => page.click('#acceptance a[href$="#contacts"]'))
  for (const role of ['product', 'business']) {
    await tabTo(page, `[id="field-contact.${role}.name"]`)
    await page.keyboard.type('林工')
    await page.keyboard.press('Tab')
    await page.keyboard.type(`${role}@lakeside.example`)
  }
  await press(page, 'button[value=contacts]')
  await page.waitForSelector('#contacts .success')
  await inspect('contacts')
  await page.goto(`${origin}/sandbox`)
  await page.click('li[aria-current=step] a.button')
  await press(page, accept)
  await page.waitForSelector('#acceptance .success')
  await page.waitForLoadState()
  expect(await page.locator('#acceptance .told li').count()).toBe(2)
  await inspect('accepted')
  await toNextPage(page, () => page.click('#acceptance a[href^="/sandbox/verify/"]'))
  await page.waitForSelector('.verify .success')
  expect(await page.textContent('main')).toContain('Lab')
  await inspect('verify')
}

/** The traffic pages show afterwards what went wrong. */
async function readTraffic({ page, origin, inspect }: Walk): Promise<void> {
  for (const [name, text] of [
    ['entry-signature', /whole URL was signed|签入了完整 URL/i],
    ['entry-path', '/mtp/api/order/consume/notices'],
    ['entry-body', 'usedQuantity'],
  ] as const) {
    await page.goto(`${origin}/sandbox/traffic?direction=in&outcome=failed`)
    if (name === 'entry-signature') await inspect('traffic')
    await page.locator('ol.traffic a').filter({ hasText: text }).first().click()
    await page.waitForURL(/\/traffic\/rejected\//)
    await inspect(name)
  }
  await page.click('a[href*="/sandbox/traffic/orders/"]')
  await page.waitForURL(/\/traffic\/orders\//)
  await inspect('timeline')
}

const LOOKS: readonly Look[] = [
  { size: 'desktop', locale: 'en' },
  { size: 'phone', locale: 'zh-CN', javaScriptEnabled: false },
]
/** Run only for their screenshots. */
const OTHERS: readonly Look[] = [
  { size: 'desktop', locale: 'zh-CN' },
  { size: 'phone', locale: 'en' },
]

describe.each(process.env.SCREENSHOTS ? [...LOOKS, ...OTHERS] : LOOKS)('a careless seller with %j', (look) => {
  it('is certified without the command line', async () => {
    const walk = await arrive(look)
    await signInAs(walk.page, { client_id: 'lab', client_secret: walk.lab.secret })
    await walk.inspect('home')
    await passSignatureTool(walk)
    await chooseFunctions(walk)
    await goThroughSteps(walk)
    await beAccepted(walk)
    await readTraffic(walk)
    const pages = await Promise.all(walk.pages)
    expect(pages.filter((text) => text !== '').length).toBeGreaterThan(15)
    expect(pages.filter((text) => text.includes(walk.lab.secret))).toEqual([])
  })
})
