import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseLossless } from '../../src/platform/lib/json/lossless.ts'
import { createOrder } from '../../src/ticketing/orders/create-order.ts'
import { newOrder } from '../../src/ticketing/orders/wire.ts'
import { BY_COMMAND } from '../../src/ticketing/partner-calls/index.ts'
import { fuzzSettings, randomAt } from '../fuzz/random.ts'
import { openWorld, type World } from '../harness.ts'
import { desk, newId } from '../orders/desk.ts'
import { type FakeSeller, fakeSeller, ok, status } from '../partner-calls/fake-seller.ts'
import { textOf } from './pages/visitor.ts'
import { get, post, sellerSession } from './partners.ts'
import { attackingBody, type KnownOrder, SPELLINGS, touched } from './play-bodies.ts'

const REFUND = '/sandbox/play/order-refund'
const QUERY = '/sandbox/play/order-query'
const BODIES_OVER_HTTP = 300
const PER_MINUTE = 30

let world: World
let seller: FakeSeller
let stranger: FakeSeller
let cookie: string
let own: KnownOrder
let sold: KnownOrder
let foreign: KnownOrder

const knownOrder = (id: bigint): KnownOrder => ({
  order_id: id,
  partner_order_id: `P-${id}`,
  vouchers: [`${id}-1`, `${id}-2`],
})
/** A paid order of the playground. */
const paidTrial = async (): Promise<bigint> => {
  const order_id = newId()
  const priced = { mt_deal_id: 1n, unit_price: 100, buy_price: 80, quantity: 2 }
  const input = newOrder.parse({ partner_id: 7001, partner_deal_id: 'deal-1', order_id, ...priced })
  await createOrder(world.deps, input, BY_COMMAND, 'trial')
  await desk(world).pay(order_id)
  return order_id
}

beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  seller = await fakeSeller(world, 7001)
  stranger = await fakeSeller(world, 7002)
  cookie = await sellerSession(world, seller)
  own = knownOrder(await paidTrial())
  sold = knownOrder(await desk(world).paid())
  foreign = knownOrder(await desk(world).paid({ partner_id: 7002 }))
  seller.on('/order/query', ok({ orderStatus: 4, orderQuantity: 2, usedQuantity: 0, refundedQuantity: 0 }))
})
beforeEach(() => {
  world.clock.advance(61)
  seller.calls.length = 0
})
afterAll(async () => {
  await seller.close()
  await stranger.close()
  await world.close()
})

const send = (body: string, path = REFUND, fields: Record<string, string> = {}) =>
  post(world, path, { body, ...fields }, { cookie, 'accept-language': 'en' })

const act = (orderId: bigint, action: string, fields: Record<string, string> = {}) =>
  post(world, `/sandbox/play/orders/${orderId}/${action}`, fields, { cookie, 'accept-language': 'en' })

const refund = (orderId: string, partnerOrderId: string | null, more = '') =>
  `{"partnerId": 7001, "body": {"orderId": ${orderId}, "refundId": "${randomUUID()}", "partnerOrderId": "${partnerOrderId}",
    "partnerDealId": "deal-1", "refundQuantity": 1, "unitPrice": 10, "refundPrice": 10, "refundFee": 0,
    "refundTime": "2026-05-07 10:00:00"${more}}}`

