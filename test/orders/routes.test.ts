import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createOperator } from '../../src/operations/operators/index.ts'
import { parseLossless, stringifyLossless } from '../../src/platform/lib/json/lossless.ts'
import { maskedStory, type OrderStory } from '../../src/ticketing/orders/show-order.ts'
import { rotatePartnerSecret } from '../../src/ticketing/partners/secret.ts'
import { ADMIN_TOKEN, openWorld, type World } from '../harness.ts'
import { PRODUCT } from '../interfaces/product-example.ts'
import { type FakeSeller, fakeSeller, ok, refusal, reset } from '../partner-calls/fake-seller.ts'
import { stands } from './desk.ts'

let world: World
let seller: FakeSeller
beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  seller = await fakeSeller(world, 7001, { fields: { stage: 'sandbox' } })
})
afterAll(async () => {
  await seller.close()
  await world.close()
})

async function call(method: 'GET' | 'POST', path: string, body?: object, token = ADMIN_TOKEN) {
  const headers = { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) }
  const payload = body ? { payload: stringifyLossless(body) } : {}
  const response = await world.app.inject({ method, url: `/admin/v1${path}`, headers, ...payload })
  const parsed = parseLossless(response.rawPayload)
  return { status: response.statusCode, text: response.body, ...(('value' in parsed ? parsed.value : {}) as object) }
}

const ORDER = 8_985_652_356_562_370_000n
const MINIMAL = {
  partner_id: 7001,
  partner_deal_id: 'd',
  quantity: 2,
  mt_deal_id: 1,
  unit_price: '10.50',
  buy_price: 9,
}

describe('/admin/v1/orders', () => {
  it('takes an order from creation to refund, with its 64-bit id exact throughout', async () => {
    const path = `/orders/${ORDER}`
    const created = await call('POST', '/orders', { ...MINIMAL, order_id: ORDER })
    expect(created).toMatchObject({
      status: 200,
      rescode: 0,
      data: { order: { order_id: ORDER, state: 'created' }, failure: null },
    })
    expect(created.text).toContain('"order_id":8985652356562370000,')
    expect(await call('POST', `${path}/pay`)).toMatchObject({ data: { order: { state: 'paid', total_price: 21 } } })
    seller.on('/order/query', stands(ORDER, 4, { usedQuantity: 1 }))
    expect(await call('POST', `${path}/query`)).toMatchObject({ data: { order: { used_quantity: 1 } } })
    seller.on('/order/refund', refusal(602))
    const refund = { refund_id: 'r-1', quantity: 1 }
    expect(await call('POST', `${path}/refund`, refund)).toMatchObject({ data: { refund: { state: 'reviewing' } } })
    const refunded = { refund_id: 'r-1', type: 3, reason: 'too long' }
    expect(await call('POST', `${path}/refunded`, refunded)).toMatchObject({ data: { order: { state: 'consumed' } } })
    const story = await call('GET', path)
    expect(story).toMatchObject({
      data: {
        order: { order_id: ORDER, refunds: [{ refund_id: 'r-1', state: 'refunded', order_id: ORDER }] },
        calls: ['order-create', 'order-pay', 'order-query', 'order-refund', 'order-refunded'].map((name) => ({
          interface: name,
        })),
      },
    })
    expect(await call('GET', '/orders?partner_id=7001&state=consumed')).toMatchObject({
      data: { orders: [{ order_id: ORDER, sandbox: true }] },
    })
    expect(await call('GET', '/orders?sandbox=true')).toMatchObject({ data: { orders: [{ order_id: ORDER }] } })
    expect(await call('GET', '/orders?sandbox=false')).toMatchObject({ data: { orders: [] } })
    expect(await call('GET', '/orders?sandbox=1')).toMatchObject({
      data: { message: 'Invalid request: sandbox must be true or false' },
    })
    expect(await call('GET', '/orders?partner_id=7002')).toMatchObject({ data: { orders: [] } })
    expect(await call('POST', `${path}/close`)).toMatchObject({
      status: 400,
      rescode: 20007,
      data: { message: expect.stringMatching(/^Invalid request: order \d+ is consumed .* cannot become closing$/) },
    })
  })

  it('answers a failed partner call with the current order and the failure', async () => {
    seller.on('/order/create', reset)
    expect(await call('POST', '/orders', { ...MINIMAL, order_id: 5 })).toMatchObject({
      rescode: 0,
      data: { order: { order_id: 5, state: 'create_unknown' }, failure: { kind: 'broken', maybe_received: true } },
    })
  })

  it.each([
    ['POST', '/orders', {}, 400, /partner_id .*; partner_deal_id is required/],
    [
      'POST',
      '/orders',
      { ...MINIMAL, quantity: 0, visitors: [{ gender: 3 }] },
      400,
      /quantity must be at least 1; visitors\[0\]\.gender/,
    ],
    ['POST', '/orders/7/refund', { quantity: -1 }, 400, /quantity must be at least 1/],
    ['GET', '/orders/7', undefined, 404, /order 7 does not exist/],
    ['POST', '/orders/7/pay', undefined, 404, /order 7 does not exist/],
    ['GET', '/orders/7a', undefined, 400, /order_id must be a 64-bit integer/],
    ['GET', '/orders/9223372036854775808', undefined, 400, /order_id must be a 64-bit integer/],
    ['GET', '/orders?state=lost', undefined, 400, /state must be creating or/],
    ['GET', '/partners/7001/products/none', undefined, 404, /product none does not exist/],
    ['POST', '/jobs/9/retry', undefined, 404, /job 9 does not exist/],
    ['POST', '/jobs/x/retry', undefined, 400, /job_id must be the id of a job/],
  ] as const)('%s %s %j is refused', async (method, path, body, status, message) => {
    expect(await call(method, path, body)).toMatchObject({
      status,
      rescode: 20007,
      data: { message: expect.stringMatching(message) },
    })
  })

  it.each(['/orders', '/partners/1/products', '/jobs'])('%s is for operators only', async (path) => {
    expect((await world.app.inject({ url: `/admin/v1${path}` })).statusCode).toBe(401)
  })
})

