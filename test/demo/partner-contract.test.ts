import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringifyLossless } from '../../src/platform/lib/json/lossless.ts'
import { INTERFACES } from '../../src/ticketing/interfaces/index.ts'
import type { PartnerInterface } from '../../src/ticketing/interfaces/interface.ts'
import { readAnswer } from '../../src/ticketing/interfaces/read-answer.ts'
import { consumeNotice, dealChangeNotice, payNotice, refundNotice } from '../../src/ticketing/mtp/wire.ts'
import { readNotice } from '../../src/ticketing/mws/index.ts'
import { until } from '../until.ts'
import { issuedOrder, ORDER_ID, openPartner, orderOf, readJson, type TestPartner } from './partner.ts'

/** The demo partner against the platform's interface definitions: each side understands what the other sends. */

let platform: Server
let partner: TestPartner
const notices: { path: string; text: string }[] = []

beforeAll(async () => {
  platform = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    notices.push({ path: request.url ?? '', text })
    response.end('{"code":200,"describe":"success","partnerId":"7001"}')
  })
  await new Promise<void>((done) => platform.listen(0, '127.0.0.1', done))
  partner = await openPartner(`http://127.0.0.1:${(platform.address() as AddressInfo).port}`)
})
afterAll(async () => {
  await partner.app.close()
  platform.close()
})

const outcomeOf = async (entry: PartnerInterface, body: unknown, path = entry.defaultPath) => {
  const text = stringifyLossless({ partnerId: 7001, body: entry.request.parse(body) })
  return readAnswer(entry, readJson((await partner.send(path, text)).body))
}

const PAGE = { method: 'page', currentPage: 1, pageSize: 100 }
const RANGE = { startTime: '2026-05-06', endTime: '2026-05-31' }
const ORDER = { orderId: ORDER_ID, partnerOrderId: '' }
const REFUND = {
  ...{ ...ORDER, refundId: 'RF1', partnerDealId: 'DEMO-BOAT', voucherList: [], refundQuantity: 1 },
  ...{ unitPrice: 88, refundPrice: 88, refundFee: 0, refundTime: '2026-05-06 18:34:20' },
}

/** A sensible request for each interface, in an order in which all of them succeed. */
const REQUESTS: Readonly<Record<string, unknown>> = {
  heartbeat: {},
  'poi-pull': PAGE,
  'product-pull': PAGE,
  'price-calendar': { partnerDealId: 'DEMO-BOAT', ...RANGE },
  'level-price-calendar': { partnerDealId: 'DEMO-SHOW', ...RANGE, asyncType: 0 },
  'balance-query': { partnerDealIds: ['DEMO-BOAT'] },
  'product-status': [{ partnerDealId: 'DEMO-BOAT', status: 1, checkStatus: 1 }],
  'order-create': orderOf('DEMO-BOAT'),
  'order-pay': ORDER,
  'order-reschedule': {
    ...{ ...ORDER, rescheduleType: 1, rescheduleNo: 'RS1' },
    ...{ originDate: '2026-05-06', targetDate: '2026-05-07' },
  },
  'order-query': ORDER,
  'order-refund': REFUND,
  'order-refunded': {
    ...{ ...ORDER, refundSerialNo: 'S1', refundPrice: -1, refundMessageType: 1 },
    ...{ refundTime: '2026-05-06 18:34:20', count: 1 },
  },
  'order-close': { orderId: ORDER_ID, closeType: 3 },
}

describe('the answers of the demo partner', () => {
  it('count as success for the platform, for every interface', async () => {
    expect(Object.keys(REQUESTS).sort()).toEqual(INTERFACES.map(({ name }) => name).sort())
    for (const [name, body] of Object.entries(REQUESTS)) {
      const entry = INTERFACES.find((candidate) => candidate.name === name) as PartnerInterface
      expect(await outcomeOf(entry, body), name).toMatchObject({ outcome: 'success' })
    }
  })

  it('are read as pending, not failed, when the result comes later', async () => {
    const orderId = ORDER_ID + 1n
    const entry = (name: string) => INTERFACES.find((candidate) => candidate.name === name) as PartnerInterface
    const order = { orderId, partnerOrderId: '' }
    await outcomeOf(entry('order-create'), orderOf('DEMO-TOWER', { orderId }))
    expect(await outcomeOf(entry('order-pay'), order)).toMatchObject({ outcome: 'pending', code: 598 })
    partner.clock.advance(3)
    expect(await outcomeOf(entry('order-pay'), order)).toMatchObject({ outcome: 'success' })
    const refund = { ...REFUND, ...order, refundId: 'RF2' }
    expect(await outcomeOf(entry('order-refund'), refund)).toMatchObject({ outcome: 'pending', code: 602 })
    const range = { partnerDealId: 'DEMO-SHOW', ...RANGE, asyncType: 1 }
    expect(await outcomeOf(entry('level-price-calendar'), range)).toMatchObject({ outcome: 'pending', code: 999 })
  })
})

describe('the notices of the demo partner', () => {
  const last = (path: string) => Buffer.from(notices.findLast((notice) => notice.path === path)?.text ?? '')

  it('are valid for the platform', async () => {
    const orderId = ORDER_ID + 2n
    await issuedOrder(partner, 'DEMO-TOWER', { orderId })
    await partner.call('/order/refund', { ...REFUND, orderId, refundId: 'RF3' })
    await partner.control('decide-refund', { refundId: 'RF3', approve: false, reason: 'used' })
    await partner.control('consume', { orderId, quantity: 1 })
    await partner.control('change-product', { partnerDealId: 'DEMO-BOAT', mtPrice: 90 })
    expect(readNotice(consumeNotice, last('/mtp/api/order/consume/notice'))).toMatchObject({
      notice: { partnerId: '7001', body: { orderId, usedQuantity: 1, voucherList: [{ quantity: 2, status: 0 }] } },
    })
    expect(readNotice(refundNotice, last('/mtp/api/order/refund/notice'))).toMatchObject({
      notice: { code: 606, describe: 'used', body: { orderId, refundId: 'RF3' } },
    })
    const paidLater = ORDER_ID + 3n
    await partner.call('/order/create', orderOf('DEMO-CASTLE', { orderId: paidLater }))
    expect(await partner.call('/order/pay', { orderId: paidLater })).toMatchObject({ code: 598 })
    await until(() => last('/mtp/api/order/pay/notice').length > 0)
    expect(readNotice(payNotice, last('/mtp/api/order/pay/notice'))).toMatchObject({
      notice: {
        issueType: 1,
        code: 200,
        body: { orderId: paidLater, voucherType: 1, vouchers: [expect.any(String), expect.any(String)] },
      },
    })
    expect(readNotice(dealChangeNotice, last('/mtp/api/deal/change/notice'))).toMatchObject({
      notice: { body: [{ partnerDealId: 'DEMO-BOAT', status: 5 }] },
    })
  })
})
