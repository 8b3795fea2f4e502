import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseInput } from '../../src/lib/input.ts'
import { pullCatalogue } from '../../src/ticketing/pull-catalogue.ts'
import { pullPrices } from '../../src/ticketing/pull-prices.ts'
import { pullProduct } from '../../src/ticketing/pull-product.ts'
import { listProducts, showProduct } from '../../src/ticketing/show-product.ts'
import { priceRange } from '../../src/ticketing/wire.ts'
import { openWorld, type World } from '../harness.ts'
import { type FakeSeller, fakeSeller, ok, refusal, reset, status } from './fake-seller.ts'
import { PRODUCT } from './interfaces/product-example.ts'

let world: World
let seller: FakeSeller
beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  seller = await fakeSeller(world)
})
afterAll(async () => {
  await seller.close()
  await world.close()
})
beforeEach(() => {
  seller.calls.length = 0
})

const entry = (partnerDealId: string, fields: object = {}) => ({ ...PRODUCT, partnerDealId, ...fields })
const pull = (partner_deal_id: string) => pullProduct(world.deps, { partner_id: 7001n, partner_deal_id })
const show = (partner_deal_id: string) => showProduct(world.deps, { partner_id: 7001n, partner_deal_id })

describe('pullProduct', () => {
  it('keeps the whole entry, ids exact, and what changed the next time', async () => {
    seller.on('/product/query', ok([entry('d-1', { title: '门票', theirId: 8_985_652_356_562_370_001n })] as object))
    expect(await pull('d-1')).toMatchObject({ pulled: ['d-1'], problems: [], failure: null })
    expect(seller.calls[0]?.body).toEqual({ method: 'multi', partnerDealIds: ['d-1'] })
    const { product } = await show('d-1')
    expect(product).toMatchObject({
      title: '门票',
      sale_state: 'unknown',
      mt_deal_id: 100001n,
      pulled_at: world.clock.now(),
    })
    expect(product.details.theirId).toBe(8_985_652_356_562_370_001n)
    await pull('d-1')
    seller.on('/product/query', ok([entry('d-1', { title: 'Ticket', theirId: 8_985_652_356_562_370_001n })] as object))
    await pull('d-1')
    expect((await show('d-1')).history.map(({ cause, change }) => [cause, change])).toEqual([
      ['call', { sale_state: [null, 'unknown'] }],
      ['call', { title: [null, '门票'] }],
      ['call', { title: ['门票', 'Ticket'] }],
    ])
  })

  it('reports an entry that does not fit, field by field, and one that is not there', async () => {
    seller.on('/product/query', ok([entry('d-2', { title: undefined, minBuyCount: 0 })] as object), ok([] as object))
    expect(await pull('d-2')).toEqual({
      pulled: [],
      problems: [
        { entry: 'd-2', path: 'title', problem: 'is required' },
        { entry: 'd-2', path: 'minBuyCount', problem: 'must be at least 1' },
      ],
      failure: null,
    })
    expect(await pull('d-2')).toMatchObject({ problems: [{ entry: 'd-2', problem: 'is not in the answer' }] })
    await expect(show('d-2')).rejects.toMatchObject({ describe: 'product d-2 does not exist' })
  })

  it.each([
    ['http-status', status(500)],
    ['partner-code', refusal(302)],
    ['schema', ok({})],
    ['broken', reset],
  ])('says how the call failed: %s', async (kind, answer) => {
    seller.on('/product/query', answer)
    expect(await pull('d-3')).toMatchObject({ pulled: [], failure: { kind } })
  })
})

describe('pullCatalogue', () => {
  const pages = (count: number) => ({
    all: Array.from({ length: count }, (_, n) => entry(`p-${String(n).padStart(3, '0')}`)),
    at(currentPage: number, size: number) {
      return this.all.slice((currentPage - 1) * size, currentPage * size)
    },
  })

  it('goes through all pages, tells its progress, and keeps what fits', async () => {
    const catalogue = pages(120)
    catalogue.all[60] = entry('p-060', { include: 7 })
    seller.on('/product/query', ({ currentPage, pageSize }) =>
      ok(catalogue.at(currentPage, pageSize) as object, { totalSize: 120 }),
    )
    const told: unknown[] = []
    const report = await pullCatalogue(world.deps, { partner_id: 7001n }, (...progress) => told.push(progress))
    expect(report).toMatchObject({ problems: [{ entry: 'p-060', path: 'include' }], failure: null })
    expect(report.pulled).toHaveLength(119)
    expect(told).toEqual([
      [50, 120],
      [100, 120],
      [120, 120],
    ])
    expect(seller.calls.map(({ body }) => body.currentPage)).toEqual([1, 2, 3])
    const stored = await listProducts(world.deps, { partner_id: 7001n })
    expect(stored.filter(({ partner_deal_id }) => partner_deal_id.startsWith('p-'))).toHaveLength(119)
  })

  it('goes on when the partner gives smaller pages than were asked for', async () => {
    const catalogue = pages(70)
    seller.on('/product/query', ({ currentPage }) => ok(catalogue.at(currentPage, 20) as object, { totalSize: 70 }))
    expect((await pullCatalogue(world.deps, { partner_id: 7001n })).pulled).toHaveLength(70)
  })

  it('ends with a partner that does not know pages', async () => {
    seller.on('/product/query', () => ok(pages(50).all as object))
    expect((await pullCatalogue(world.deps, { partner_id: 7001n })).pulled).toHaveLength(50)
    expect(seller.calls).toHaveLength(2)
    seller.on('/product/query', () => ok(Array.from({ length: 50 }, () => ({})) as object))
    expect((await pullCatalogue(world.deps, { partner_id: 7001n })).pulled).toEqual([])
    expect(seller.calls).toHaveLength(4)
  })

  it('tries a page three times, and keeps what it has got', async () => {
    const first = pages(50).all
    seller.on('/product/query', ok(first as object), reset, status(500), ok([entry('last')] as object))
    expect(await pullCatalogue(world.deps, { partner_id: 7001n })).toMatchObject({ failure: null })
    expect((await show('last')).product.title).toBe(PRODUCT.title)
    seller.on('/product/query', ok(first as object), status(500))
    const report = await pullCatalogue(world.deps, { partner_id: 7001n })
    expect(report).toMatchObject({ failure: { kind: 'http-status' } })
    expect(report.pulled).toHaveLength(50)
  })
})

