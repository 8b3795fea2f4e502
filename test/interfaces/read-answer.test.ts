import { describe, expect, it } from 'vitest'
import { parseLossless } from '../../src/platform/lib/json/lossless.ts'
import { heartbeat } from '../../src/ticketing/interfaces/account.ts'
import { orderCreate, orderPay, orderQuery, orderReschedule } from '../../src/ticketing/interfaces/order.ts'
import { poiPull } from '../../src/ticketing/interfaces/poi.ts'
import { levelPriceCalendar, priceCalendar } from '../../src/ticketing/interfaces/price.ts'
import { productPull } from '../../src/ticketing/interfaces/product.ts'
import { answerWarnings, readAnswer } from '../../src/ticketing/interfaces/read-answer.ts'
import { orderRefund } from '../../src/ticketing/interfaces/refund.ts'
import { PRODUCT } from './product-example.ts'

const ok = { code: 200, describe: 'success', partnerId: '7001' }

describe('an answer of a partner', () => {
  it('about a refund counts, whatever form its times have', () => {
    const body = { refundId: 'R', requestTime: 1_778_063_660_000, responseTime: '2026-05-06T18:34:20' }
    expect(readAnswer(orderRefund, { ...ok, body })).toMatchObject({
      outcome: 'success',
      answer: { body: { refundId: 'R' } },
    })
    expect(answerWarnings(orderRefund, { ...ok, body })).toMatchObject([
      { path: 'body.requestTime' },
      { path: 'body.responseTime' },
    ])
    expect(answerWarnings(orderRefund, { ...ok, body: { refundId: 'R', responseTime: '' } })).toEqual([])
  })

  it('is a success with its fields in body, and keeps ids exact', () => {
    const json = parseLossless(
      Buffer.from(
        '{"code":"200","describe":"success","body":{"orderId":8985652356562370000,"voucherType":"1","vouchers":["V1",2],"extra":1}}',
      ),
    )
    expect(readAnswer(orderPay, 'value' in json ? json.value : undefined)).toMatchObject({
      outcome: 'success',
      answer: { body: { orderId: 8985652356562370000n, voucherType: 1, vouchers: ['V1', '2'], extra: 1 } },
    })
  })

  it('is a success with its fields next to the code, as the contract says', () => {
    expect(readAnswer(orderCreate, { ...ok, partnerOrderId: 'P-1' })).toMatchObject({
      outcome: 'success',
      answer: { body: { partnerOrderId: 'P-1' } },
    })
    expect(readAnswer(orderCreate, { ...ok, body: null, partnerOrderId: 7 })).toMatchObject({
      answer: { body: { partnerOrderId: '7' } },
    })
  })

  it.each([
    [orderPay, 598, 'pending', 'issuing'],
    [orderRefund, 602, 'pending', 'under review'],
    [levelPriceCalendar, 999, 'pending', 'will follow'],
    [orderCreate, 420, 'failed', 'out of stock'],
    [orderCreate, 300, 'failed', 'error'],
    [orderCreate, 598, 'failed', 'unknown error'],
    [orderCreate, 498, 'failed', 'create error'],
    [orderPay, 420, 'failed', 'unknown error'],
    [orderPay, 597, 'failed', 'pay error'],
    [priceCalendar, 420, 'failed', 'unknown error'],
    [priceCalendar, 250, 'failed', 'price error'],
    [priceCalendar, 350, 'failed', 'query error'],
    [levelPriceCalendar, 499, 'failed', 'unknown error'],
    [orderQuery, 301, 'failed', 'no such order'],
    [orderRefund, 606, 'failed', 'not enough tickets, or refund refused'],
    [priceCalendar, 299, 'failed', 'other price error'],
    [orderPay, 0, 'failed', 'unknown error'],
    [heartbeat, 999, 'failed', 'unknown error'],
  ])('$name with code %d is %s: %s', (entry, code, outcome, meaning) => {
    expect(readAnswer(entry, { code, describe: 'why' })).toEqual({ outcome, code, meaning, describe: 'why' })
  })

  it.each([
    [orderCreate, undefined, [['', 'is required']]],
    [orderCreate, 'ok', [['', 'must be an object']]],
    [orderCreate, {}, [['code', 'is required']]],
    [orderCreate, ok, [['body.partnerOrderId', 'is required']]],
    [
      orderQuery,
      { ...ok, body: { orderStatus: 9, orderQuantity: 'two', usedQuantity: 1 } },
      [
        ['body.orderStatus', 'must be one of 2, 3, 4, 5, 6'],
        ['body.orderQuantity', 'must be a 32-bit integer, as a number or string'],
        ['body.refundedQuantity', 'is required'],
      ],
    ],
    [priceCalendar, { ...ok, body: {} }, [['body', 'must be an array']]],
    // Invalid fields and fields required because of others are reported together; describe is never a problem.
    [
      orderPay,
      { ...ok, describe: 7, body: { orderId: 'x', vouchers: 'V-1' } },
      [
        ['body.orderId', 'must be a 64-bit integer, as a number or string'],
        ['body.vouchers', 'must be an array'],
        ['body.voucherType', 'is required because asyReturnVoucher is not true'],
      ],
    ],
    [orderPay, { ...ok, body: 'none' }, [['body', 'must be an object']]],
    [productPull, { ...ok, body: [null] }, [['body[0]', 'must be an object']]],
    [orderPay, { ...ok, body: { voucherType: 9 } }, [['body.voucherType', 'must be one of 0, 1, 2']]],
    [
      productPull,
      {
        ...ok,
        body: [{ ...PRODUCT, useDateMode: 0, title: '', partlyRefund: 'no', stock: 'many', returnVoucher: false }],
      },
      [
        ['body[0].title', 'must not be empty'],
        ['body[0].partlyRefund', 'must be true or false'],
        ['body[0].stock', 'must be a 32-bit integer, as a number or string'],
        ...['marketPrice', 'mtPrice', 'settlementPrice', 'voucherDateBegin', 'voucherDateEnd', 'validWeekRule'].map(
          (field): [string, string] => [`body[0].${field}`, 'is required because useDateMode is 0'],
        ),
        ['body[0].voucherText', 'is required because returnVoucher is false'],
      ],
    ],
  ])('$name with invalid fields is reported problem by problem, each with its path', (entry, json, problems) => {
    expect(readAnswer(entry, json)).toEqual({
      outcome: 'invalid',
      problems: problems.map(([path, problem]) => ({ path, problem })),
    })
  })

  it('needs no describe, and no body if the interface has none', () => {
    expect(readAnswer(heartbeat, { code: 200 })).toMatchObject({ outcome: 'success' })
    expect(readAnswer(orderReschedule, { ...ok, body: { rescheduleNo: 'N', successCount: 0 } }).outcome).toBe('success')
    expect(readAnswer(poiPull, { ...ok, body: [{ partnerPoiId: 1, name: 'Zoo', city: '' }] }).outcome).toBe('success')
  })
})

