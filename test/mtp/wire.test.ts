import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { consumeNotice, dealChangeNotice, refundNotice } from '../../src/ticketing/mtp/wire.ts'
import { readNotice } from '../../src/ticketing/mws/index.ts'

const read = (notice: z.ZodType, text: string) => readNotice(notice, Buffer.from(text))
const body = (notice: z.ZodType, value: object) => read(notice, JSON.stringify({ partnerId: 7001, body: value }))

const consumed = {
  orderId: '8985652356562370000',
  partnerOrderId: 'P-1',
  quantity: 2,
  usedQuantity: 1,
  refundedQuantity: 0,
}

describe('a product change notice', () => {
  it('accepts a list of entries or a single one', () => {
    const entry = { partnerDealId: 'D1', status: '5' }
    const notice = { partnerId: '7001', body: [{ partnerDealId: 'D1', status: 5 }] }
    expect(body(dealChangeNotice, [entry])).toEqual({ notice })
    expect(body(dealChangeNotice, entry)).toEqual({ notice })
  })

  it.each([
    [[], 'body must have at least one entry'],
    [[{ status: 1 }], 'body[0].partnerDealId is required'],
    [{ partnerDealId: 'D', status: 'on' }, 'body[0].status must be one of 0, 1, 2, 5'],
    [[{ partnerDealId: 'D', status: 3 }], 'body[0].status must be one of 0, 1, 2, 5'],
    [[{ partnerDealId: '', status: 1 }], 'body[0].partnerDealId must not be empty'],
  ])('is refused as %j: %s', (value, problem) => {
    expect(body(dealChangeNotice, value)).toEqual({ problem })
  })
})

describe('a consumption notice', () => {
  it('keeps 64-bit ids exact, as number and as text', () => {
    const expected = { notice: { body: { ...consumed, orderId: 8985652356562370000n } } }
    const asNumber = `{"body":{"orderId":8985652356562370000,"partnerOrderId":"P-1","quantity":"2","usedQuantity":1,"refundedQuantity":0}}`
    expect(read(consumeNotice, asNumber)).toMatchObject(expected)
    expect(body(consumeNotice, consumed)).toMatchObject(expected)
  })

  it('treats null and empty text as missing, and keeps unknown fields', () => {
    const loose = { ...consumed, voucherList: null, useStartDate: '', useEndDate: null, remark: { any: 'thing' } }
    const result = body(consumeNotice, loose)
    expect(result).toMatchObject({ notice: { body: { remark: { any: 'thing' } } } })
    expect(JSON.stringify(result, (_name, part) => (typeof part === 'bigint' ? `${part}` : part))).not.toContain('null')
  })

  it('reads vouchers and credentials', () => {
    const voucher = { voucher: 123, voucherInvalidTime: '2026-12-31 23:59:59', quantity: 1, status: '1' }
    const credential = { credentialType: '0', credentialNo: '11010119900101001X', voucher: '123', status: 1 }
    expect(body(consumeNotice, { ...consumed, voucherList: [voucher], credentialList: [credential] })).toMatchObject({
      notice: {
        body: {
          voucherList: [{ voucher: '123', quantity: 1, status: 1 }],
          credentialList: [{ credentialType: 0, status: 1 }],
        },
      },
    })
  })

  it.each([[[]], [{}], [7], [[null]]])('accepts a voucher whose picture is %j, without the picture', (voucherPics) => {
    const voucher = { voucher: 'V', voucherPics, voucherInvalidTime: '2026-12-31 23:59:59', quantity: 1, status: 1 }
    const result = body(consumeNotice, { ...consumed, voucherList: [voucher] })
    expect(result).toMatchObject({ notice: { body: { voucherList: [{ voucher: 'V', status: 1 }] } } })
    expect(result).not.toHaveProperty('notice.body.voucherList.0.voucherPics', voucherPics)
  })

  it('is refused with a voucher of negative quantity', () => {
    const voucher = { voucher: 'V', voucherInvalidTime: '2026-12-31 23:59:59', quantity: -1, status: 1 }
    expect(body(consumeNotice, { ...consumed, voucherList: [voucher] })).toEqual({
      problem: 'body.voucherList[0].quantity must not be negative',
    })
  })

  it('accepts a long picture URL', () => {
    const voucherPics = `https://x/${'y'.repeat(300)}`
    const voucher = { voucher: 'V', voucherPics, voucherInvalidTime: '2026-12-31 23:59:59', quantity: 1, status: 1 }
    expect(body(consumeNotice, { ...consumed, voucherList: [voucher] })).toMatchObject({
      notice: { body: { voucherList: [{ voucherPics }] } },
    })
  })

  it('is accepted with a code or describe of another type', () => {
    const top = { partnerId: 7001, code: 'success', describe: 1, body: consumed }
    expect(read(consumeNotice, JSON.stringify(top))).toMatchObject({ notice: { body: { quantity: 2 }, describe: '1' } })
  })

  it.each([
    [{ orderId: undefined }, 'body.orderId is required'],
    [{ orderId: 1.5 }, 'body.orderId must be a 64-bit integer, as a number or string'],
    [{ orderId: '18446744073709551616' }, 'body.orderId must be a 64-bit integer, as a number or string'],
    [{ quantity: 'two' }, 'body.quantity must be a 32-bit integer, as a number or string'],
    [{ quantity: null }, 'body.quantity must be a 32-bit integer, as a number or string'],
    [{ useStartDate: '2026-02-30' }, 'body.useStartDate must be a date, yyyy-MM-dd'],
    [{ voucherList: {} }, 'body.voucherList must be an array'],
    [{ voucherList: [7] }, 'body.voucherList[0] must be an object'],
    [
      { voucherList: [{ voucher: 'V', voucherInvalidTime: '2026-12-31', quantity: 1, status: 4 }] },
      'body.voucherList[0].voucherInvalidTime must be a time, yyyy-MM-dd HH:mm:ss; body.voucherList[0].status must be one of 0, 1, 2, 3',
    ],
  ])('is refused with %j: %s', (change, problem) => {
    expect(body(consumeNotice, { ...consumed, ...change })).toEqual({ problem })
  })
})