describe('pullPrices', () => {
  const day = (date: string, fields: object = {}) => ({
    partnerDealId: 'd-9',
    date,
    marketPrice: '120.00',
    mtPrice: 99.5,
    settlementPrice: 80,
    stock: 10,
    ...fields,
  })
  const prices = (fields: object = {}) =>
    pullPrices(world.deps, parseInput(priceRange, { partner_id: 7001, partner_deal_id: 'd-9', ...fields }))
  const stored = async () =>
    (await show('d-9')).prices.map(({ price_date, partner_primary_key: key, mt_price, stock }) => [
      price_date,
      key,
      mt_price,
      stock,
    ])

  it('keeps a range of days; days that are gone go, days outside stay', async () => {
    seller.on(
      '/product/price/query',
      ok([day('2026-06-01'), day('2026-06-02', { stock: 999999 }), day('2026-06-03')] as object),
    )
    expect(await prices({ from: '2026-06-01', to: '2026-06-30' })).toEqual({
      from: '2026-06-01',
      to: '2026-06-30',
      pulled: 3,
      changed: 3,
      removed: 0,
      problems: [],
      will_follow: false,
      failure: null,
    })
    expect(seller.calls[0]?.body).toEqual({ partnerDealId: 'd-9', startTime: '2026-06-01', endTime: '2026-06-30' })
    seller.on('/product/price/query', ok([day('2026-06-02', { mtPrice: '98' })] as object))
    expect(await prices({ from: '2026-06-02', to: '2026-06-30' })).toMatchObject({ pulled: 1, changed: 1, removed: 1 })
    expect(await stored()).toEqual([
      ['2026-06-01', '', 99.5, 10],
      ['2026-06-02', '', 98, 10],
    ])
    expect((await show('d-9')).history.at(-1)?.change).toEqual({
      prices: [null, '2026-06-02 to 2026-06-30: 1 new or changed, 1 gone'],
    })
  })

  it('asks for today and 90 days if nothing is said', async () => {
    seller.on('/product/price/query', ok([] as object))
    await prices()
    expect(seller.calls[0]?.body).toEqual({ partnerDealId: 'd-9', startTime: '2026-05-06', endTime: '2026-08-04' })
  })

  it('reports what does not fit and keeps the rest, and takes nothing away then', async () => {
    seller.on('/product/price/query', ok([day('2026-06-01'), day('2026-06-05')] as object))
    await prices()
    const odd = [
      day('2026-06-01', { mtPrice: 97 }),
      day('2026-06-05', { mtPrice: '1.234' }),
      day('2027-01-01'),
      day('2026-06-07', { partnerDealId: 'x' }),
    ]
    seller.on('/product/price/query', ok(odd as object))
    expect(await prices()).toMatchObject({
      pulled: 1,
      removed: 0,
      problems: [
        { entry: '2026-06-05', path: 'mtPrice', problem: 'must be a price in yuan with at most two decimals' },
        { entry: '2027-01-01', path: 'date', problem: 'is not within 2026-05-06 and 2026-08-04' },
        { entry: '2026-06-07', path: 'partnerDealId', problem: 'is x; asked was d-9' },
      ],
    })
    expect(await stored()).toEqual([
      ['2026-06-01', '', 97, 10],
      ['2026-06-05', '', 99.5, 10],
    ])
  })

  it('knows level price calendars, and asks for one again once a product has it', async () => {
    const level = (partnerPrimaryKey: string) => {
      const { date: priceDate, partnerDealId: _, ...rest } = day('2026-06-01')
      return { ...rest, priceDate, partnerPrimaryKey, skuInfo: { startTime: '09:00', endTime: '12:00' } }
    }
    seller.on(
      '/product/level/price/calendar/v2',
      ok([level('am'), level('pm')] as object, { partnerDealId: 'd-9' }),
      refusal(999),
    )
    expect(await prices({ level: true, from: '2026-06-01', to: '2026-06-01' })).toMatchObject({ pulled: 2, changed: 2 })
    expect(await stored()).toEqual(
      expect.arrayContaining([
        ['2026-06-01', 'am', 99.5, 10],
        ['2026-06-01', 'pm', 99.5, 10],
      ]),
    )
    expect(await prices()).toMatchObject({ will_follow: true, failure: null, pulled: 0, removed: 0 })
    expect(seller.paths()).toEqual(['/product/level/price/calendar/v2', '/product/level/price/calendar/v2'])
  })

  it.each([[201], [299]])('says what the partner said: %i', async (code) => {
    seller.on('/product/price/query', refusal(code))
    expect(await prices({ level: false })).toMatchObject({ failure: { kind: 'partner-code', code } })
  })

  it('refuses a range that ends before it begins', () => {
    expect(() =>
      parseInput(priceRange, { partner_id: 1, partner_deal_id: 'd', from: '2026-06-02', to: '2026-06-01' }),
    ).toThrow('to ')
  })
})
