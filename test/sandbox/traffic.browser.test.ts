import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import cookie from '@fastify/cookie'
import Fastify from 'fastify'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { translator } from '../../src/platform/lib/web/locale.ts'
import { registerPages } from '../../src/platform/lib/web/page.ts'
import { preflight } from '../../src/sandbox/portal/preflight/index.ts'
import { findPartner } from '../../src/ticketing/partners/partner.ts'
import { violations } from '../axe.ts'
import { toNextPage } from '../browser.ts'
import { openWorld, type World } from '../harness.ts'
import { callPartner } from '../partner-calls/calls.ts'
import { type FakeSeller, fakeSeller, ok, status } from '../partner-calls/fake-seller.ts'
import { browsing, fits, gluedWords, LOOKS, type Look, picture, signInAs } from './browse.ts'
import { sendNotice } from './notices.ts'

const CHANGE = '/mtp/api/deal/change/notice'
const NASTY = `<script>document.title='run'</script><img src=x onerror="document.title='run'"></pre><svg onload="document.title='run'">`

const browser = browsing()
let world: World
let origin: string
let seller: FakeSeller
const SAMPLE = `<% layout('/sandbox/layout', { title: 'Pre-flight', moreStyles: ['sandbox-traffic.css'] }) %>
<article class="card"><h1>Pre-flight</h1><h2>Interfaces</h2><%~ include('/sandbox/preflight', it) %></article>`

/** Serves the pre-flight on its own, which is otherwise part of another page. */
const samples = Fastify()
let sampleOrigin: string

beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  await world.app.listen({ host: '127.0.0.1', port: 0 })
  origin = `http://localhost:${(world.app.server.address() as AddressInfo).port}`
  seller = await fakeSeller(world, 7001)
  await makeTraffic()
  await samples.register(cookie)
  await registerPages(samples, 'http://localhost')
  samples.get('/preflight', async (request, reply) => {
    const locale = request.headers['accept-language']?.startsWith('zh') ? 'zh-CN' : 'en'
    const urls = {
      heartbeat: `${seller.url}/alive`,
      'order-pay': `${seller.url}/nowhere`,
      'order-create': 'http://10.0.0.1/x',
      'order-query': 'http://nowhere.invalid/',
      'order-refund': 'http://nowhere.invalid/refund',
    }
    await world.pool.query('delete from failed_attempt')
    const results = await preflight(world.deps, 7001n, urls, locale)
    const shown = { preflight: results, partner: null, section: '', t: translator(locale), locale, languages: [] }
    return reply.type('text/html').send(await reply.viewAsync({ raw: SAMPLE } as unknown as string, shown))
  })
  await samples.listen({ host: '127.0.0.1', port: 0 })
  sampleOrigin = `http://localhost:${(samples.server.address() as AddressInfo).port}`
})
afterAll(async () => {
  await samples.close()
  await seller.close()
  await world.close()
})

async function makeTraffic(): Promise<void> {
  const partner = await findPartner(world.deps, seller.partnerId)
  if (!partner) throw new Error('no partner')
  const later = async (what: () => Promise<unknown>) => {
    world.clock.advance(7)
    await what()
  }
  for (let round = 0; round < 5; round++) {
    await later(() =>
      sendNotice(world, seller, { path: CHANGE, body: `{"body":[{"partnerDealId":"D${round}","status":1}]}` }),
    )
    await later(() => callPartner(world.deps, partner, 'heartbeat', {}))
  }
  seller.on('/product/query', ok([{ partnerDealId: 'D1', title: NASTY, useDateMode: 'x' }] as unknown as object))
  await later(() => callPartner(world.deps, partner, 'product-pull', { method: 'multi', partnerDealIds: ['D1'] }))
  seller.on('/order/create', status(502, {}, NASTY))
  await later(() =>
    callPartner(
      world.deps,
      partner,
      'order-create',
      {
        orderId: 9007199254740993n,
        partnerDealId: 'D1',
        mtDealId: 1n,
        buyPrice: 1,
        unitPrice: 1,
        totalPrice: 1,
        quantity: 1,
      },
      { orderId: 9007199254740993n },
    ),
  )
  await later(() => callPartner(world.deps, partner, 'heartbeat', {}, { forge: 'signature' }))
  const { callId } = await callPartner(world.deps, partner, 'heartbeat', {}, { forge: 'client' })
  await world.pool.query(
    `update partner_call set verdict = 'passed', failure = 'partner-code', code = 300, failure_detail = '"300 (error): BA"' where call_id = $1`,
    [callId],
  )
  seller.on('/order/query', status(200, {}, '{"code":420,"describe":"sold out","partnerId":7001}'))
  await later(() =>
    callPartner(
      world.deps,
      partner,
      'order-query',
      { orderId: 9007199254740993n, partnerOrderId: 'P1' },
      { orderId: 9007199254740993n },
    ),
  )
  const order = '{"body":{"orderId":9007199254740993}}'
  await later(() => sendNotice(world, seller, { path: '/mtp/api/order/consume/notice', body: order }))
  await later(() => sendNotice(world, seller, { path: '/mtp/api/order/consume', body: '{}' }))
  await later(() =>
    sendNotice(world, seller, { path: CHANGE, body: JSON.stringify({ body: NASTY }), headers: { 'X-Nasty': NASTY } }),
  )
  await later(() =>
    sendNotice(world, seller, { path: `/rhone${CHANGE}`, body: '{}', signing: { newline: '', path: CHANGE } }),
  )
}