describe('/admin/v1/partners/:partner_id/products', () => {
  it('pulls, lists and shows', async () => {
    const path = '/partners/7001/products'
    seller.on('/product/query', ok([{ ...PRODUCT, partnerDealId: 'd/1', big: ORDER }] as object, { totalSize: 1 }))
    expect(await call('POST', `${path}/pull`)).toMatchObject({ data: { pulled: ['d/1'], failure: null } })
    expect(await call('POST', `${path}/d%2F1/pull`)).toMatchObject({ data: { pulled: ['d/1'] } })
    expect(await call('GET', path)).toMatchObject({
      data: { products: [{ partner_deal_id: 'd/1', title: PRODUCT.title }] },
    })
    const prices = { marketPrice: 1, mtPrice: 1, settlementPrice: 1, stock: 1 }
    seller.on('/product/price/query', ok([{ ...prices, partnerDealId: 'd/1', date: '2026-05-07' }] as object))
    expect(await call('POST', `${path}/d%2F1/pull-prices`, { to: '2026-05-08' })).toMatchObject({ data: { pulled: 1 } })
    expect(await call('GET', `${path}/d%2F1`)).toMatchObject({
      data: { product: { details: { big: ORDER } }, prices: [{ price_date: '2026-05-07' }] },
    })
  })
})

describe('/admin/v1/jobs', () => {
  it('lists waiting jobs', async () => {
    expect(await call('GET', '/jobs')).toMatchObject({
      data: { jobs: [{ task: 'query-order', key: 'query-order:5', state: 'waiting' }] },
    })
    expect(await call('GET', '/jobs?failed=true')).toMatchObject({ data: { jobs: [] } })
  })
})

