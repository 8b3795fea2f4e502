import { describe, expect, it } from 'vitest'
import { levelPriceCalendar, priceCalendar, productPull, readAnswer } from '../../src/ticketing/interfaces/index.ts'
import { orderPay } from '../../src/ticketing/interfaces/order.ts'
import { PRODUCT } from './product-example.ts'

const day = (date: string, fields: object = {}) => ({
  ...{ partnerDealId: 'd-1', date, marketPrice: '120.00', mtPrice: 99.5, settlementPrice: 80n, stock: 10 },
  ...fields,
})
const DAYS = ['2026-06-01', '2026-06-02', '2026-06-03', '2026-06-04'].map((date) => day(date))
const calendar = (...more: Record<string, unknown>[]) => priceCalendar.implausible?.([...DAYS, ...more])
const products = (...fields: object[]) => productPull.implausible?.(fields.map((one) => ({ ...PRODUCT, ...one })))
const problemsOf = (body: object[]) => readAnswer(priceCalendar, { code: 200, body })

/** What JSON can hold and String() throws about. */
const NO_TEXT = { toString: 1, valueOf: 1 }

it('objects where texts or numbers belong are no reason to fail', () => {
  expect(products({ unavailableDates: [NO_TEXT], minBuyCount: NO_TEXT, scheduleOnlineTime: NO_TEXT })).toEqual([])
  expect(calendar(day('2026-06-05', { partnerPrimaryKey: NO_TEXT }))).toEqual([])
  const codes = { vouchers: [{ voucher: NO_TEXT, status: NO_TEXT }] }
  expect(orderPay.contradicted?.({ code: 501, describe: 'no', body: codes }, 501)).toBeUndefined()
})

describe('a price calendar', () => {
  it('without mistakes has no implausible values, closed days and seasons included', () => {
    const closed = { marketPrice: 0, mtPrice: 0, settlementPrice: 0, stock: 0 }
    const season = { marketPrice: 1_200, mtPrice: 995, settlementPrice: 800 }
    expect(calendar(day('2026-06-05', closed), day('2026-06-06', season))).toEqual([])
    expect(calendar(day('2026-06-05', { mtPrice: 0, stock: 0 }))).toEqual([])
  })

  it('is implausible if the seller gets more than the buyer pays', () => {
    const problem = 'is 100, above the sale price (mtPrice) of 99.5; 2 more entries like this'
    const above = ['2026-06-05', '2026-06-06', '2026-06-07'].map((date) => day(date, { settlementPrice: 100 }))
    expect(calendar(...above)).toEqual([{ index: 4, path: 'settlementPrice', problem }])
    expect(calendar(day('2026-06-05', { mtPrice: 0 }))).toMatchObject([{ path: 'settlementPrice' }])
  })

  it.each([
    ['cents as yuan', { marketPrice: 12_000, mtPrice: 9_950, settlementPrice: 8_000 }],
    ['yuan as cents', { marketPrice: 1.2, mtPrice: 0.99, settlementPrice: 0.8 }],
  ])('is implausible on a day with %s', (_name, fields) => {
    const findings = calendar(day('2026-06-05', fields))?.map(
      ({ index, path, problem }) => `${index} ${path} ${problem}`,
    )
    expect(findings).toEqual([
      expect.stringMatching(/^4 marketPrice .*median/),
      expect.stringMatching(/^4 mtPrice .*is 99\.5\. Prices are in yuan/),
      expect.stringMatching(/^4 settlementPrice .*is 80\./),
    ])
  })

  it('of two days has no median', () => {
    expect(priceCalendar.implausible?.([day('2026-06-01'), day('2026-06-02', { marketPrice: 12_000 })])).toEqual([])
  })

  it('is implausible if a day is repeated with another price or stock, but not with the same', () => {
    expect(calendar(day('2026-06-01'))).toEqual([])
    expect(calendar(day('2026-06-01', { mtPrice: '99.50' }))).toEqual([])
    const problem = 'occurs again with other prices or stock; the later entry counts'
    expect(calendar(day('2026-06-01', { mtPrice: 99 }))).toEqual([{ index: 4, path: 'date', problem }])
    expect(calendar(day('2026-06-02', { stock: 0 }))).toMatchObject([{ index: 4, path: 'date' }])
  })

  it('with sessions is implausible if a session of a day is repeated', () => {
    const session = (partnerPrimaryKey: string, mtPrice: number) => ({
      ...{ partnerPrimaryKey, priceDate: '2026-06-01', marketPrice: 120, mtPrice, settlementPrice: 80, stock: 1 },
    })
    const implausible = (...list: object[]) => levelPriceCalendar.implausible?.(list.map((one) => ({ ...one })))
    expect(implausible(session('A', 90), session('B', 95))).toEqual([])
    expect(implausible(session('A', 90), session('A', 95))).toMatchObject([{ index: 1, path: 'priceDate' }])
  })

  it.each(['marketPrice', 'mtPrice', 'settlementPrice'])('is refused with a negative %s', (field) => {
    expect(problemsOf([day('2026-06-01', { settlementPrice: 80, [field]: '-0.01' })])).toEqual({
      outcome: 'invalid',
      problems: [{ path: `body[0].${field}`, problem: 'must not be negative' }],
    })
  })

  it('is refused with a day that does not exist', () => {
    expect(problemsOf([day('2026-02-30', { settlementPrice: 80 })])).toMatchObject({
      problems: [{ path: 'body[0].date' }],
    })
  })
})