describe('prices and stock', () => {
  const day = {
    partnerDealId: 'D',
    date: '2026-05-07',
    marketPrice: 100,
    mtPrice: '99.50',
    settlementPrice: '90.0',
    stock: 3,
  }
  const priced = (change: object) => readAnswer(priceCalendar, { ...ok, body: [{ ...day, ...change }] })

  it('may be numbers or strings', () => {
    expect(priced({})).toMatchObject({ answer: { body: [{ marketPrice: 100, mtPrice: 99.5, settlementPrice: 90 }] } })
  })

  it.each([-1, 999_999, 100_000_000, '999999'])('are unlimited for a stock of %s', (stock) => {
    expect(priced({ stock })).toMatchObject({ answer: { body: [{ stock: -1 }] } })
  })

  it.each([
    ['mtPrice', 1.234],
    ['mtPrice', '1,5'],
    ['mtPrice', ''],
    ['mtPrice', '1e2'],
    ['stock', -2],
    ['date', '2026-02-29'],
    ['date', '2026-5-7'],
  ])('are refused with %s %s', (field, value) => {
    expect(priced({ [field]: value })).toMatchObject({ problems: [{ path: `body[0].${field}` }] })
  })
})

describe('a product', () => {
  const pulled = (change: object) => readAnswer(productPull, { ...ok, totalSize: 1, body: [{ ...PRODUCT, ...change }] })

  it('with a price calendar needs no prices of its own', () => {
    expect(pulled({})).toMatchObject({ outcome: 'success', answer: { totalSize: 1, body: [{ partnerDealId: 'D1' }] } })
  })

  it.each([
    [{ useDateMode: 0 }, 7],
    [{ returnVoucher: false, voucherText: null }, 1],
    [{ voucherText: 'x'.repeat(21) }, 1],
    [{ minBuyCount: 0 }, 1],
    [{ refundType: 2 }, 1],
    [{ title: '' }, 1],
    [{ getVoucherRule: { voucherLoaders: ['x'] } }, 1],
    [{ phoneLimitCount: 'some' }, 1],
  ])('with %j has %d problems', (change, count) => {
    const result = pulled(change)
    expect(result.outcome === 'invalid' ? result.problems : []).toHaveLength(count)
  })

  it.each([
    [{ orderCancelTime: 30 }, 'orderCancelTime', undefined],
    [{ orderCancelTime: 'late' }, 'orderCancelTime', undefined],
    [{ subTitle: 7 }, 'subTitle', undefined],
    [{ getInAddresses: [''] }, 'getInAddresses', []],
    [{ getInAddresses: undefined }, 'getInAddresses', []],
    [{ getInAddresses: Array(101).fill('Gate') }, 'getInAddresses', Array(100).fill('Gate')],
    [{ servicePhones: '010-12345678' }, 'servicePhones', []],
    [{ dealImageInfos: [{ imageName: 'x' }, { imageUrl: 'u' }] }, 'dealImageInfos', [{ imageUrl: 'u' }]],
  ])('with %j is read leniently, with a warning', (change, field, kept) => {
    const result = pulled(change)
    expect(result).toMatchObject({ outcome: 'success' })
    const [read] = result.outcome === 'success' ? result.answer.body : []
    expect(read?.[field]).toEqual(kept)
    expect(answerWarnings(productPull, { body: [{ ...PRODUCT, ...change }] })).toEqual([
      { path: expect.stringMatching(`^body\\[0\\]\\.${field}`), problem: expect.anything() },
    ])
  })
})