describe('a live partner', () => {
  it('may send a body about an order of its own that nobody has bought', async () => {
    expect((await send(refund(String(own.order_id), own.partner_order_id))).statusCode).toBe(303)
    expect((await send(refund(`"${own.order_id}"`, ''))).statusCode).toBe(303)
    expect(seller.calls.map(({ body }) => body.orderId)).toEqual([own.order_id, own.order_id])
    expect(seller.calls.every(({ signedRight }) => signedRight)).toBe(true)
  })

  it.each(Object.keys(SPELLINGS))(
    'cannot send a body about a sold order whose id is written as %s',
    async (spelling) => {
      const id = SPELLINGS[spelling]?.(String(sold.order_id)) ?? ''
      for (const partnerOrderId of [sold.partner_order_id, own.partner_order_id, '']) {
        expect((await send(refund(id, partnerOrderId))).statusCode).toBeGreaterThanOrEqual(400)
      }
      expect(seller.calls).toEqual([])
    },
  )

  it.each([
    ['in another field', () => refund(String(own.order_id), own.partner_order_id, `, "OrderId": ${sold.order_id}`)],
    ['alone in another field', () => `{"body": {"OrderId": ${sold.order_id}}}`],
    ['beside the body', () => `{"orderId": ${sold.order_id}, ${refund(String(own.order_id), '').slice(1)}`],
    [
      'in a second body',
      () => refund(String(own.order_id), '').replace(/\}$/, `, "body": {"orderId": ${sold.order_id}}}`),
    ],
    ['by its partnerOrderId', () => refund(String(own.order_id), sold.partner_order_id)],
    ['by a partnerOrderId in another spelling', () => refund(String(own.order_id), ` ${own.partner_order_id}`)],
    ['by its voucher', () => refund(String(own.order_id), '', `, "voucherList": ["${sold.vouchers[0]}"]`)],
    [
      'by a voucher of a document',
      () => {
        const document = `{"credentialType": 0, "credentialNo": "1", "voucher": "${sold.vouchers[0]}"}`
        return refund(String(own.order_id), '', `, "credentialList": [${document}]`)
      },
    ],
    [
      'with an id of unknown format',
      () => refund(String(own.order_id), '').replace(/"refundId": "[^"]*"/, '"refundId": "R 1"'),
    ],
    ['of another partner', () => refund(String(foreign.order_id), foreign.partner_order_id)],
    ['that does not exist', () => refund('8985652356562370123', '')],
    ['not at all', () => '{"partnerId": 7001, "body": {}}'],
  ])('cannot send a body that names an order %s', async (_where, body) => {
    const answer = await send(body())
    expect(answer.statusCode).toBeGreaterThanOrEqual(400)
    expect(textOf(answer)).toContain('Nothing was sent')
    expect(seller.calls).toEqual([])
  })

  it.each(['signature', 'date', 'client'])(
    'cannot send a body about a sold order as a forged call either: %s',
    async (sign) => {
      expect((await send(refund(String(sold.order_id), ''), REFUND, { sign })).statusCode).toBe(409)
      expect(seller.calls).toEqual([])
    },
  )

  it('may query its own orders, sold or not, and unknown ones, but not those of others', async () => {
    const ask = ({ order_id, partner_order_id }: KnownOrder) =>
      send(`{"body": {"orderId": ${order_id}, "partnerOrderId": "${partner_order_id}"}}`, QUERY)
    expect((await ask(own)).statusCode).toBe(303)
    expect((await ask(sold)).statusCode).toBe(303)
    expect((await ask({ ...own, order_id: newId(), partner_order_id: '' })).statusCode).toBe(303)
    expect(seller.calls).toHaveLength(3)
    expect((await ask(foreign)).statusCode).toBe(409)
    expect((await ask({ ...own, order_id: newId(), partner_order_id: foreign.partner_order_id })).statusCode).toBe(409)
    expect((await ask({ ...own, partner_order_id: foreign.partner_order_id })).statusCode).toBe(400)
    const refundBody = refund(String(own.order_id), own.partner_order_id)
    for (const name of ['heartbeat', 'poi-pull', 'balance-query']) {
      expect((await send(refundBody, `/sandbox/play/${name}`)).statusCode).toBe(400)
    }
    expect(seller.calls).toHaveLength(3)
  })

  it('gets an example in each form that may be sent', async () => {
    for (const path of ['/poi/query', '/product/query', '/balance/query']) seller.on(path, status(404))
    const page = await get(world, '/sandbox/play', cookie)
    const paths = [...page.body.matchAll(/href="(\/sandbox\/play\/[a-z-]+)"/g)].map(([, path]) => String(path))
    expect(paths).toHaveLength(14)
    for (const path of paths) {
      const form = await get(world, `${path}?example=1`, cookie)
      const typed = (/<textarea[^>]*>\n?([\s\S]*?)<\/textarea>/.exec(form.body)?.[1] ?? '').replaceAll('&quot;', '"')
      const answer = await send(typed, path)
      expect(answer.statusCode, `${path}: ${textOf(answer)}`).toBe(303)
      world.clock.advance(61)
    }
  })

  it('stays restricted about what it has sold when it goes back to the sandbox', async () => {
    await world.pool.query("update partner set stage = 'sandbox' where partner_id = 7001")
    try {
      expect((await send(refund(`"+${sold.order_id}"`, sold.partner_order_id))).statusCode).toBe(400)
      expect(seller.calls).toEqual([])
    } finally {
      await world.pool.query("update partner set stage = 'live' where partner_id = 7001")
    }
  })

  it('cannot repeat a handwritten call about the order of another partner', async () => {
    await send(`{"body": {"orderId": ${own.order_id}, "partnerOrderId": ""}}`, QUERY)
    const { rows } = await world.pool.query(
      `update partner_call set request_body = $1, order_id = $2 where call_id =
        (select call_id from partner_call where interface = 'order-query' order by started_at desc, arrival desc limit 1)
       returning call_id`,
      [`{"partnerId":7001,"body":{"orderId":${foreign.order_id},"partnerOrderId":""}}`, String(foreign.order_id)],
    )
    seller.calls.length = 0
    const answer = await post(world, `/sandbox/traffic/call/${rows[0].call_id}/replay`, {}, { cookie })
    expect(answer.statusCode).toBe(404)
    expect(seller.calls).toEqual([])
  })

  it('can only query an order that a program could confuse with a sold one', async () => {
    const twin = newId()
    await desk(world).create(twin)
    const beside = twin + (twin % 2n === 0n ? 1n : -1n)
    expect(Number(beside)).toBe(Number(twin))
    const input = { partner_id: 7001, partner_deal_id: 'deal-1', order_id: beside, mt_deal_id: 1n, unit_price: 1 }
    await createOrder(world.deps, newOrder.parse({ ...input, buy_price: 1 }), BY_COMMAND, 'trial')
    seller.calls.length = 0
    expect((await send(refund(String(beside), ''))).statusCode).toBe(409)
    for (const action of ['pay', 'close']) {
      const answer = await act(beside, action)
      expect(answer.statusCode).toBe(409)
      expect(textOf(answer)).toContain('A visitor has bought this order')
    }
    expect(seller.calls).toEqual([])
    expect((await act(beside, 'query')).statusCode).toBe(303)
    expect(seller.paths()).toEqual(['/order/query'])
  })

  it('cannot refund an order by button while it shares its partnerOrderId with a sold one', async () => {
    const twin = await paidTrial()
    const name = (partnerOrderId: string | null) =>
      world.pool.query('update ticket_order set partner_order_id = $2 where order_id = $1', [
        String(twin),
        partnerOrderId,
      ])
    seller.calls.length = 0
    await name(sold.partner_order_id)
    expect((await act(twin, 'refund', { quantity: '1' })).statusCode).toBe(409)
    expect(seller.calls).toEqual([])
    await name(`P-${twin}`)
    expect((await act(twin, 'refund', { quantity: '1' })).statusCode).toBe(303)
    expect(seller.paths()).toEqual(['/order/refund'])
  })

  it(`reaches no sold order with any of ${BODIES_OVER_HTTP} random bodies, whichever program reads them`, async () => {
    const { seed } = fuzzSettings()
    for (let place = 0; place < BODIES_OVER_HTTP; place++) {
      if (place % PER_MINUTE === 0) world.clock.advance(61)
      const random = randomAt(seed, place)
      const written = attackingBody(random, own, random.pick([sold, foreign]))
      const before = seller.calls.length
      await send(written)
      for (const { text } of seller.calls.slice(before)) {
        const read = parseLossless(Buffer.from(text))
        expect('value' in read && touched(text, read.value, [sold, foreign]), written).toEqual([])
      }
    }
    expect(seller.calls.length).toBeGreaterThan(3)
    const { rows } = await world.pool.query('select state from ticket_order where order_id = $1', [
      String(sold.order_id),
    ])
    expect(rows).toEqual([{ state: 'paid' }])
  })
})
