import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Answer, issuedOrder, ORDER_ID, openPartner, orderOf, type TestPartner } from './partner.ts'

let partner: TestPartner
beforeEach(async () => {
  partner = await openPartner()
})
afterEach(() => partner.app.close())

const create = (order: object): Promise<Answer> => partner.call('/order/create', order)
const query = (orderId = ORDER_ID): Promise<Answer> => partner.call('/order/query', { orderId, partnerOrderId: '' })
const close = (closeType: number, orderId = ORDER_ID): Promise<Answer> =>
  partner.call('/order/close', { orderId, closeType })
const pay = (): Promise<Answer> => partner.call('/order/pay', { orderId: ORDER_ID, partnerOrderId: '' })

const stockOf = async (partnerDealId: string, day = '2026-05-06'): Promise<number> => {
  const range = { partnerDealId, startTime: day, endTime: day }
  return (await partner.call('/product/price/query', range)).body[0].stock
}

describe('order create', () => {
  it('returns the same partnerOrderId for the same orderId, sent as a number or as text', async () => {
    const first = await create(orderOf('DEMO-BOAT'))
    expect(first).toMatchObject({ code: 200, describe: 'success' })
    expect(await create(orderOf('DEMO-BOAT'))).toEqual(first)
    expect(await create(orderOf('DEMO-BOAT', { orderId: String(ORDER_ID) }))).toEqual(first)
    expect(await stockOf('DEMO-BOAT')).toBe(998)
  })

  it('distinguishes orders whose ids differ only beyond 2^53', async () => {
    const ids = [ORDER_ID, ORDER_ID + 1n, ORDER_ID - 1n]
    const answers = await Promise.all(ids.map((orderId) => create(orderOf('DEMO-BOAT', { orderId }))))
    expect(new Set(answers.map((answer) => answer.body.partnerOrderId)).size).toBe(3)
    expect((await query()).body.orderId).toBe(ORDER_ID)
  })

  it.each<[string, number, object]>([
    ['another settlement price', 410, orderOf('DEMO-BOAT', { buyPrice: 75.01 })],
    ['another sale price', 410, orderOf('DEMO-BOAT', { unitPrice: '87.99' })],
    ['a day that is not on sale', 410, orderOf('DEMO-BOAT', { travelDate: '2026-05-05' })],
    ['a field missing', 410, orderOf('DEMO-BOAT', { quantity: undefined })],
    ['a quantity of 0', 410, orderOf('DEMO-BOAT', { quantity: 0 })],
    ['a sold-out product', 420, orderOf('DEMO-SOLD-OUT')],
    ['an unknown product', 421, orderOf('x')],
    ['too many tickets', 422, orderOf('DEMO-BOAT', { quantity: 11 })],
    ['no travel date', 422, orderOf('DEMO-BOAT', { travelDate: null })],
    ['too few visitors', 422, orderOf('DEMO-NIGHT', { visitors: [{ name: '张三' }] })],
  ])('refuses %s with %i', async (_name, code, order) => {
    const refused = await create(order)
    expect(refused).toMatchObject({ code, partnerId: '7001' })
    expect(refused.describe).not.toBe('success')
    expect((await query()).code).toBe(301)
  })

  it('accepts prices as text', async () => {
    expect(await create(orderOf('DEMO-OPEN', { buyPrice: '39.99', unitPrice: '45.00' }))).toMatchObject({ code: 200 })
  })

  it('refuses a paused product with 421, and repeats the answer for an order made before', async () => {
    const first = await create(orderOf('DEMO-BOAT'))
    await partner.control('change-product', { partnerDealId: 'DEMO-BOAT', onSale: false })
    expect(await create(orderOf('DEMO-BOAT', { orderId: 2 }))).toMatchObject({ code: 421 })
    expect(await create(orderOf('DEMO-BOAT'))).toEqual(first)
  })

  it('never sells more than the stock', async () => {
    await partner.control('change-product', { partnerDealId: 'DEMO-BOAT', stock: 5 })
    const orders = Array.from({ length: 4 }, (_, at) => create(orderOf('DEMO-BOAT', { orderId: at + 1 })))
    expect((await Promise.all(orders)).map(({ code }) => code)).toEqual([200, 200, 420, 420])
    expect(await stockOf('DEMO-BOAT')).toBe(1)
  })
})

