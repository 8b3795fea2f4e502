import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { violationsInBothSchemes } from '../axe.ts'
import { lookAt, toNextPage } from '../browser.ts'
import { type SignedHeaders, signedHeaders } from '../signer.ts'
import { browsing, fits, type Look, picture, signInAs, tabTo } from './browse.ts'
import { type Lab, openLab } from './lab.ts'

/**
 * A seller that makes every usual mistake and reads nothing but the pages: no URL and no contacts at first, a scanner that
 * reports ticket by ticket, first notices with a wrong signature, a wrong path and a wrong body. It is certified all the
 * same, in the browser alone.
 */

const TOOL = '/mtp/api/order/test/ba'
const NOTICE = '/mtp/api/order/consume/notice'

const OFFERED = ['product-pull', 'product-change', 'pay-at-once', 'refund-at-once']

const browser = browsing()

/** Signs as the seller does, with a mistake. */
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
  /** Looks at the page as it is, and keeps a picture of it where that is asked for. */
  seen(name: string): Promise<void>
  /** Every page that the browser got. */
  readonly pages: Promise<string>[]
}

/** Sentences in English on the page, beside what is code, and what came over the wire. */
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
    if (isPage) pages.push(response.text().catch(() => '')) // a page that was left before it was there
  })
  const seen = async (name: string) => {
    expect(await page.getAttribute('html', 'lang'), name).toBe(look.locale)
    if (look.locale === 'zh-CN') expect(await lookAt(page, () => englishOn(page)), name).toEqual([])
    if (look.javaScriptEnabled !== false && ONLY_HERE.includes(name)) {
      expect(await violationsInBothSchemes(page), name).toEqual([])
    }
    expect(await fits(page), name).toBe(true)
    await picture(page, `careless-${name}`, look)
  }
  return { lab, page, origin, seen, pages }
}

/** Looked at for barriers: the others are, in all looks, in access, traffic, report and pages/run.browser.test.ts. */
const ONLY_HERE = [
  ...['signature-failed', 'waiting-wrongly', 'refused', 'one-of-two', 'not-accepted', 'contacts'],
  ...['entry-path', 'entry-body'],
]

/** With the keyboard alone. */
async function press(page: Page, selector: string): Promise<void> {
  await tabTo(page, selector)
  await page.keyboard.press('Enter')
}

async function passSignatureTool({ lab, page, seen }: Walk): Promise<void> {
  // With JavaScript the page looks by itself, and has no such link.
  const lookAgain = async (): Promise<void> => {
    const link = page.locator('#send a.button')
    if (await link.isVisible()) await toNextPage(page, () => link.click())
  }
  await toNextPage(page, () => page.click('li[aria-current=step] a.button'))
  await send(lab, TOOL, '{}', fullUrlSigned(lab, TOOL))
  await lookAgain()
  await page.waitForSelector('#verdict .mistakes code')
  expect(await page.locator('#verdict .mistakes code').allTextContents()).toEqual(['full-url-signed'])
  await seen('signature-failed')
  await send(lab, TOOL, '{}')
  await lookAgain()
  await page.waitForSelector('#verdict.good')
  await toNextPage(page, () => page.click('.next a.button'))
}

