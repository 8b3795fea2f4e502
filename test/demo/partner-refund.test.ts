import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Answer, issuedOrder, ORDER_ID, openPartner, type TestPartner } from './partner.ts'

let partner: TestPartner
beforeEach(async () => {
  partner = await openPartner()
})
afterEach(() => partner.app.close())

const refund = (changes: object = {}): Promise<Answer> =>
  partner.call('/order/refund', {
    ...{ orderId: ORDER_ID, refundId: 'RF1', partnerOrderId: '', partnerDealId: '', voucherList: [] },
    ...{ refundQuantity: 1, unitPrice: 88, refundPrice: 88, refundFee: 0, refundTime: '2026-05-06 18:34:20' },
    ...changes,
  })
const query = async (): Promise<Answer> =>
  (await partner.call('/order/query', { orderId: ORDER_ID, partnerOrderId: '' })).body
const statuses = async (): Promise<number[]> => (await query()).voucherList.map(({ status }: Answer) => status)

describe('order refund', () => {
  it('is done once per refundId', async () => {
    await issuedOrder(partner, 'DEMO-BOAT')
    const first = await refund()
    expect(first).toMatchObject({ code: 200, describe: 'success' })
    expect(first.body).toMatchObject({
      ...{ orderId: ORDER_ID, refundId: 'RF1' },
      ...{ requestTime: '2026-05-06 18:34:23', responseTime: '2026-05-06 18:34:23' },
    })
    expect(await refund()).toEqual(first)
    expect((await query()).refundedQuantity).toBe(1)
    expect(await refund({ refundId: 'RF2' })).toMatchObject({ code: 200 })
    expect(await refund({ refundId: 'RF3' })).toMatchObject({ code: 601 })
    expect(await refund()).toEqual(first)
  })

  it('refunds the vouchers that are named', async () => {
    const { vouchers } = await issuedOrder(partner, 'DEMO-BOAT')
    expect(await refund({ voucherList: [vouchers[1]] })).toMatchObject({ code: 200 })
    expect(await statuses()).toEqual([0, 2])
    expect(await refund({ refundId: 'RF2', voucherList: [vouchers[1]] })).toMatchObject({ code: 606 })
    expect(await refund({ refundId: 'RF3', voucherList: ['x'] })).toMatchObject({ code: 606 })
  })

  it('refuses more than is unused with 606, a non-refundable product with 607, and an invalid request with 699', async () => {
    await issuedOrder(partner, 'DEMO-BOAT')
    await partner.control('consume', { orderId: ORDER_ID, quantity: 1 })
    expect(await refund({ refundQuantity: 2 })).toMatchObject({ code: 606 })
    const visitors = [{ name: '张三' }, { name: '李四' }]
    await issuedOrder(partner, 'DEMO-NIGHT', { orderId: 2, visitors })
    expect(await refund({ orderId: 2, refundId: 'RF2' })).toMatchObject({ code: 607 })
    expect(await refund({ orderId: 3, refundId: 'RF3' })).toMatchObject({ code: 699 })
    expect(await refund({ refundId: 'RF4', refundQuantity: -1 })).toMatchObject({ code: 699 })
  })

  it('gives stock and deposit back', async () => {
    await issuedOrder(partner, 'DEMO-BOAT')
    await partner.control('change-product', { partnerDealId: 'DEMO-BOAT', stock: 2 })
    const calendar = { partnerDealId: 'DEMO-BOAT', startTime: '2026-05-06', endTime: '2026-05-06' }
    expect((await partner.call('/product/price/query', calendar)).body[0].stock).toBe(0)
    await refund({ refundQuantity: 2 })
    expect((await partner.call('/product/price/query', calendar)).body[0].stock).toBe(2)
    expect((await partner.control('state')).deposit).toBe(100_000_000)
  })
})

describe('a refund under review', () => {
  beforeEach(() => issuedOrder(partner, 'DEMO-TOWER'))

  it('answers 602, and its tickets cannot be used meanwhile', async () => {
    const first = await refund({ refundQuantity: 2 })
    expect(first).toMatchObject({ code: 602, describe: 'under review' })
    expect(await refund({ refundQuantity: 2 })).toEqual(first)
    expect(await refund({ refundId: 'RF2' })).toMatchObject({ code: 606 })
    expect(await partner.control('consume', { orderId: ORDER_ID, quantity: 1 })).toMatchObject({ status: 400 })
    expect(await query()).toMatchObject({ refundedQuantity: 0 })
  })

  it('is decided once: approved, or refused so that the tickets are valid again', async () => {
    await refund()
    await refund({ refundId: 'RF2' })
    expect(await partner.control('decide-refund', { refundId: 'RF1', approve: true })).toMatchObject({ status: 200 })
    const refusal = { refundId: 'RF2', approve: false, reason: 'used a photo of it' }
    expect(await partner.control('decide-refund', refusal)).toMatchObject({ status: 200 })
    expect(await partner.control('decide-refund', refusal)).toMatchObject({ status: 400 })
    expect(await refund()).toMatchObject({ code: 200 })
    expect(await refund({ refundId: 'RF2' })).toMatchObject({ code: 606, describe: 'used a photo of it' })
    expect(await query()).toMatchObject({ refundedQuantity: 1 })
    expect(await partner.control('consume', { orderId: ORDER_ID, quantity: 1 })).toMatchObject({ status: 200 })
  })
})

