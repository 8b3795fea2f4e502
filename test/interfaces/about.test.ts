import { describe, expect, it } from 'vitest'
import { echoesOf } from '../../src/ticketing/interfaces/about.ts'

const ID = 8_985_652_356_562_370_001n
const requestWith = (body: object) => ({ partnerId: 7001, body })
const others = (request: object, answer: object, isSuccess = true) =>
  echoesOf(request, answer, isSuccess).flatMap(({ same, path, named }) => (same ? [] : [`${path} ${named}`]))

describe('the ids that an answer repeats', () => {
  it.each([
    ['the same', { orderId: ID }, { body: { orderId: ID } }, []],
    ['as text', { orderId: ID }, { body: { orderId: String(ID) } }, []],
    ['rounded', { orderId: ID }, { body: { orderId: BigInt(Number(ID)) } }, [`body.orderId ${BigInt(Number(ID))}`]],
    ['another', { orderId: 5 }, { body: { orderId: 6 } }, ['body.orderId 6']],
    ['beside the code', { orderId: 5 }, { code: 200, orderId: 6 }, ['body.orderId 6']],
    ['an empty one', { orderId: 5, refundId: 'A' }, { body: { orderId: null, refundId: '' } }, []],
    ['none', { orderId: 5 }, { body: {} }, []],
    ['one that the request left empty', { orderId: 5, partnerOrderId: '' }, { body: { partnerOrderId: 'P' } }, []],
    ['of a refund', { refundId: 'B' }, { body: { refundId: 'A' } }, ['body.refundId A']],
    ['in another case', { refundId: 'b' }, { body: { refundId: 'B' } }, ['body.refundId B']],
    ['a number for a string', { partnerOrderId: '12' }, { body: { partnerOrderId: 12 } }, []],
    ['of a reschedule', { rescheduleNo: 'R' }, { body: { rescheduleNo: 'S' } }, ['body.rescheduleNo S']],
  ])('are compared with those of the request: %s', (_what, request, answer, wrong) => {
    expect(others(requestWith(request), answer)).toEqual(wrong)
  })

  it('may be 0 in a failure, in which some programs send an empty record', () => {
    const answer = { code: 301, body: { orderId: 0 } }
    expect(others(requestWith({ orderId: 5 }), answer, false)).toEqual([])
    expect(others(requestWith({ orderId: 5 }), answer)).toEqual(['body.orderId 0'])
  })
})
