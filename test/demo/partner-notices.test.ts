import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openOutbox } from '../../src/demo/partner/outbox.ts'
import { signatureOf } from '../signer.ts'
import {
  type Answer,
  issuedOrder,
  ORDER_ID,
  openPartner,
  orderOf,
  PARTNER,
  readJson,
  type TestPartner,
} from './partner.ts'

/** A notice that the fake platform received, and whether its signature was right. */
interface Received {
  readonly path: string
  readonly text: string
  readonly signed: boolean
  readonly headers: NodeJS.Dict<string | string[]>
}

/** Only ends a test that hangs. */
const LONG = { timeout: 300_000 }

let platform: Server
let partner: TestPartner
let received: Received[]
let answers: string[]

beforeEach(async () => {
  received = []
  answers = []
  platform = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const path = request.url ?? ''
    const signature = signatureOf({ path, date: request.headers.date ?? '', secret: PARTNER.clientSecret })
    const signed = request.headers.authorization === `MWS ${PARTNER.clientId}:${signature}`
    received.push({ path, text, signed, headers: request.headers })
    const answer = answers.shift() ?? '{"code":200,"describe":"success","partnerId":"7001"}'
    if (answer === 'hang up') request.socket.destroy()
    else response.end(answer)
  })
  await new Promise<void>((done) => platform.listen(0, '127.0.0.1', done))
  const { port } = platform.address() as AddressInfo
  partner = await openPartner(`http://127.0.0.1:${port}/rhone/`)
})
afterEach(async () => {
  await partner.app.close()
  platform.closeAllConnections()
  platform.close()
})

const bodies = (): Answer[] => received.map(({ text }) => readJson(text).body)

describe('notices', () => {
  it('are signed over the whole path and carry the three headers', async () => {
    await issuedOrder(partner, 'DEMO-BOAT')
    await partner.control('consume', { orderId: ORDER_ID, quantity: 1 })
    expect(received).toHaveLength(1)
    expect(received[0]).toMatchObject({
      ...{ path: '/rhone/mtp/api/order/consume/notice', signed: true },
      headers: {
        partnerid: '7001',
        date: partner.clock.now().toUTCString(),
        'content-type': 'application/json; charset=utf-8',
      },
    })
    expect(received[0]?.text).toContain('"partnerId":7001')
    expect(received[0]?.text).toContain('"orderId":8985652356562370001')
  })

  it('carry the id of the partner without losing digits', async () => {
    const sent: string[] = []
    const deliver = async (_path: string, text: string) => {
      sent.push(text)
      return { code: 200, describe: 'success' }
    }
    const outbox = openOutbox({ partnerId: '9007199254740993', log: partner.app.log }, deliver)
    await outbox.post('/mtp/api/deal/change/notice', { body: [] }).firstAttempt
    expect(sent).toEqual(['{"partnerId":9007199254740993,"body":[]}'])
  })

  it('of consumption are cumulative and list the vouchers', async () => {
    const { vouchers } = await issuedOrder(partner, 'DEMO-BOAT')
    for (const _ of [1, 2]) await partner.control('consume', { orderId: ORDER_ID, quantity: 1 })
    const quantities = { quantity: 2, refundedQuantity: 0 }
    expect(bodies()).toMatchObject([
      {
        ...quantities,
        usedQuantity: 1,
        voucherList: [{ voucher: vouchers[0], quantity: 1, status: 1 }, { status: 0 }],
      },
      { ...quantities, usedQuantity: 2, voucherList: [{ status: 1 }, { status: 1 }] },
    ])
    expect(bodies()[0].voucherList[0].voucherInvalidTime).toBe('2026-05-06 23:59:59')
  })

  it('of a refund carry the decision, its code and its reason', async () => {
    await issuedOrder(partner, 'DEMO-TOWER')
    for (const refundId of ['A', 'B']) {
      await partner.call('/order/refund', { orderId: ORDER_ID, refundId, refundQuantity: 1 })
    }
    await partner.control('decide-refund', { refundId: 'A', approve: true })
    const sent = await partner.control('decide-refund', { refundId: 'B', approve: false, reason: 'too late' })
    expect(sent.notices).toMatchObject([{ acknowledged: true, attempts: 1, lastAnswer: '200: success' }])
    expect(received.map(({ path, text }) => ({ path, ...readJson(text) }))).toMatchObject([
      { path: '/rhone/mtp/api/order/refund/notice', code: 200, body: { orderId: ORDER_ID, refundId: 'A' } },
      { code: 606, describe: 'too late', body: { refundId: 'B', responseTime: '2026-05-06 18:34:23' } },
    ])
  })

  it('of a product are sent once for each kind of change', async () => {
    await partner.control('change-product', { partnerDealId: 'DEMO-BOAT', title: 'New', onSale: false, mtPrice: 90 })
    await partner.control('change-product', { partnerDealId: 'DEMO-OPEN', onSale: true, stock: 3 })
    await partner.control('add-product', { partnerDealId: 'DEMO-NEW', title: 'Kayak' })
    expect(
      bodies()
        .map(([entry]) => `${entry.partnerDealId} ${entry.status}`)
        .sort(),
    ).toEqual(['DEMO-BOAT 0', 'DEMO-BOAT 2', 'DEMO-BOAT 5', 'DEMO-NEW 1', 'DEMO-OPEN 1', 'DEMO-OPEN 2'])
    const { body } = await partner.call('/product/query', {
      method: 'multi',
      partnerDealIds: ['DEMO-NEW', 'DEMO-BOAT', 'DEMO-OPEN'],
    })
    expect(body).toMatchObject([
      { partnerDealId: 'DEMO-OPEN', stock: 3 },
      { partnerDealId: 'DEMO-NEW', title: 'Kayak' },
    ])
  })

  it('are sent again with the same bytes and a fresh signature until code 200', async () => {
    answers = ['hang up', '<html>', '{"code":300,"describe":"order 1 does not exist","partnerId":"7001"}']
    await issuedOrder(partner, 'DEMO-BOAT')
    const { notices } = await partner.control('consume', { orderId: ORDER_ID, quantity: 1 })
    expect(notices).toMatchObject([{ acknowledged: false, attempts: 1 }])
    partner.clock.advance(60)
    await vi.waitFor(async () => expect((await partner.control('state')).notices[0].acknowledged).toBe(true), LONG)
    expect(received).toHaveLength(4)
    expect(new Set(received.map(({ text }) => text)).size).toBe(1)
    expect(received.every(({ signed }) => signed)).toBe(true)
    expect(new Set(received.map(({ headers }) => headers.date)).size).toBe(2)
  })
})