describe('order pay', () => {
  it('issues one code per ticket at once, and returns the same codes when repeated', async () => {
    const issued = await issuedOrder(partner, 'DEMO-BOAT')
    expect(issued).toMatchObject({ orderId: ORDER_ID, voucherType: 1, realNameType: 0 })
    expect(new Set(issued.vouchers).size).toBe(2)
    expect((await pay()).body).toEqual(issued)
  })

  it('answers 598 until the tickets are issued, for a product that issues them later', async () => {
    await create(orderOf('DEMO-TOWER'))
    expect(await pay()).toMatchObject({ code: 598 })
    partner.clock.advance(2)
    expect(await pay()).toMatchObject({ code: 598 })
    expect((await query()).body).toMatchObject({ orderStatus: 5, voucherList: [] })
    partner.clock.advance(1)
    const { orderStatus, voucherType, voucherList } = (await query()).body
    expect({ orderStatus, voucherType }).toEqual({ orderStatus: 4, voucherType: 2 })
    expect(voucherList).toMatchObject([{ quantity: 2, status: 0, voucherInvalidTime: '2026-05-06 23:59:59' }])
    expect((await pay()).body.vouchers).toEqual([voucherList[0].voucher])
  })

  it('issues id-card credentials instead of vouchers for tickets with names', async () => {
    const visitors = ['110101199001011234', '110101199001015678'].map((number) => ({ credentials: { 0: number } }))
    expect(await issuedOrder(partner, 'DEMO-NIGHT', { visitors })).toMatchObject({
      voucherType: 0,
      vouchers: [],
      realNameType: 1,
      credentialList: [
        { credentialType: 0, credentialNo: '110101199001011234' },
        { credentialType: 0, credentialNo: '110101199001015678' },
      ],
    })
  })

  it('refuses an unknown or closed order with 599, and with 501 when the deposit is used up', async () => {
    expect(await pay()).toMatchObject({ code: 599 })
    await create(orderOf('DEMO-BOAT'))
    await partner.control('deposit', { cents: 14_999 })
    expect(await pay()).toMatchObject({ code: 501 })
    await partner.control('deposit', { cents: 15_000 })
    expect(await pay()).toMatchObject({ code: 200 })
    const [{ prepaidAccountBalance }] = (await partner.call('/balance/query', { partnerDealIds: ['DEMO-BOAT'] })).body
    expect(prepaidAccountBalance).toBe(0)
    await close(3)
    expect(await pay()).toMatchObject({ code: 599 })
  })
})

describe('order query', () => {
  it('returns the state and the quantities', async () => {
    expect(await query()).toMatchObject({ code: 301 })
    const { body } = await create(orderOf('DEMO-BOAT'))
    expect((await query()).body).toMatchObject({
      ...{ orderId: ORDER_ID, partnerOrderId: body.partnerOrderId, orderStatus: 2 },
      ...{ orderQuantity: 2, usedQuantity: 0, refundedQuantity: 0 },
    })
    await pay()
    await partner.control('consume', { orderId: ORDER_ID, quantity: 1 })
    const used = (await query()).body
    expect(used).toMatchObject({ orderStatus: 4, usedQuantity: 1 })
    expect(used.voucherList.map(({ status }: Answer) => status)).toEqual([1, 0])
  })
})

describe('order close', () => {
  it('answers 200 however often it is repeated, and gives the stock back', async () => {
    await create(orderOf('DEMO-BOAT'))
    expect(await close(1)).toEqual({ code: 200, describe: 'success', partnerId: '7001' })
    expect(await close(1)).toMatchObject({ code: 200 })
    expect(await stockOf('DEMO-BOAT')).toBe(1000)
    expect((await query()).body).toMatchObject({ orderStatus: 6 })
  })

  it('voids the vouchers', async () => {
    await issuedOrder(partner, 'DEMO-BOAT')
    await close(3)
    expect((await query()).body.voucherList).toMatchObject([{ status: 3 }, { status: 3 }])
    expect(await partner.control('consume', { orderId: ORDER_ID, quantity: 1 })).toMatchObject({ status: 400 })
  })

  it('of an order that has not arrived yet prevents its creation later', async () => {
    expect(await close(2)).toMatchObject({ code: 200 })
    expect(await create(orderOf('DEMO-BOAT'))).toMatchObject({ code: 499 })
  })

  it('is refused when a ticket has been used', async () => {
    await issuedOrder(partner, 'DEMO-BOAT')
    await partner.control('consume', { orderId: ORDER_ID, quantity: 1 })
    expect(await close(3)).toMatchObject({ code: 300 })
  })
})

describe('reschedule', () => {
  const move = (changes: object = {}): Promise<Answer> =>
    partner.call('/order/reschedule', {
      ...{ orderId: ORDER_ID, partnerOrderId: '', rescheduleType: 1, rescheduleNo: 'R1' },
      ...{ originDate: '2026-05-06', targetDate: '2026-05-08', ...changes },
    })

  it('moves the order once per rescheduleNo', async () => {
    await issuedOrder(partner, 'DEMO-BOAT')
    const moved = await move()
    expect(moved.body).toMatchObject({ orderId: ORDER_ID, rescheduleNo: 'R1', successCount: 2 })
    expect(await move()).toEqual(moved)
    expect([await stockOf('DEMO-BOAT'), await stockOf('DEMO-BOAT', '2026-05-08')]).toEqual([1000, 998])
  })

  it('by a week always works, because the price is the same on the same day of the week', async () => {
    const days = ['06', '07', '08', '09', '10', '11', '12']
    for (const [at, day] of days.entries()) {
      const weekend = day === '09' || day === '10' ? 20 : 0
      const orderId = ORDER_ID + BigInt(at)
      const originDate = `2026-05-${day}`
      const prices = { buyPrice: 75 + weekend, unitPrice: 88 + weekend }
      await issuedOrder(partner, 'DEMO-BOAT', { orderId, travelDate: originDate, ...prices })
      const targetDate = `2026-05-${Number(day) + 7}`
      expect(await move({ orderId, originDate, targetDate }), day).toMatchObject({
        code: 200,
        body: { successCount: 2 },
      })
    }
  })

  it('is refused for a wrong original day, another price, a day not on sale, or a used ticket', async () => {
    await issuedOrder(partner, 'DEMO-BOAT')
    expect(await move({ originDate: '2026-05-07' })).toMatchObject({ code: 300 })
    expect(await move({ targetDate: '2026-05-09' })).toMatchObject({ code: 300 })
    expect(await move({ targetDate: '2027-05-08' })).toMatchObject({ code: 300 })
    await partner.control('consume', { orderId: ORDER_ID, quantity: 1 })
    expect(await move()).toMatchObject({ code: 300 })
  })
})
