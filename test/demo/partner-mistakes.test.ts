import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Answer, issuedOrder, ORDER_ID, openPartner, orderOf, type TestPartner } from './partner.ts'

let partner: TestPartner
beforeEach(async () => {
  partner = await openPartner()
})
afterEach(() => partner.app.close())

const make = (...mistakes: string[]): Promise<Answer> => partner.control('mistakes', { mistakes })
const create = (changes: object = {}): Promise<Answer> => partner.call('/order/create', orderOf('DEMO-BOAT', changes))

describe('mistakes', () => {
  it('are listed, and those that are switched on are exactly those of the last call', async () => {
    const { known } = await partner.control('mistakes')
    expect(Object.keys(known).length).toBeGreaterThan(15)
    await make('answer-http-500')
    await make('answer-slow')
    expect((await make()).mistakes).toEqual([])
    expect(await partner.call('/alive')).toMatchObject({ code: 200 })
  })

  it('of the signature overlook one thing and no other', async () => {
    const stale = { date: new Date(partner.clock.now().getTime() - 3_600_000).toUTCString() }
    const calls = { signature: { secret: 'x' }, date: stale, client: { clientId: 'x' } }
    const accepted = async () => {
      const answers = Object.entries(calls).map(async ([name, wrongly]) => {
        const { code } = await partner.call('/alive', undefined, wrongly)
        return code === 200 ? [name] : []
      })
      return (await Promise.all(answers)).flat()
    }
    expect(await accepted()).toEqual([])
    await make('wrong-signature-accepted')
    expect(await accepted()).toEqual(['signature'])
    await make('stale-date-accepted')
    expect(await accepted()).toEqual(['date'])
    await make('unknown-client-accepted')
    expect(await accepted()).toEqual(['client'])
  })

  it('order-create-not-idempotent', async () => {
    await make('order-create-not-idempotent')
    const [first, second] = [await create(), await create()]
    expect(first.body.partnerOrderId).not.toBe(second.body.partnerOrderId)
  })

  it('out-of-stock-sold', async () => {
    await make('out-of-stock-sold')
    expect(await partner.call('/order/create', orderOf('DEMO-SOLD-OUT'))).toMatchObject({ code: 200 })
  })

  it('pay-again-issues-again', async () => {
    await make('pay-again-issues-again')
    const pay = { orderId: ORDER_ID, partnerOrderId: '' }
    await create()
    const [first, second] = [await partner.call('/order/pay', pay), await partner.call('/order/pay', pay)]
    expect(first.body.vouchers).not.toEqual(second.body.vouchers)
  })

  it('refund-twice-refunds-twice', async () => {
    await issuedOrder(partner, 'DEMO-BOAT')
    await make('refund-twice-refunds-twice')
    const refund = { orderId: ORDER_ID, refundId: 'A', refundQuantity: 1 }
    for (const _ of [1, 2]) expect(await partner.call('/order/refund', refund)).toMatchObject({ code: 200 })
    const query = { orderId: ORDER_ID, partnerOrderId: '' }
    expect((await partner.call('/order/query', query)).body.refundedQuantity).toBe(2)
  })

  it('close-twice-fails', async () => {
    await create()
    await make('close-twice-fails')
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
  ])('%s', async (mistake, status, text) => {
    await make(mistake)
    const { statusCode, body } = await query()
    expect(statusCode).toBe(status)
    expect(body).toMatch(text)
  })

  it('answer-slow', async () => {
    await make('answer-slow')
    const pause = new Promise((done) => setTimeout(done, 300, 'nothing yet'))
    expect(await Promise.race([query(), pause])).toBe('nothing yet')
  })

  it('an interface without a body loses its code', async () => {
    await make('answer-missing-field')
    expect((await partner.send('/alive', '{}')).body).toBe('{"describe":"success","partnerId":"7001"}')
  })
})