describe('the outbox', () => {
  const send = async (...codes: (number | undefined)[]) => {
    let sent = 0
    const deliver = async () => ({ code: codes[Math.min(sent++, codes.length - 1)], describe: 'as told' })
    const outbox = openOutbox({ partnerId: '7001', log: partner.app.log }, deliver, () => 1)
    const notice = outbox.post('/mtp/api/deal/change/notice', { body: [] })
    await vi.waitFor(() => expect(notice.acknowledged || notice.givenUp || sent > 30).toBe(true), LONG)
    outbox.close()
    const { acknowledged, givenUp } = notice
    return { sent, acknowledged, givenUp }
  }

  it('gives up a notice that the platform keeps refusing', async () => {
    expect(await send(300)).toEqual({ sent: 8, acknowledged: false, givenUp: true })
  })

  it('repeats one that may still arrive', async () => {
    for (const code of [undefined, 400, 503]) {
      const { sent, givenUp } = await send(code)
      expect(sent).toBeGreaterThan(30)
      expect(givenUp).toBe(false)
    }
    expect(await send(300, undefined, 200)).toEqual({ sent: 3, acknowledged: true, givenUp: false })
  })

  it('keeps the newest thousand', async () => {
    const outbox = openOutbox({ partnerId: '7001', log: partner.app.log }, async () => ({ code: 200, describe: '' }))
    for (let n = 0; n < 1_100; n++) await outbox.post('/mtp/api/deal/change/notice', { n }).firstAttempt
    expect(outbox.notices.length).toBeLessThanOrEqual(1_000)
    expect(outbox.notices.at(-1)?.message).toEqual({ n: 1_099 })
  })

  it('gives up the oldest where a thousand wait, and no longer sends it', async () => {
    let sent = 0
    const deliver = async () => ({ code: undefined, describe: `not there ${++sent}` })
    const pauses = [5, ...Array<number>(2_000).fill(1_000_000)]
    const outbox = openOutbox({ partnerId: '7001', log: partner.app.log }, deliver, () => pauses.shift() ?? 1)
    const oldest = outbox.post('/mtp/api/deal/change/notice', { n: 0 })
    await oldest.firstAttempt
    for (let n = 1; n <= 1_000; n++) outbox.post('/mtp/api/deal/change/notice', { n })
    expect([outbox.notices.length, oldest.givenUp]).toEqual([1_000, true])
    await vi.waitFor(() => expect(sent).toBe(1_001), LONG)
    await new Promise((done) => setTimeout(done, 50))
    expect([sent, oldest.attempts]).toEqual([1_001, 1])
    outbox.close()
  })
})