async function signedIn(path: string, look: Look): Promise<Page> {
  const page = await browser.open(`${origin}${path}`, look)
  await signInAs(page, { client_id: 'seller-7001', client_secret: seller.secret })
  await page.waitForURL(`${origin}${path}`)
  return page
}

/** Pages whose screenshots are kept. */
const KEPT = ['traffic', 'entry-call', 'entry-rejected', 'preflight', 'timeline', 'replayed']

const looksRight = async (page: Page, name: string, look: Look) => {
  expect(await page.getAttribute('html', 'lang')).toBe(look.locale)
  expect(await violations(page)).toEqual([])
  expect(await fits(page)).toBe(true)
  expect(await gluedWords(page), name).toEqual([])
  if (KEPT.includes(name) && look.colorScheme === undefined) await picture(page, name, look)
}

/** The link to the first entry with these texts. */
const line = (page: Page, ...texts: string[]) =>
  texts.reduce((found, text) => found.filter({ hasText: text }), page.locator('ol.traffic a')).first()

const ENTRIES = {
  'entry-call': 'product-pull',
  'entry-failed': 'order-create',
  'entry-rejected': 'BA',
  'entry-notice': 'notice',
} as const

async function pathTo(name: keyof typeof ENTRIES): Promise<string> {
  const kinds = {
    'entry-call': 'call',
    'entry-failed': 'call',
    'entry-rejected': 'rejected',
    'entry-notice': 'notice',
  } as const
  const { rows } = await world.pool.query(
    kinds[name] === 'call'
      ? `select call_id as id from partner_call where interface = '${ENTRIES[name]}' limit 1`
      : kinds[name] === 'notice'
        ? 'select notice_id as id from notice limit 1'
        : `select call_id as id from rejected_call where answer like '%BA%' limit 1`,
  )
  return `/sandbox/traffic/${kinds[name]}/${rows[0].id}`
}

describe.each(LOOKS)('viewed as %j', (look) => {
  it('traffic and its entries are accessible and fit', async () => {
    const page = await signedIn('/sandbox/traffic', look)
    await looksRight(page, 'traffic', look)
    for (const name of Object.keys(ENTRIES) as (keyof typeof ENTRIES)[]) {
      await page.goto(origin + (await pathTo(name)))
      await looksRight(page, name, look)
    }
    await page.goto(`${origin}/sandbox/traffic/orders/9007199254740993`)
    expect((await page.textContent('ol.timeline'))?.replace(/\s+/g, ' ')).toContain('code 420')
    await looksRight(page, 'timeline', look)
    const ids = ['done', 'impossible', 'limited'].map((outcome) => `one=${outcome}.call.${randomUUID()}`)
    await page.goto(`${origin}/sandbox/traffic/replayed?${ids.join('&')}`)
    await looksRight(page, 'replayed', look)
  })

  it('a pre-flight is accessible and fits', async () => {
    const page = await browser.open(`${sampleOrigin}/preflight`, look)
    const rows = await page
      .locator('details.preflight')
      .evaluateAll((all) =>
        all.map((row) => [row.className.replace('preflight ', ''), (row as HTMLDetailsElement).open]),
      )
    // In the order of the interfaces; the second one to fail for the same reason stays closed and says so in its row.
    expect(rows).toEqual([
      ['failed', true],
      ['warning', false],
      ['failed', true],
      ['failed', false],
      ['warning', false],
    ])
    expect(await page.locator('details.preflight.failed .reason').isVisible()).toBe(true)
    await looksRight(page, 'preflight', look)
    const last = page.locator('details.preflight').last()
    await last.locator('summary').click()
    expect(await last.locator('.checks').isVisible()).toBe(true)
    await looksRight(page, 'preflight-unfolded', look)
    // Only for the screenshot: docs.browser.test.ts checks the page.
    await page.goto(`${origin}/sandbox/docs#order-create`)
    await picture(page, 'docs', look, false)
  })
})

const DESKTOP: Look = { size: 'desktop', locale: 'en' }

