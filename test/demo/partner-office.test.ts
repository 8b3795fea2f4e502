import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MISTAKES } from '../../src/demo/partner/control/actions.ts'
import { type Answer, issuedOrder, ORDER_ID, openPartner, type TestPartner } from './partner.ts'

let partner: TestPartner
beforeEach(async () => {
  partner = await openPartner()
})
afterEach(() => partner.app.close())

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const open = (headers: Record<string, string> = {}) => partner.app.inject({ method: 'GET', url: '/', headers })
const submit = (path: string, fields: Record<string, string> | string[][], headers: Record<string, string> = {}) =>
  partner.app.inject({
    method: 'POST',
    url: `/office/${path}`,
    payload: new URLSearchParams(fields).toString(),
    headers: { ...FORM, ...headers },
  })
const switchedOn = async (): Promise<string[]> => (await partner.control('mistakes')).mistakes

describe('the back office', () => {
  it('shows products, orders, refunds and notices, the newest first, and never the secret', async () => {
    await issuedOrder(partner, 'DEMO-TOWER')
    await issuedOrder(partner, 'DEMO-BOAT', { orderId: ORDER_ID + 1n })
    await partner.call('/order/refund', { orderId: ORDER_ID, refundId: 'RF-1', refundQuantity: 1 })
    await submit('consume', { orderId: String(ORDER_ID + 1n), quantity: '2' })
    await submit('change-product', { partnerDealId: 'DEMO-BOAT', title: 'Ferry' })
    const { statusCode, body } = await open()
    expect(statusCode).toBe(200)
    for (const text of ['DEMO-NIGHT', 'Ferry', 'RF-1', 'under review', '2 used, 0 refunded of 2', 'not acknowledged']) {
      expect(body).toContain(text)
    }
    const notices = [...body.matchAll(/<\/small> (\/mtp\/\S+)</g)].map(([, path]) => path)
    expect(notices).toEqual(['/mtp/api/deal/change/notice', '/mtp/api/order/consume/notice'])
    expect(body.indexOf(`id="order-${ORDER_ID + 1n}"`)).toBeLessThan(body.indexOf(`id="order-${ORDER_ID}"`))
    expect(body).not.toMatch(/a secret for tests|undefined|NaN|\[object/)
  })

  it('shows the latest fifty and says how many there are', async () => {
    for (let at = 0; at < 51; at++) await partner.control('add-product', { partnerDealId: `P${at}`, title: 'x' })
    const { body } = await open()
    expect(body).toContain('The latest 50 of 51.')
    expect(body.match(/<\/small> \/mtp\//g)).toHaveLength(50)
  })

  it.each([
    ['zh-CN,zh;q=0.9,en;q=0.8', 'zh-CN'],
    ['fr, ZH-Hant;q=0.7, en;q=0.5', 'zh-CN'],
    ['zh;q=0.1, en-GB', 'en'],
    ['zh;q=0, fr', 'en'],
    ['', 'en'],
  ])('answers Accept-Language %j in %s', async (language, locale) => {
    const { body, headers } = await open({ 'accept-language': language })
    expect(body).toContain(`<html lang="${locale}">`)
    expect(headers.vary).toBe('Accept-Language')
    expect(body).toContain(locale === 'en' ? 'Switch off all mistakes' : '关闭所有错误')
    expect(body).not.toContain('undefined')
  })

  it('escapes text that others have written, and lets no script run', async () => {
    const evil = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
    await submit('change-product', { partnerDealId: 'DEMO-BOAT', title: evil })
    await issuedOrder(partner, 'DEMO-TOWER')
    const refund = { orderId: ORDER_ID, refundId: `R${evil}`, refundQuantity: 1 }
    await partner.call('/order/refund', refund)
    await submit('decide-refund', { refundId: refund.refundId, approve: 'no', reason: evil })
    for (const { body } of [await open(), await submit('consume', { orderId: '1' }), await submit('consume', {})]) {
      expect(body).not.toContain('<script')
      expect(body).not.toContain('<img')
    }
    expect((await open()).body).toContain('&lt;script&gt;')
    expect((await partner.app.inject(`/?done=${encodeURIComponent(evil)}`)).body).not.toMatch(/<script|id="said"/)
    const { headers } = await open()
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'self'; font-src 'self'; .*frame-ancestors 'none'$/,
    )
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
  })
})

describe('the forms of the back office', () => {
  const quantities = async () => (await partner.control('state')).orders[0]

  it('redirect to the page, which says what was done', async () => {
    await issuedOrder(partner, 'DEMO-BOAT')
    const answer = await submit('consume', { orderId: String(ORDER_ID), quantity: '1' })
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/?done=consume#said'])
    expect((await partner.app.inject('/?done=consume')).body).toContain('The visitors were admitted.')
    expect(await quantities()).toMatchObject({ usedQuantity: 1, unusedQuantity: 1 })
  })

  it('show the page with the reason when an action fails', async () => {
    const answer = await submit('consume', { orderId: '1', quantity: '1' })
    expect(answer.statusCode).toBe(400)
    expect(answer.body).toContain('<span lang="en">no order 1</span>')
    const { body } = await submit('decide-refund', { refundId: 'x', approve: 'yes' })
    expect(body).toContain('no refund x')
  })

  it('decide on a refund', async () => {
    await issuedOrder(partner, 'DEMO-TOWER')
    for (const refundId of ['A', 'B', 'C']) {
      await partner.call('/order/refund', { orderId: ORDER_ID, refundId, refundQuantity: refundId === 'C' ? 2 : 1 })
    }
    await submit('decide-refund', { refundId: 'A', approve: 'yes', reason: '' })
    await submit('decide-refund', { refundId: 'B', approve: 'no', reason: 'too late' })
    const { refunds } = await partner.control('state')
    expect(refunds).toMatchObject([{ state: 'refunded' }, { state: 'refused', reason: 'too late' }])
    expect((await submit('decide-refund', { refundId: 'B' })).statusCode).toBe(400)
  })

  it('change only the fields of a product that differ', async () => {
    const [boat] = (await partner.control('state')).products
    const shown = {
      partnerDealId: 'DEMO-BOAT',
      ...{ title: boat.title, onSale: 'yes', stock: '1000' },
      ...{ marketPrice: '100', mtPrice: '88.00', settlementPrice: '75' },
    }
    const changes = async (fields: object) => {
      const before = (await partner.control('state')).notices.length
      const { headers } = await submit('change-product', { ...shown, ...fields })
      const { notices } = await partner.control('state')
      return [headers.location, ...notices.slice(before).map(({ message }: Answer) => message.body[0].status)]
    }
    expect(await changes({})).toEqual(['/?done=unchanged#said'])
    expect(await changes({ mtPrice: '90' })).toEqual(['/?done=change-product#said', 5])
    expect(await changes({ mtPrice: '90', title: 'Ferry' })).toEqual(['/?done=change-product#said', 2])
    expect(await changes({ mtPrice: '90', title: 'Ferry', onSale: 'no' })).toEqual(['/?done=change-product#said', 0])
    expect((await partner.control('state')).products[0]).toMatchObject({ title: 'Ferry', onSale: false, mtPrice: 90 })
    expect((await submit('change-product', { ...shown, mtPrice: 'dear' })).statusCode).toBe(400)
  })

  it('add a product', async () => {
    await submit('add-product', { partnerDealId: 'DEMO-NEW', title: 'Kayak' })
    expect((await partner.control('state')).products.at(-1)).toMatchObject({ partnerDealId: 'DEMO-NEW', onSale: true })
    expect((await submit('add-product', { partnerDealId: 'DEMO-NEW', title: 'Kayak' })).statusCode).toBe(400)
  })

  it('offer every mistake, and switch on several or none', async () => {
    const { body } = await open()
    const inChinese = (await open({ 'accept-language': 'zh' })).body
    for (const [mistake, text] of Object.entries(MISTAKES)) {
      expect(body).toContain(`name="mistakes" value="${mistake}"`)
      expect(body).toContain(`<span>${text} <code>${mistake}<`)
      expect(inChinese).toMatch(new RegExp(`<span>[^<]*\\p{Script=Han}[^<]* <code>${mistake}<`, 'u'))
    }
    await submit('mistakes', [
      ['mistakes', 'answer-scripts'],
      ['mistakes', 'answer-slow'],
    ])
    expect(await switchedOn()).toEqual(['answer-scripts', 'answer-slow'])
    const checked = [...(await open()).body.matchAll(/value="([\w-]+)" checked/g)].map(([, name]) => name)
    expect(checked).toEqual(['answer-scripts', 'answer-slow'])
    expect((await submit('mistakes', { mistakes: 'x' })).statusCode).toBe(400)
    expect((await submit('mistakes', {})).headers.location).toBe('/?done=honest#said')
    expect(await switchedOn()).toEqual([])
  })
})

describe('the access without a password', () => {
  const entrances: [string, string, Record<string, string>][] = [
    ['a form', '/office/mistakes', FORM],
    ['the API', '/control/mistakes', { 'content-type': 'text/plain' }],
  ]
  const post = (url: string, headers: Record<string, string>) =>
    partner.app.inject({
      ...{ method: 'POST', url, headers },
      payload: url.startsWith('/office') ? 'mistakes=answer-slow' : '{"mistakes":["answer-slow"]}',
    })

  describe.each(entrances)('%s', (_name, url, type) => {
    it.each<[string, Record<string, string>]>([
      ['a page of another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
      ['a page of another site, in an old browser', { origin: 'https://evil.example' }],
      ['a page of another site, without Origin', { 'sec-fetch-site': 'cross-site' }],
      ['a page that hides its origin', { origin: 'null' }],
      ['another port of this machine', { origin: 'http://localhost:3001', 'sec-fetch-site': 'same-site' }],
      ['another port, in an old browser', { host: 'localhost:3002', origin: 'http://localhost:3001' }],
      ['https of the same name', { host: 'localhost:3002', origin: 'https://localhost:3002' }],
      [
        'a foreign name that resolves to this machine',
        { host: 'evil.example:3002', origin: 'http://evil.example:3002' },
      ],
      ['a foreign name that resolves to this machine, without Origin', { host: 'evil.example:3002' }],
      ['a name that begins like ours', { host: 'localhost.evil.example' }],
      ['an address of the network', { host: '192.168.1.5:3002' }],
    ])('refuses %s', async (_caller, headers) => {
      const answer = await post(url, { ...type, ...headers })
      expect([answer.statusCode, Object.keys(answer.json())]).toEqual([403, ['error']])
      expect(await switchedOn()).toEqual([])
    })

    it.each<[string, Record<string, string>]>([
      ['a program', {}],
      ['a program on another port', { host: '127.0.0.1:41234' }],
      ['a program on IPv6', { host: '[::1]:3002' }],
      ['its own page', { host: 'localhost:3002', origin: 'http://localhost:3002', 'sec-fetch-site': 'same-origin' }],
      ['its own page, in an old browser', { host: 'LOCALHOST:3002', origin: 'http://LOCALHOST:3002' }],
    ])('serves %s', async (_caller, headers) => {
      expect((await post(url, { ...type, ...headers })).statusCode).toBeLessThan(304)
      expect(await switchedOn()).toEqual(['answer-slow'])
    })
  })

  it('refuses reads under a foreign name too, while the signed interfaces answer under any name', async () => {
    for (const url of ['/', '/control/state', '/control/mistakes', '/assets/demo-office.css']) {
      expect((await partner.app.inject({ url, headers: { host: 'evil.example' } })).statusCode).toBe(403)
    }
    const answer = await partner.call('/alive', undefined, { headers: { host: 'tickets.example.com' } })
    expect(answer).toMatchObject({ code: 200 })
  })

  it('checks the Host header over real HTTP too', async () => {
    await partner.app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = partner.app.server.address() as AddressInfo
    const statusFor = (host: string) =>
      new Promise((done) =>
        request({ port, host: '127.0.0.1', headers: { host } }, (answer) => done(answer.resume().statusCode)).end(),
      )
    expect(await statusFor(`localhost:${port}`)).toBe(200)
    for (const host of [`rebound.example:${port}`, 'localhost:', 'localhost:1@evil.example']) {
      expect(await statusFor(host), host).toBe(403)
    }
  })
})