describe('the control API', () => {
  it.each<[string, object]>([
    ['consume', { orderId: 1, quantity: 1 }],
    ['consume', { quantity: 1 }],
    ['decide-refund', { refundId: 'x', approve: true }],
    ['change-product', { partnerDealId: 'x' }],
    ['add-product', { partnerDealId: 'DEMO-BOAT', title: 'x' }],
    ['mistakes', { mistakes: ['x'] }],
  ])('says what is wrong with %s %j', async (path, input) => {
    expect(await partner.control(path, input)).toMatchObject({ status: 400, error: expect.stringMatching(/\w/) })
    expect(received).toEqual([])
  })
})

describe('mistakes in notices', () => {
  const consumed = async (mistake: string) => {
    await partner.control('mistakes', { mistakes: [mistake] })
    await issuedOrder(partner, 'DEMO-BOAT')
    await partner.control('consume', { orderId: ORDER_ID, quantity: 1 })
    return received
  }

  it('notice-wrong-signature: the signature is wrong', async () =>
    expect(await consumed('notice-wrong-signature')).toMatchObject([{ signed: false }]))

  it('notice-local-time: the Date is local time labelled GMT', async () =>
    expect(await consumed('notice-local-time')).toMatchObject([
      { signed: true, headers: { date: 'Wed, 06 May 2026 18:34:23 GMT' } },
    ]))

  it('notice-missing-field: a required field is missing', async () => {
    const [{ text = '' } = {}] = await consumed('notice-missing-field')
    expect(readJson(text).body).not.toHaveProperty('usedQuantity')
    expect(readJson(text).body).toHaveProperty('refundedQuantity', 0)
  })

  it('pay-notice-code-missing: one voucher too few for the voucherType', async () => {
    const issued = async () => {
      await vi.waitFor(() => expect(received).toHaveLength(1), LONG)
      return readJson(received.shift()?.text ?? '')
    }
    for (const [orderId, mistakes, vouchers] of [
      [1, [], 2],
      [2, ['pay-notice-code-missing'], 1],
    ] as const) {
      await partner.control('mistakes', { mistakes })
      await partner.call('/order/create', orderOf('DEMO-CASTLE', { orderId }))
      expect(await partner.call('/order/pay', { orderId })).toMatchObject({ code: 598 })
      expect((await partner.call('/order/query', { orderId })).body).toMatchObject({ orderStatus: 5 })
      const { issueType, body } = await issued()
      expect({ issueType, count: body.vouchers.length }).toEqual({ issueType: 1, count: vouchers })
      await vi.waitFor(
        async () => expect((await partner.call('/order/query', { orderId })).body).toMatchObject({ orderStatus: 4 }),
        LONG,
      )
    }
  })

  it('notice-rounded-order-id: the orderId is rounded', async () => {
    const [{ text = '' } = {}] = await consumed('notice-rounded-order-id')
    expect(text).toContain('"orderId":8985652356562370000,')
  })

  it('notice-not-sent: notices wait until the mistake is switched off', async () => {
    expect(await consumed('notice-not-sent')).toEqual([])
    expect((await partner.control('state')).notices).toMatchObject([{ acknowledged: false }])
    await partner.control('mistakes', { mistakes: [] })
    await vi.waitFor(() => expect(received).toHaveLength(1), LONG)
  })

  it('notice-sent-twice: each notice is sent twice', async () => {
    expect(await consumed('notice-sent-twice')).toHaveLength(2)
    expect(received[0]?.text).toBe(received[1]?.text)
  })
})