describe('switching to a new secret', () => {
  it('is tested first with a heartbeat signed with it', async () => {
    const { client_secret } = await rotatePartnerSecret(world.deps, 7001n, { overlap_s: 60 })
    const path = '/partners/7001/switch-signing'
    seller.calls.length = 0
    seller.on(
      '/alive',
      refusal(300, `BA verification failed for ${client_secret} ${'x'.repeat(60)}${client_secret}`),
      ok({}),
    )
    const refused = await call('POST', path)
    expect(refused).toMatchObject({
      status: 400,
      data: { message: expect.stringContaining('the test call with the new secret failed') },
    })
    expect(seller.calls).toMatchObject([{ path: '/alive', signedRight: false }])
    const { rows } = await world.pool.query("select * from partner_call where interface = 'heartbeat'")
    expect(JSON.stringify(rows)).not.toContain(client_secret)
    expect(refused.text).not.toContain(client_secret.slice(0, 8))
    expect(refused.text).toContain('BA verification failed for [secret]')
    expect(await call('POST', path)).toMatchObject({ status: 200, rescode: 0 })
  })
})

describe('what a viewer sees of an order', () => {
  it('includes the counts of a code for several tickets in the history', () => {
    const change = { state: ['unused', 'used'], used_quantity: [0, 2], refunded_quantity: [0, 1] }
    const history = [{ record: 'voucher', record_id: 'CODE-1', change }]
    const story = { order: { vouchers: [], refunds: [] }, history, calls: [] } as unknown as OrderStory
    expect(maskedStory(story).history).toEqual([{ record: 'voucher', record_id: '***', change }])
  })

  const as = async (role: 'viewer' | 'support') =>
    (await createOperator(world.deps, { name: `order-${role}`, role, days: 1 })).token

  it('has states and quantities, but no codes, no personal data and no text of the partner', async () => {
    const order_id = 9_100_000_000_001n
    const path = `/orders/${order_id}`
    const secrets = ['CODE-1', 'pics.example', 'ERIKA', 'MUSTERMANN']
    seller.on('/order/create', ok({ partnerOrderId: 'P-9' }))
    await call('POST', '/orders', { ...MINIMAL, order_id })
    seller.on(
      '/order/pay',
      ok({
        ...{ orderId: order_id, voucherType: 1, vouchers: ['CODE-1', 'CODE-2'] },
        voucherPics: ['https://pics.example/1.png', 'https://pics.example/2.png'],
        orderAdditionalList: [{ contactName: 'ERIKA' }],
        voucherAdditionalList: ['ERIKA'],
      }),
    )
    await call('POST', `${path}/pay`)
    seller.on('/order/refund', refusal(606, 'MUSTERMANN has used it'))
    await call('POST', `${path}/refund`, { refund_id: 'r-viewer', vouchers: ['CODE-1'] })
    seller.on('/order/query', refusal(302, 'ERIKA MUSTERMANN is unknown'))
    await call('POST', `${path}/query`)

    const whole = await call('GET', path, undefined, await as('support'))
    for (const secret of secrets) expect(whole.text).toContain(secret)
    const seen = await call('GET', path, undefined, await as('viewer'))
    for (const secret of secrets) expect(seen.text).not.toContain(secret)
    expect(seen).toMatchObject({
      data: {
        order: {
          ...{ order_id: Number(order_id), state: 'paid', quantity: 2, total_price: 21 },
          vouchers: [
            { voucher: '***', state: 'unused', quantity: 1, used_quantity: 0, refunded_quantity: 0, picture: '***' },
            { voucher: '***', state: 'unused', quantity: 1, used_quantity: 0, refunded_quantity: 0, picture: '***' },
          ],
          refunds: [{ refund_id: 'r-viewer', state: 'refused', decision_code: 606, reason: '***', vouchers: ['***'] }],
          order_additional: ['***'],
          voucher_additional: ['***'],
        },
        calls: expect.arrayContaining([
          expect.objectContaining({ interface: 'order-query', code: 302, failure_detail: '302 (look-up failed): ***' }),
        ]),
      },
    })
  })
})