describe('a list that was encoded twice', () => {
  it.each([
    ['body must be an array, not a string with JSON in it', JSON.stringify([{ partnerDealId: 'x'.repeat(1_001) }])],
    ['body must be an array', ''],
  ])('has no number of entries: %s', (problem, text) => {
    expect(read(dealChangeNotice, JSON.stringify({ body: text }))).toEqual({ problem })
  })
})

describe('a refund notice', () => {
  const decided = { code: 200, describe: '', body: { orderId: 1, refundId: 'R1', partnerOrderId: 'P-1' } }

  it('carries its decision as code', () => {
    expect(read(refundNotice, JSON.stringify(decided))).toMatchObject({ notice: { code: 200, body: { orderId: 1n } } })
  })

  it('needs code and describe', () => {
    expect(body(refundNotice, decided.body)).toEqual({ problem: 'code is required; describe is required' })
  })

  it.each([null, '', 1_767_225_600_000, '2026-01-01T00:00:00+08:00', {}])(
    'is not lost for a time that nothing reads: %j',
    (time) => {
      const timed = { ...decided, body: { ...decided.body, requestTime: time, responseTime: time } }
      expect(read(refundNotice, JSON.stringify(timed))).toMatchObject({ notice: { code: 200 } })
    },
  )
})

describe('an invalid notice', () => {
  it.each([
    ['', 'HTTP body: empty'],
    ['hello', /^HTTP body: not JSON: /],
    ['[]', 'the JSON value must be an object'],
    ['7', 'the JSON value must be an object'],
    ['{}', /^body /],
    ['{"body":"{}"}', 'body must be an object, not a string with JSON in it'],
    ['{"body":"none"}', 'body must be an object'],
    ['{"body":"{name}"}', 'body must be an object'],
    ['{"body":"[1, 2"}', 'body must be an object'],
    ['"{}"', 'the JSON value must be an object, not a string with JSON in it'],
    ['{"body":{},"body":{}}', 'HTTP body: JSON in which the name "body" appears twice in one object'],
    ['{"partnerId":"shop","body":{}}', /^partnerId must be digits, as a number or string; body\.orderId is required; /],
    ['['.repeat(10_000), 'HTTP body: nested deeper than 32 levels'],
  ])('is refused: %.30s', (text, problem) => {
    const result = read(consumeNotice, text)
    const outcome = 'problem' in result ? { problem: String(result.problem) } : result
    expect(outcome).toMatchObject({ problem: problem instanceof RegExp ? expect.stringMatching(problem) : problem })
  })
})