describe('a list of products', () => {
  it('without mistakes has no implausible values', () => {
    expect(products({}, { partnerDealId: 'D2', maxBuyCount: 0, minBuyCount: 5 })).toEqual([])
    expect(
      products({ scheduleOnlineTime: '2028-02-29 00:00:00', unavailableDates: ['2026-10-01', { day: 1 }] }),
    ).toEqual([])
  })

  it('is implausible if a product is in it twice', () => {
    const problem = 'occurs again in this list; the later entry counts'
    expect(products({}, { partnerDealId: 'D2' }, { title: 'again' })).toEqual([
      { index: 2, path: 'partnerDealId', problem },
    ])
  })

  it('is implausible if nobody could buy a product', () => {
    const problem = 'is 5, above the maxBuyCount of 4: nobody could buy the product'
    expect(products({}, { partnerDealId: 'D2', minBuyCount: '5', maxBuyCount: 4 })).toEqual([
      { index: 1, path: 'minBuyCount', problem },
    ])
  })

  it('is implausible if the seller gets more than the buyer pays', () => {
    expect(products({ useDateMode: 0, marketPrice: 20, mtPrice: 10, settlementPrice: '10.01' })).toMatchObject([
      { index: 0, path: 'settlementPrice' },
    ])
  })

  it('is implausible if it names days that do not exist', () => {
    const dates = {
      ...{
        scheduleOnlineTime: '2026-02-30 00:00:00',
        scheduleOfflineTime: '2026-13-01',
        voucherDateBegin: '2026-4-31',
      },
      ...{ voucherDateEnd: '2026-00-10', unavailableDates: ['2026-10-01', '2026-06-31'] },
    }
    const problem = (day: string) => `names a day that does not exist: ${day}`
    expect(products(dates)).toEqual([
      { index: 0, path: 'scheduleOnlineTime', problem: problem('2026-02-30') },
      { index: 0, path: 'scheduleOfflineTime', problem: problem('2026-13-01') },
      { index: 0, path: 'voucherDateBegin', problem: problem('2026-4-31') },
      { index: 0, path: 'voucherDateEnd', problem: problem('2026-00-10') },
      { index: 0, path: 'unavailableDates[1]', problem: problem('2026-06-31') },
    ])
  })

  it.each([
    ['milliseconds', '1830268799000'],
    ['ISO 8601 with a zone', '2027-12-31T23:59:59+08:00'],
    ['slashes', '2027/12/31'],
    ['words', '长期有效'],
  ])('is implausible if a date has another form: %s', (_name, date) => {
    const problem = `is ${date}, not a date (yyyy-MM-dd) or a time (yyyy-MM-dd HH:mm:ss)`
    expect(products({ scheduleOfflineTime: date, voucherDateEnd: date, unavailableDates: [date] })).toEqual([
      { index: 0, path: 'scheduleOfflineTime', problem },
      { index: 0, path: 'voucherDateEnd', problem },
    ])
  })

  it('may have dates with or without a time, or leave them empty', () => {
    expect(products({ scheduleOnlineTime: '', scheduleOfflineTime: '2027-12-31', voucherDateEnd: null })).toEqual([])
  })
})