async function chooseFunctions({ lab, page, seen }: Walk): Promise<void> {
  await page.waitForSelector('#field-main')
  await page.fill('#field-main', 'DEMO-OPEN')
  for (const box of await page.locator('input[name=functions]:not(:disabled)').all()) {
    await box.setChecked(OFFERED.includes(String(await box.getAttribute('value'))))
  }
  await page.click('button[value=start]')
  await page.waitForSelector('#field-base_url-problem')
  await seen('functions-problem')
  await page.fill('#field-base_url', lab.sellerUrl)
  await toNextPage(page, () => page.click('button[value=check]'))
  await page.waitForSelector('#preflight .preflight')
  expect(await page.locator('#preflight .mark.bad').count()).toBe(0)
  await seen('preflight')
  await page.click('button[value=start]')
  await page.waitForURL(/\/sandbox\/run\//)
}

const lines = (page: Page, kind: string) => page.locator(`#lines > li.is-${kind}`)
const stepName = (page: Page) => page.locator('#steps li[aria-current=step] .name').textContent()

/** What the page names for a person to copy. */
const awaited = async (page: Page): Promise<string> => String(await page.textContent('.waiting pre.body'))

/** One product changes, then the other one that the page waits for. */
async function changeProducts({ lab, page }: Walk): Promise<void> {
  await lab.control('change-product', { partnerDealId: 'DEMO-BOAT', title: 'Another product' })
  await lines(page, 'notice').waitFor()
  await lab.control('change-product', { partnerDealId: 'DEMO-OPEN', title: 'A new title' })
}

/** Nothing of it ends the wait; the reason why a wrong body was refused can be read. */
async function sendWrongly({ lab, page, seen }: Walk): Promise<void> {
  await page.waitForSelector('.waiting')
  const body = await awaited(page)
  await seen('waiting')
  await send(lab, NOTICE, body, fullUrlSigned(lab, NOTICE))
  await lines(page, 'unverified').waitFor()
  await send(lab, '/mtp/api/order/consume/notices', body)
  await lines(page, 'wrong-path').waitFor()
  await seen('waiting-wrongly')
  await send(lab, NOTICE, body.replace(/"usedQuantity": *\d+/, '"usedQuantity":"two"'))
  await lines(page, 'rejected').waitFor()
  expect(await lines(page, 'rejected').textContent()).toContain('usedQuantity')
  await seen('refused')
}

/** The scanner at the gate reports each ticket by itself. */
async function scanTickets({ lab, page, seen }: Walk): Promise<void> {
  const { orderId } = JSON.parse((await awaited(page)).replace(/("orderId": *)(\d+)/, '$1"$2"')).body
  await lab.control('consume', { orderId, quantity: 1 })
  await lines(page, 'notice').waitFor()
  expect(await lines(page, 'notice').textContent()).toMatch(/1.*2/)
  await seen('one-of-two')
  await lab.control('consume', { orderId, quantity: 1 })
  await page.waitForSelector('#now form[action$="/next"]')
  await seen('consumed')
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

async function beAccepted({ page, seen, origin }: Walk): Promise<void> {
  const accept = '#now form[action$="/accept"] button'
  await page.click(accept)
  await page.waitForSelector('#now [role=alert]')
  await seen('not-accepted')
  await toNextPage(page, () => page.click('#acceptance a[href$="#contacts"]'))
  for (const role of ['product', 'business']) {
    await tabTo(page, `[id="field-contact.${role}.name"]`)
    await page.keyboard.type('林工')
    await page.keyboard.press('Tab')
    await page.keyboard.type(`${role}@lakeside.example`)
  }
  await press(page, 'button[value=contacts]')
  await page.waitForSelector('#contacts .success')
  await seen('contacts')
  await page.goto(`${origin}/sandbox`)
  await page.click('li[aria-current=step] a.button')
  await press(page, accept)
  await page.waitForSelector('#acceptance .success')
  await page.waitForLoadState()
  expect(await page.locator('#acceptance .told li').count()).toBe(2)
  await seen('accepted')
  await toNextPage(page, () => page.click('#acceptance a[href^="/sandbox/verify/"]'))
  await page.waitForSelector('.verify .success')
  expect(await page.textContent('main')).toContain('Lab')
  await seen('verify')
}

/** What went wrong can be read afterwards. */
async function readTraffic({ page, origin, seen }: Walk): Promise<void> {
  for (const [name, text] of [
    ['entry-signature', /whole URL was signed|签入了完整 URL/i],
    ['entry-path', '/mtp/api/order/consume/notices'],
    ['entry-body', 'usedQuantity'],
  ] as const) {
    await page.goto(`${origin}/sandbox/traffic?direction=in&outcome=failed`)
    if (name === 'entry-signature') await seen('traffic')
    await page.locator('ol.traffic a').filter({ hasText: text }).first().click()
    await page.waitForURL(/\/traffic\/rejected\//)
    await seen(name)
  }
  await page.click('a[href*="/sandbox/traffic/orders/"]')
  await page.waitForURL(/\/traffic\/orders\//)
  await seen('timeline')
}

const LOOKS: readonly Look[] = [
  { size: 'desktop', locale: 'en' },
  { size: 'phone', locale: 'zh-CN', javaScriptEnabled: false },
]
/** Walked for their pictures. */
const OTHERS: readonly Look[] = [
  { size: 'desktop', locale: 'zh-CN' },
  { size: 'phone', locale: 'en' },
]

describe.each(process.env.SCREENSHOTS ? [...LOOKS, ...OTHERS] : LOOKS)('a careless seller, who looks as %j', (look) => {
  it('is certified without the command line', async () => {
    const walk = await arrive(look)
    await signInAs(walk.page, { client_id: 'lab', client_secret: walk.lab.secret })
    await walk.seen('home')
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
