import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MISTAKES } from '../../src/demo/partner/control/actions.ts'
import { MISTAKE_GROUPS } from '../../src/demo/partner/mistakes/mistakes.ts'
import { type Answer, issuedOrder, ORDER_ID, openPartner, orderOf, type TestPartner } from './partner.ts'

const FOLDER = new URL('./', import.meta.url)

let partner: TestPartner
beforeEach(async () => {
  partner = await openPartner()
})
afterEach(() => partner.app.close())

const switchOn = (...mistakes: string[]): Promise<Answer> => partner.control('mistakes', { mistakes })
const create = (changes: object = {}): Promise<Answer> => partner.call('/order/create', orderOf('DEMO-BOAT', changes))

describe('mistakes', () => {
  it('are listed, and each call replaces those that are switched on', async () => {
    const { known } = await partner.control('mistakes')
    expect(Object.keys(known)).toEqual(Object.values(MISTAKE_GROUPS).flat())
    await switchOn('answer-http-500')
    await switchOn('answer-slow')
    expect((await switchOn()).mistakes).toEqual([])
    expect(await partner.call('/alive')).toMatchObject({ code: 200 })
  })

  it('in checking signatures overlook exactly one fault each', async () => {
    const stale = { date: new Date(partner.clock.now().getTime() - 3_600_000).toUTCString() }
    const calls = { signature: { secret: 'x' }, date: stale, client: { clientId: 'x' } }
    const accepted = async () => {
      const answers = Object.entries(calls).map(async ([name, fault]) => {
        const { code } = await partner.call('/alive', undefined, fault)
        return code === 200 ? [name] : []
      })
      return (await Promise.all(answers)).flat()
    }
    expect(await accepted()).toEqual([])
    await switchOn('wrong-signature-accepted')
    expect(await accepted()).toEqual(['signature'])
    await switchOn('stale-date-accepted')
    expect(await accepted()).toEqual(['date'])
    await switchOn('unknown-client-accepted')
    expect(await accepted()).toEqual(['client'])
  })

  it('order-create-not-idempotent gives a repeated order another partnerOrderId', async () => {
    await switchOn('order-create-not-idempotent')
    const [first, second] = [await create(), await create()]
    expect(first.body.partnerOrderId).not.toBe(second.body.partnerOrderId)
  })

  it('out-of-stock-sold accepts an order for a sold-out product', async () => {
    await switchOn('out-of-stock-sold')
    expect(await partner.call('/order/create', orderOf('DEMO-SOLD-OUT'))).toMatchObject({ code: 200 })
  })

  it('pay-again-issues-again issues other vouchers when the payment is repeated', async () => {
    await switchOn('pay-again-issues-again')
    const pay = { orderId: ORDER_ID, partnerOrderId: '' }
    await create()
    const [first, second] = [await partner.call('/order/pay', pay), await partner.call('/order/pay', pay)]
    expect(first.body.vouchers).not.toEqual(second.body.vouchers)
  })

  it('refund-twice-refunds-twice refunds again for the same refundId', async () => {
    await issuedOrder(partner, 'DEMO-BOAT')
    await switchOn('refund-twice-refunds-twice')
    const refund = { orderId: ORDER_ID, refundId: 'A', refundQuantity: 1 }
    for (const _ of [1, 2]) expect(await partner.call('/order/refund', refund)).toMatchObject({ code: 200 })
    const query = { orderId: ORDER_ID, partnerOrderId: '' }
    expect((await partner.call('/order/query', query)).body.refundedQuantity).toBe(2)
  })

  it('out-of-stock-sold ends when it is switched off, even after concurrent orders', async () => {
    const order = (at: number) => orderOf('DEMO-SOLD-OUT', { orderId: ORDER_ID + BigInt(at) })
    await switchOn('out-of-stock-sold')
    const answers = await Promise.all([1, 2, 3, 4].map((at) => partner.call('/order/create', order(at))))
    expect(answers.map(({ code }) => code)).toEqual([200, 200, 200, 200])
    await switchOn()
    expect(await partner.call('/order/create', order(5))).toMatchObject({ code: 420 })
  })

  it('query-forgets-paid-order answers 301 for a paid order', async () => {
    const order = { orderId: ORDER_ID, partnerOrderId: '' }
    await switchOn('query-forgets-paid-order')
    await create()
    expect(await partner.call('/order/query', order)).toMatchObject({ code: 200 })
    await partner.call('/order/pay', order)
    expect(await partner.call('/order/query', order)).toMatchObject({ code: 301 })
    await switchOn()
    expect(await partner.call('/order/query', order)).toMatchObject({ code: 200, body: { orderStatus: 4 } })
  })

  it('unknown-order-found finds an unknown order, and any-refund-accepted refunds too many tickets', async () => {
    const unknown = { orderId: ORDER_ID + 1n, partnerOrderId: '' }
    await issuedOrder(partner, 'DEMO-BOAT')
    const tooMany = { orderId: ORDER_ID, refundId: 'A', refundQuantity: 99 }
    expect(await partner.call('/order/query', unknown)).toMatchObject({ code: 301 })
    expect(await partner.call('/order/refund', tooMany)).toMatchObject({ code: 606 })
    await switchOn('unknown-order-found', 'any-refund-accepted')
    expect(await partner.call('/order/query', unknown)).toMatchObject({ code: 200, body: { orderStatus: 4 } })
    expect(await partner.call('/order/refund', tooMany)).toMatchObject({ code: 200 })
  })

  it('old-price-accepted sells at a wrong price, and orders-share-id repeats the partnerOrderId', async () => {
    const order = (at: number, more: object = {}) => orderOf('DEMO-BOAT', { orderId: ORDER_ID + BigInt(at), ...more })
    expect(await partner.call('/order/create', order(1, { buyPrice: 1 }))).toMatchObject({ code: 410 })
    await switchOn('old-price-accepted')
    expect(await partner.call('/order/create', order(2, { buyPrice: 1 }))).toMatchObject({ code: 200 })
    await switchOn('orders-share-id')
    const answers = [await partner.call('/order/create', order(3)), await partner.call('/order/create', order(4))]
    expect(new Set(answers.map(({ body }) => body.partnerOrderId)).size).toBe(1)
  })

  it('do not change how malformed requests are answered', async () => {
    await switchOn('answer-wrong-content-type', 'out-of-stock-sold')
    expect((await partner.send('/order/create', '{not json')).json()).toMatchObject({ code: 410 })
    expect((await partner.send('/order/create', '{"body":{"orderId":"x"}}')).json()).toMatchObject({ code: 410 })
  })

  it('close-twice-fails refuses to close a closed order', async () => {
    await create()
    await switchOn('close-twice-fails')
    const close = { orderId: ORDER_ID, closeType: 1 }
    expect(await partner.call('/order/close', close)).toMatchObject({ code: 200 })
    expect(await partner.call('/order/close', close)).toMatchObject({ code: 300 })
  })
})

