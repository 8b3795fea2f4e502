import { afterAll, describe, expect, it } from 'vitest'
import { parseInput } from '../../src/platform/lib/json/input.ts'
import { implausibleFindings } from '../../src/sandbox/checks/examine-content.ts'
import { pullPrices } from '../../src/ticketing/catalogue/pull-prices.ts'
import { pullProduct } from '../../src/ticketing/catalogue/pull-product.ts'
import { showProduct } from '../../src/ticketing/catalogue/show-product.ts'
import { priceRange } from '../../src/ticketing/catalogue/wire.ts'
import { BY_COMMAND, type CallRecord, existingPartner } from '../../src/ticketing/partner-calls/index.ts'
import { PRODUCT } from '../interfaces/product-example.ts'
import { callPartner } from '../partner-calls/calls.ts'
import { ok, worldWithSeller } from '../partner-calls/fake-seller.ts'

const { world, seller, close } = await worldWithSeller()
afterAll(close)

const CALENDAR = '/product/price/query'
const day = (date: string, yuan: number, fields: object = {}) => ({
  ...{ partnerDealId: 'd-1', date, marketPrice: yuan, mtPrice: yuan, settlementPrice: yuan, stock: 10 },
  ...fields,
})
const prices = () =>
  pullPrices(
    world.deps,
    parseInput(priceRange, { partner_id: 7001, partner_deal_id: 'd-1', from: '2026-06-01', to: '2026-06-30' }),
    { cause: BY_COMMAND },
  )
const pull = () => pullProduct(world.deps, { partner_id: 7001n, partner_deal_id: 'd-2' }, { cause: BY_COMMAND })
const show = (partner_deal_id: string) => showProduct(world.deps, { partner_id: 7001n, partner_deal_id })

/** The findings that a step of a test run gets about the answer to such a call. */
async function findings(name: 'price-calendar' | 'product-pull', body: object) {
  const calls: CallRecord[] = []
  const onCall = (call: CallRecord) => void calls.push(call)
  const deps = { ...world.deps, calls: { ...world.deps.calls, onCall } }
  await callPartner(deps, await existingPartner(deps, 7001n), name, body as never)
  return implausibleFindings(world.deps.db, calls[0] as CallRecord)
}
const week = () => findings('price-calendar', { partnerDealId: 'd-1', startTime: '2026-06-01', endTime: '2026-06-30' })

describe('values that look like mistakes', () => {
  it('in a calendar are stored, and the report warns of them', async () => {
    const entries = [day('2026-06-01', 100), day('2026-06-01', 99), day('2026-06-02', 100, { settlementPrice: 101 })]
    seller.on(CALENDAR, ok(entries))
    expect(await prices()).toMatchObject({
      pulled: 2,
      problems: [],
      warnings: [
        { entry: '2026-06-02', path: 'settlementPrice', problem: expect.stringContaining('above the sale price') },
        { entry: '2026-06-01', path: 'date', problem: expect.stringContaining('the later entry counts') },
      ],
    })
    expect((await show('d-1')).prices.map(({ mt_price }) => mt_price)).toEqual([99, 100])
  })

  it('include prices a hundred times the stored ones', async () => {
    const cents = ['2026-06-01', '2026-06-02', '2026-06-03'].map((date) => day(date, 10_000))
    seller.on(CALENDAR, ok(cents))
    const problem = expect.stringMatching(
      /^is 10000; the median of the stored prices .* is 99\. Prices are in yuan, not cents; 2 more/,
    )
    const like = {
      id: 'more-like-this',
      values: { count: '2', problem: { id: 'price-far', values: { given: '10000' } } },
    }
    expect(await week()).toMatchObject(
      ['marketPrice', 'mtPrice', 'settlementPrice'].map((field) => ({
        ...{ id: 'plausible', level: 'warning', passed: false, path: `body[0].${field}` },
        ...{ ...(field === 'mtPrice' ? { actual: like } : {}), doc: `price-calendar.answer.body.${field}` },
      })),
    )
    expect((await prices()).warnings).toContainEqual({ entry: '2026-06-01', path: 'mtPrice', problem })
    // By now the stored prices make these the usual ones.
    expect((await prices()).warnings).toEqual([])
  })

  it('do not include a negative price, whose day is left out', async () => {
    seller.on(CALENDAR, ok([day('2026-06-01', 100, { settlementPrice: -80 }), day('2026-06-02', 98)]))
    expect(await prices()).toMatchObject({
      pulled: 1,
      removed: 0,
      problems: [{ entry: '2026-06-01', path: 'settlementPrice', problem: 'must not be negative' }],
    })
    expect((await show('d-1')).prices.map(({ mt_price }) => mt_price)).toEqual([10_000, 98, 10_000])
    expect(await week()).toEqual([])
  })

  it('in a product are stored, and the report warns of them', async () => {
    const openDate = {
      ...{
        ...PRODUCT,
        partnerDealId: 'd-2',
        useDateMode: 0,
        stock: 5,
        voucherDateBegin: '2026-02-30',
        voucherDateEnd: '2026-12-31',
      },
      ...{ validWeekRule: { monday: true }, marketPrice: 120, mtPrice: 100, settlementPrice: 80 },
    }
    seller.on('/product/query', ok([openDate]))
    expect(await pull()).toMatchObject({
      pulled: ['d-2'],
      warnings: [{ entry: 'd-2', path: 'voucherDateBegin', problem: 'names a day that does not exist: 2026-02-30' }],
    })
    const changed = { ...openDate, voucherDateBegin: '2026-03-01', mtPrice: 10_000 }
    seller.on('/product/query', ok([changed, changed]))
    expect(await findings('product-pull', { method: 'multi', partnerDealIds: ['d-2'] })).toMatchObject([
      { path: 'body[1].partnerDealId' },
      { path: 'body[0].mtPrice', actual: { id: 'price-far', values: { given: '10000', expected: '100' } } },
      { path: 'body[1].mtPrice' },
    ])
    seller.on('/product/query', ok([{ ...changed, settlementPrice: -1 }]))
    expect(await pull()).toMatchObject({ pulled: [], problems: [{ path: 'settlementPrice' }] })
  })
})