describe('the refunded message', () => {
  const refunded = (changes: object = {}): Promise<Answer> =>
    partner.call('/order/refunded', {
      ...{ orderId: ORDER_ID, partnerOrderId: '', refundSerialNo: 'S1', refundPrice: 88, refundMessageType: 1 },
      ...{ reason: '客服退款', refundTime: '2026-05-06 18:34:20', count: 1, ...changes },
    })

  it('takes effect once per refundSerialNo', async () => {
    await issuedOrder(partner, 'DEMO-BOAT')
    for (const _ of [1, 2]) expect(await refunded()).toEqual({ code: 200, describe: 'success', partnerId: '7001' })
    expect(await query()).toMatchObject({ refundedQuantity: 1 })
    await refunded({ refundSerialNo: 'S2', refundPrice: -1 })
    expect(await query()).toMatchObject({ refundedQuantity: 2 })
  })

  it('decides a review that took too long', async () => {
    await issuedOrder(partner, 'DEMO-TOWER')
    await refund()
    await refunded({ refundSerialNo: 'RF1', refundMessageType: 3 })
    expect(await query()).toMatchObject({ refundedQuantity: 1 })
    expect(await refund()).toMatchObject({ code: 200 })
  })

  it('ends an order whose payment was never confirmed', async () => {
    await issuedOrder(partner, 'DEMO-TOWER')
    const order = { orderId: 2, partnerDealId: 'DEMO-OPEN', buyPrice: 39.99, unitPrice: 45, quantity: 1 }
    await partner.call('/order/create', order)
    await refunded({ orderId: 2, refundMessageType: 2, refundPrice: -1 })
    expect(await partner.call('/order/pay', { orderId: 2, partnerOrderId: '' })).toMatchObject({ code: 599 })
    expect(await refunded({ orderId: 3 })).toMatchObject({ code: 300 })
  })
})

describe('whatever happens to an order', () => {
  const step = fc.oneof(
    fc.record({
      path: fc.constant('refund'),
      refundId: fc.constantFrom('A', 'B', 'C'),
      quantity: fc.integer({ min: 1, max: 3 }),
    }),
    fc.record({ path: fc.constant('decide'), refundId: fc.constantFrom('A', 'B', 'C'), approve: fc.boolean() }),
    fc.record({ path: fc.constant('consume'), quantity: fc.integer({ min: 1, max: 2 }) }),
  )

  it('no ticket is both used and refunded, and quantities never fall', async () => {
    let orderId = 100
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('DEMO-BOAT', 'DEMO-TOWER'),
        fc.array(step, { maxLength: 12 }),
        async (id, steps) => {
          orderId += 1
          await issuedOrder(partner, id, { orderId, quantity: 3 })
          let before = { used: 0, refunded: 0 }
          for (const action of steps) {
            if (action.path === 'consume') await partner.control('consume', { ...action, orderId })
            else if ('approve' in action)
              await partner.control('decide-refund', { ...action, refundId: `${orderId}${action.refundId}` })
            else if ('refundId' in action)
              await refund({ orderId, refundId: `${orderId}${action.refundId}`, refundQuantity: action.quantity })
            const { body } = await partner.call('/order/query', { orderId, partnerOrderId: '' })
            const now = { used: body.usedQuantity, refunded: body.refundedQuantity }
            expect(now.used).toBeGreaterThanOrEqual(before.used)
            expect(now.refunded).toBeGreaterThanOrEqual(before.refunded)
            expect(now.used + now.refunded).toBeLessThanOrEqual(3)
            before = now
          }
          const { refunds, orders } = await partner.control('state')
          const done = refunds.filter((one: Answer) => one.orderId === orderId && one.state === 'refunded')
          const order = orders.find((one: Answer) => one.orderId === orderId)
          expect(done.reduce((sum: number, one: Answer) => sum + one.quantity, 0)).toBe(order.refundedQuantity)
        },
      ),
      { numRuns: 40 },
    )
  })
})