describe('mistakes in answers', () => {
  const query = () =>
    partner.send('/order/query', `{"partnerId":7001,"body":{"orderId":${ORDER_ID},"partnerOrderId":""}}`)
  beforeEach(async () => {
    await issuedOrder(partner, 'DEMO-BOAT')
  })

  it.each<[string, number, RegExp]>([
    ['answer-not-json', 200, /^<html>/],
    ['answer-empty', 200, /^$/],
    ['answer-http-500', 500, /"code":200/],
    ['answer-code-300', 200, /^\{"code":300[^[]*\}$/],
    ['answer-missing-field', 200, /^(?!.*orderStatus).*orderQuantity/],
    ['answer-wrong-types', 200, /"code":200.*"orderStatus":"about 4"/],
    ['answer-rounded-order-id', 200, /"orderId":8985652356562370000,/],
    ['answer-redirects', 302, /"code":200/],
    ['answer-too-large', 200, /x{2097152}/],
    ['answer-other-partner-id', 200, /"partnerId":"70011"/],
    ['answer-other-order-id', 200, /"orderId":8985652356562370002,/],
    ['answer-scripts', 200, /"describe":"<script>alert\(1\)<\/script>"/],
    ['answer-wrong-content-type', 200, /"code":200/],
  ])('%s', async (mistake, status, text) => {
    await switchOn(mistake)
    const { statusCode, body } = await query()
    expect(statusCode).toBe(status)
    expect(body).toMatch(text)
  })

  it('answer-slow delays the answer', async () => {
    await switchOn('answer-slow')
    const pause = new Promise((done) => setTimeout(done, 300, 'nothing yet'))
    expect(await Promise.race([query(), pause])).toBe('nothing yet')
  })

  it('answer-wrong-content-type sends text/html', async () => {
    await switchOn('answer-wrong-content-type')
    expect((await query()).headers['content-type']).toBe('text/html; charset=utf-8')
  })

  it('answer-echoes-secrets repeats signature and secret, but does not log them', async () => {
    await switchOn('answer-echoes-secrets')
    const { headers, body } = await query()
    const secrets = /MWS demo-partner:[\w+/=]{28}.*a secret for tests/
    expect(headers['x-debug']).toMatch(secrets)
    expect(body).toMatch(secrets)
    expect(partner.logged()).not.toMatch(/MWS|a secret for tests/)
  })

  it('answer-missing-field drops the code when an interface has no body', async () => {
    await switchOn('answer-missing-field')
    expect((await partner.send('/alive', '{}')).body).toBe('{"describe":"success","partnerId":"7001"}')
  })
})

describe('mistakes in fields', () => {
  const RANGE = { startTime: '2026-05-06', endTime: '2026-05-07' }
  const prices = (partnerDealId = 'DEMO-BOAT') => partner.call('/product/price/query', { partnerDealId, ...RANGE })
  const levels = () =>
    partner.call('/product/level/price/calendar/v2', { partnerDealId: 'DEMO-SHOW', ...RANGE, asyncType: 0 })
  const pay = () => partner.call('/order/pay', { orderId: ORDER_ID, partnerOrderId: '' })
  const valuesOf = (entries: Answer, field: string): unknown[] => entries.map((entry: Answer) => entry[field])

  it('prices-out-of-range adds a day outside the range', async () => {
    await switchOn('prices-out-of-range')
    expect(valuesOf((await prices()).body, 'date')).toEqual(['2026-05-06', '2026-05-07', '2099-12-31'])
    expect(valuesOf((await levels()).body, 'priceDate').at(-1)).toBe('2099-12-31')
    expect((await prices('DEMO-OPEN')).body).toEqual([])
  })

  it('prices-of-another-product names another product, but only in prices', async () => {
    await switchOn('prices-of-another-product')
    expect(valuesOf((await prices()).body, 'partnerDealId')).toEqual(['DEMO-STRANGER', 'DEMO-STRANGER'])
    expect((await levels()).partnerDealId).toBe('DEMO-STRANGER')
    const { body } = await partner.call('/balance/query', { partnerDealIds: ['DEMO-BOAT'] })
    expect(body[0].partnerDealId).toBe('DEMO-BOAT')
  })

  it.each<[string, number, number]>([
    ['DEMO-BOAT', 1, 1],
    ['DEMO-TOWER', 2, 0],
    ['DEMO-NIGHT', 0, 1],
  ])('vouchers-do-not-fit-type: two tickets of %s', async (partnerDealId, voucherType, vouchers) => {
    await issuedOrder(partner, partnerDealId, { visitors: [{ name: 'A' }, { name: 'B' }] })
    await switchOn('vouchers-do-not-fit-type')
    const { body } = await pay()
    expect({ type: body.voucherType, vouchers: body.vouchers.length }).toEqual({ type: voucherType, vouchers })
  })

  it('refund-answers-another-refund answers with another refundId', async () => {
    await issuedOrder(partner, 'DEMO-BOAT')
    await switchOn('refund-answers-another-refund')
    const refund = { orderId: ORDER_ID, refundId: 'A', refundQuantity: 1 }
    expect(await partner.call('/order/refund', refund)).toMatchObject({ code: 200, body: { refundId: 'A-other' } })
  })

  it('reschedule-count-wrong answers with a wrong successCount', async () => {
    await issuedOrder(partner, 'DEMO-BOAT')
    await switchOn('reschedule-count-wrong')
    const days = { originDate: '2026-05-06', targetDate: '2026-05-07' }
    const answer = await partner.call('/order/reschedule', { orderId: ORDER_ID, rescheduleNo: 'R', ...days })
    expect(answer).toMatchObject({ code: 200, body: { successCount: 1 } })
  })

  it('answer-scripts sends scripts in texts', async () => {
    await switchOn('answer-scripts')
    const { describe, body } = await partner.call('/product/query', { method: 'multi', partnerDealIds: ['DEMO-BOAT'] })
    expect([describe, body[0].title]).toEqual(Array(2).fill('<script>alert(1)</script>'))
    expect(body[0].subTitle).toContain('onerror')
  })
})

it('every mistake has a test that names it', () => {
  const tests = readdirSync(FOLDER)
    .filter((file) => file.startsWith('partner-'))
    .map((file) => readFileSync(new URL(file, FOLDER), 'utf8'))
    .join('')
  expect(Object.keys(MISTAKES).filter((mistake) => !tests.includes(`'${mistake}`))).toEqual([])
})