describe('what partners send', () => {
  it('is shown as text and never runs, even without the Content-Security-Policy', async () => {
    const page = await signedIn('/sandbox/traffic', DESKTOP)
    // Without the policy, escaping alone has to hold.
    await page.route('**/sandbox/**', async (route) => {
      const answer = await route.fetch()
      const { 'content-security-policy': _policy, ...headers } = answer.headers()
      await route.fulfill({ response: answer, headers })
    })
    const dialogs: string[] = []
    page.on('dialog', (dialog) => dialogs.push(dialog.message()))
    for (const [which, text] of [
      ['Product pull', NASTY],
      ['Order create', NASTY],
    ] as const) {
      await page.goto(`${origin}/sandbox/traffic`)
      await toNextPage(page, () => line(page, which).click())
      await page.waitForLoadState('networkidle')
      expect(await page.title()).toBe(`${which} – Gatehouse`)
      expect(await page.locator('pre svg, pre img, article script').count()).toBe(0)
      expect(await page.getByRole('region', { name: 'Response body' }).textContent()).toContain(
        which === 'Order create' ? text : '<script>',
      )
    }
    await page.goto(`${origin}/sandbox/traffic?direction=in&outcome=failed`)
    await toNextPage(page, () => line(page, 'Product change notice').last().click())
    expect(await page.title()).toBe('Product change notice – Gatehouse')
    expect(dialogs).toEqual([])
  })
})

describe('times', () => {
  it.each(['en', 'zh-CN'] as const)(
    'are local to the reader, and UTC in the tooltip and in print: %s',
    async (locale) => {
      const context = await browser.visit({ size: 'desktop', locale }, { timezoneId: 'Asia/Shanghai' })
      const page = await browser.tab(context, `${origin}/sandbox/traffic`)
      await signInAs(page, { client_id: 'seller-7001', client_secret: seller.secret })
      const time = page.locator('ol.traffic time').first()
      await page.waitForSelector('time[data-local]')
      const utc = (await time.getAttribute('title')) ?? ''
      expect(utc).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
      const shown = (await time.textContent()) ?? ''
      const hour = String((Number(utc.slice(11, 13)) + 8) % 24).padStart(2, '0')
      expect(shown).toMatch(new RegExp(`${hour}${utc.slice(13, 19)}$`))
      expect(shown).toContain(locale === 'en' ? ', 2026,' : '2026年')
      expect(await page.locator('footer').textContent()).toContain('Asia/Shanghai')
      await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')))
      expect(await time.textContent()).toBe(utc)
      await page.evaluate(() => window.dispatchEvent(new Event('afterprint')))
      expect(await time.textContent()).toBe(shown)
      expect(
        await page
          .locator('ol.traffic input')
          .first()
          .evaluate((box) => box.getAttribute('aria-labelledby')),
      ).toMatch(/^replay-chosen what-/)
    },
  )
})

describe('the traffic pages', () => {
  it('lead from a wrong field to its description, which is highlighted', async () => {
    const page = await signedIn('/sandbox/traffic', DESKTOP)
    await toNextPage(page, () => line(page, 'Product pull').click())
    await toNextPage(page, () => page.getByRole('link', { name: 'body[0].useDateMode' }).click())
    expect(new URL(page.url()).hash).toBe('#product-pull.answer.body.useDateMode')
    const row = page.locator('tr:target')
    expect(await row.textContent()).toContain('valid n days from the booked date')
    expect(await row.evaluate((element) => getComputedStyle(element).outlineStyle)).toBe('solid')
    await expect.poll(async () => (await row.boundingBox())?.y).toBeLessThan(800)
    expect((await row.boundingBox())?.y).toBeGreaterThanOrEqual(0)
  })

  it('filter, open an entry and replay it by keyboard alone, without JavaScript', async () => {
    const page = await signedIn('/sandbox/traffic', { ...DESKTOP, javaScriptEnabled: false })
    await page.focus('#direction')
    await page.keyboard.press('P')
    // The outcome and the search fields are between it and the button.
    for (let field = 0; field < 4; field++) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(/direction=out/)
    const ways = await page.locator('ol.traffic li .way').allTextContents()
    expect([...new Set(ways)]).toEqual(['Platform → you'])
    const heartbeat = line(page, 'Heartbeat')
    await heartbeat.focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/call\//)
    const before = page.url()
    await page.getByRole('button', { name: 'Replay', exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/replayed=done/)
    expect(page.url()).not.toContain(before)
    expect(await page.getByRole('status').textContent()).toContain('Called again')
  })

  it('show what was signed, and what is wrong with the signature', async () => {
    const page = await signedIn('/sandbox/traffic?outcome=failed', DESKTOP)
    await toNextPage(page, () => line(page, 'The line feed between path and Date is missing').click())
    const text = (await page.textContent('article')) ?? ''
    expect(text).toContain('path-of-another-environment')
    expect(text).toContain('POST /rhone/mtp/api/deal/change/notice\n')
    expect(await page.getByRole('link', { name: 'Try the call in the signature tool' }).getAttribute('href')).toBe(
      '/sandbox/signature',
    )
  })

  it('copy the cURL text', async () => {
    const context = await browser.visit(DESKTOP)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const page = await context.newPage()
    await page.goto(`${origin}/sandbox/traffic`)
    await signInAs(page, { client_id: 'seller-7001', client_secret: seller.secret })
    await toNextPage(page, () => line(page, 'Heartbeat').click())
    await page.getByRole('button', { name: 'Copy' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied).toContain('openssl dgst -sha1 -hmac "$CLIENT_SECRET"')
    expect(copied).toBe(await page.textContent('pre.curl'))
  })
})
