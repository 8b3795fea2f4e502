import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { COMMAND_WAITS_S, PARTNER_LIMITS } from '../../src/platform/config/call-limits.ts'
import { parseInput } from '../../src/platform/lib/json/input.ts'
import { LocalizedText } from '../../src/platform/lib/localized-text.ts'
import { findOffer } from '../../src/ticketing/catalogue/product-store.ts'
import { pullCatalogue } from '../../src/ticketing/catalogue/pull-catalogue.ts'
import { pullPrices } from '../../src/ticketing/catalogue/pull-prices.ts'
import { pullProduct } from '../../src/ticketing/catalogue/pull-product.ts'
import { listProducts, productPage, showProduct } from '../../src/ticketing/catalogue/show-product.ts'
import { priceRange, productFilter } from '../../src/ticketing/catalogue/wire.ts'
import { BY_COMMAND } from '../../src/ticketing/partner-calls/index.ts'
import { PRODUCT } from '../interfaces/product-example.ts'
import { ok, refusal, reset, status, worldWithSeller } from '../partner-calls/fake-seller.ts'

const { world, seller, close } = await worldWithSeller()
afterAll(close)
beforeEach(() => {
  seller.calls.length = 0
})

/** What partner programs send along with a list when their database is down. */
const NO_SUCCESS: readonly object[] = [
  { code: 'FAIL', describe: 'database down' },
  { code: 500, describe: 'database down' },
  { code: null, describe: 'success' },
  { code: true },
  { describe: 'success' },
  { Code: 200 },
  { code: [200] },
]

/** Our own messages are not plain strings, so that a page can show them in its reader's language. */
const expectWordedInEachLanguage = ({ problems }: { readonly problems: readonly { readonly problem: unknown }[] }) =>
  expect(problems.map(({ problem }) => problem instanceof LocalizedText)).toEqual(problems.map(() => true))

const entry = (partnerDealId: string, fields: object = {}) => ({ ...PRODUCT, partnerDealId, ...fields })
const pull = (partner_deal_id: string) =>
  pullProduct(world.deps, { partner_id: 7001n, partner_deal_id }, { cause: BY_COMMAND })
const show = (partner_deal_id: string) => showProduct(world.deps, { partner_id: 7001n, partner_deal_id })

it('the audit log names the partner of a product that an operator pulls', async () => {
  const deps = { ...world.deps, actor: { kind: 'operator', name: 'lin' } as const }
  const product = { partner_id: 7001n, partner_deal_id: 'd-0' }
  await pullProduct(deps, product, { cause: BY_COMMAND })
  await pullPrices(deps, { ...parseInput(priceRange, product), ...product }, { cause: BY_COMMAND })
  const { rows } = await world.pool.query("select target from audit_event where event like '%_pull_asked'")
  expect(rows).toEqual([{ target: 'product:7001/d-0' }, { target: 'product:7001/d-0' }])
})

describe('pullProduct', () => {
  it('stores the whole entry with exact ids, and later changes in the history', async () => {
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

  it('forgets changes of a product that are older than 90 days', async () => {
    const titled = (title: string) => seller.on('/product/query', ok([entry('d-old', { title })] as object))
    titled('first')
    await pull('d-old')
    await world.pool.query("update record_change set at = at - interval '91 days' where record_id = 'd-old'")
    titled('second')
    await pull('d-old')
    expect((await show('d-old')).history.map(({ change }) => change)).toEqual([{ title: ['first', 'second'] }])
  })

  it('is listed by a part of its title', async () => {
    seller.on('/product/query', ok([entry('d-lake', { title: 'West Lake 50% off' })] as object))
    await pull('d-lake')
    const titled = async (title: string) =>
      (await productPage(world.deps, productFilter.parse({ partner_id: 7001, title }))).products.map(
        ({ partner_deal_id }) => partner_deal_id,
      )
    expect(await titled('lake 50%')).toEqual(['d-lake'])
    expect(await titled('lake_50')).toEqual([])
  })

  it('finds no price if that of the product is empty and its calendar has none', async () => {
    const offer = (partnerDealId: string) =>
      findOffer(world.deps.db, { partnerId: 7001n, partnerDealId, date: '2026-06-01', primaryKey: '' })
    for (const price of ['', null]) {
      const prices = { mtPrice: price, settlementPrice: price }
      seller.on('/product/query', ok([entry('d-empty', prices)] as object))
      expect(await pull('d-empty')).toMatchObject({ pulled: ['d-empty'], problems: [], failure: null })
      expect(await offer('d-empty')).toMatchObject({ unit_price: null, buy_price: null })
    }
    seller.on('/product/query', ok([entry('d-text', { mtPrice: '99.50', settlementPrice: 80 })] as object))
    await pull('d-text')
    expect(await offer('d-text')).toMatchObject({ unit_price: 99.5, buy_price: 80 })
  })

  it('reports an invalid entry field by field, and a missing entry', async () => {
    seller.on('/product/query', ok([entry('d-2', { title: undefined, minBuyCount: 0 })] as object), ok([] as object))
    expect(await pull('d-2')).toEqual({
      ...{ expected: 1, received: 1, refused: 1, pulled: [] },
      problems: [
        { entry: 'd-2', path: 'title', problem: 'is required' },
        { entry: 'd-2', path: 'minBuyCount', problem: 'must be at least 1' },
      ],
      warnings: [],
      failure: null,
    })
    const missing = await pull('d-2')
    expect(missing).toMatchObject({ problems: [{ entry: 'd-2', problem: 'is not in the response' }] })
    expectWordedInEachLanguage(missing)
    await expect(show('d-2')).rejects.toMatchObject({ describe: 'product d-2 does not exist' })
  })

  it.each([
    ['http-status', status(500)],
    ['partner-code', refusal(302)],
    ['schema', ok({})],
    ['broken', reset],
  ])('reports how the call failed: %s', async (kind, answer) => {
    seller.on('/product/query', answer)
    expect(await pull('d-3')).toMatchObject({ pulled: [], failure: { kind } })
  })
})

describe('a product field that is read leniently', () => {
  const soft = { orderCancelTime: 30, getInAddresses: ['', 'East gate', 7], servicePhones: null, subTitle: ['x'] }
  const warnings = [
    { path: 'subTitle', problem: 'must be a string' },
    { path: 'servicePhones', problem: 'must be an array' },
    { path: 'getInAddresses[0]', problem: 'must not be empty' },
    { path: 'getInAddresses[2]', problem: 'must be a string' },
    { path: 'orderCancelTime', problem: 'must be more than 30 and at most 120 minutes' },
  ]

  it('does not block the product: its usable part is stored, and the report warns', async () => {
    seller.on('/product/query', ok([entry('d-6', { ...soft, theirId: 8_985_652_356_562_370_001n })] as object))
    const report = await pull('d-6')
    expect(report).toMatchObject({ pulled: ['d-6'], problems: [], failure: null })
    expect(report.warnings).toEqual(expect.arrayContaining(warnings.map((warning) => ({ entry: 'd-6', ...warning }))))
    expect(report.warnings).toHaveLength(warnings.length)
    const { details } = (await show('d-6')).product
    expect(details).toMatchObject({
      getInAddresses: ['East gate'],
      servicePhones: [],
      theirId: 8_985_652_356_562_370_001n,
    })
    expect(details).not.toHaveProperty('orderCancelTime')
    expect(details).not.toHaveProperty('subTitle')
  })

  it('does not make up for an invalid price or validity', async () => {
    seller.on('/product/query', ok([entry('d-7', { ...soft, minBuyCount: 0 })] as object))
    expect(await pull('d-7')).toMatchObject({
      pulled: [],
      warnings: [],
      problems: [{ entry: 'd-7', path: 'minBuyCount' }],
    })
  })

  it('is reported in a pull of the whole catalogue', async () => {
    seller.on('/product/query', ok([entry('d-6', soft), entry('d-8')] as object, { totalSize: 2 }))
    const { pulled, warnings: reported } = await pullCatalogue(world.deps, { partner_id: 7001n }, BY_COMMAND)
    expect(pulled).toEqual(['d-6', 'd-8'])
    expect(reported).toHaveLength(5)
  })

  it('with too many pictures keeps the first five', async () => {
    const pictures = Array.from({ length: 7 }, (_, n) => ({ imageUrl: `https://x.example/${n}` }))
    seller.on('/product/query', ok([entry('d-9', { dealImageInfos: pictures })] as object))
    expect(await pull('d-9')).toMatchObject({ pulled: ['d-9'], warnings: [{ path: 'dealImageInfos' }] })
    expect((await show('d-9')).product.details.dealImageInfos).toHaveLength(5)
  })
})

describe('an answer that does not report success', () => {
  it.each(NO_SUCCESS)('stores no product: %j', async (said) => {
    seller.on('/product/query', { ...said, body: [entry('d-4')] })
    expect(await pull('d-4')).toMatchObject({ pulled: [], failure: expect.anything() })
    await expect(show('d-4')).rejects.toMatchObject({ describe: 'product d-4 does not exist' })
  })
})

describe('an answer of 200 without the list', () => {
  it('reports the message of the partner first', async () => {
    seller.on('/product/query', { code: 200, describe: 'BA验证错误' })
    expect((await pull('d-6')).failure).toMatchObject({
      kind: 'schema',
      detail: 'the partner says "BA验证错误"; body is required',
    })
    seller.on('/product/query', { code: 200, describe: 'success', body: null })
    expect((await pull('d-6')).failure).toMatchObject({ kind: 'schema', detail: 'body is required' })
  })
})

describe('pullCatalogue', () => {
  const pages = (count: number) => ({
    all: Array.from({ length: count }, (_, n) => entry(`p-${String(n).padStart(3, '0')}`)),
    at(currentPage: number, size: number) {
      return this.all.slice((currentPage - 1) * size, currentPage * size)
    },
  })

  it('goes through all pages, and stores the valid entries', async () => {
    const catalogue = pages(120)
    catalogue.all[60] = entry('p-060', { include: 7 })
    seller.on('/product/query', ({ currentPage, pageSize }) =>
      ok(catalogue.at(currentPage, pageSize) as object, { totalSize: 120 }),
    )
    const report = await pullCatalogue(world.deps, { partner_id: 7001n }, BY_COMMAND)
    expect(report).toMatchObject({ problems: [{ entry: 'p-060', path: 'include' }], failure: null })
    expect(report).toMatchObject({ expected: 120, received: 120, refused: 1 })
    expect(report.pulled).toHaveLength(119)
    expect(seller.calls.map(({ body }) => body.currentPage)).toEqual([1, 2, 3])
    const stored = await listProducts(world.deps, { partner_id: 7001n })
    expect(stored.filter(({ partner_deal_id }) => partner_deal_id.startsWith('p-'))).toHaveLength(119)
    await world.pool.query("update product set sale_state = 'off_sale' where partner_deal_id = 'p-100'")
    const filter = { partner_id: 7001n, sale_state: 'off_sale', limit: 10 } as const
    expect(await productPage(world.deps, filter)).toMatchObject({
      products: [{ partner_deal_id: 'p-100' }],
      next: null,
    })
  })

  it('knows the total even if a page has an invalid entry', async () => {
    const catalogue = pages(45)
    catalogue.all[3] = entry('p-003', { title: undefined })
    seller.on('/product/query', ({ currentPage }) => ok(catalogue.at(currentPage, 20) as object, { totalSize: 45 }))
    const report = await pullCatalogue(world.deps, { partner_id: 7001n }, BY_COMMAND)
    expect(report.pulled).toHaveLength(44)
    expect(report.problems).toEqual([{ entry: 'p-003', path: 'title', problem: 'is required' }])
  })

  it('keeps the valid entries of pages with an invalid total', async () => {
    seller.on('/product/query', () => ok([entry('d-5')] as object, { totalSize: 'n/a' }))
    expect(await pullCatalogue(world.deps, { partner_id: 7001n }, BY_COMMAND)).toMatchObject({
      pulled: ['d-5'],
      problems: [{ entry: 'the answer', path: 'totalSize' }],
      failure: null,
    })
  })

  it('goes on if the partner sends smaller pages than requested', async () => {
    const catalogue = pages(70)
    seller.on('/product/query', ({ currentPage }) => ok(catalogue.at(currentPage, 20) as object, { totalSize: 70 }))
    expect((await pullCatalogue(world.deps, { partner_id: 7001n }, BY_COMMAND)).pulled).toHaveLength(70)
  })

  it('goes on if the partner sends smaller pages and no total', async () => {
    const catalogue = pages(45)
    catalogue.all[3] = entry('p-003', { title: '' })
    seller.on('/product/query', ({ currentPage }) => ok(catalogue.at(currentPage, 20) as object))
    const report = await pullCatalogue(world.deps, { partner_id: 7001n }, BY_COMMAND)
    expect(report).toMatchObject({
      expected: null,
      received: 45,
      refused: 1,
      problems: [{ entry: 'p-003', path: 'title' }],
    })
    expect(report.pulled).toHaveLength(44)
  })

  it.each([
    [60, 'is 60; 45 different entries came'],
    [20, 'is 20; 40 different entries came'],
  ])('reports a total of %j that differs from the entries received', async (totalSize, problem) => {
    const catalogue = pages(totalSize === 60 ? 45 : 40)
    seller.on('/product/query', ({ currentPage }) => ok(catalogue.at(currentPage, 25) as object, { totalSize }))
    const { problems, pulled } = await pullCatalogue(world.deps, { partner_id: 7001n }, BY_COMMAND)
    expect(problems).toEqual([{ entry: 'the answer', path: 'totalSize', problem }])
    expect(pulled).toHaveLength(totalSize === 60 ? 45 : 40)
  })

  it('reports a total without any entry', async () => {
    seller.on('/product/query', ok([] as object, { totalSize: 3 }))
    expect(await pullCatalogue(world.deps, { partner_id: 7001n }, BY_COMMAND)).toMatchObject({
      expected: 3,
      problems: [{ entry: 'the answer', path: 'totalSize', problem: 'is 3; 0 different entries came' }],
    })
  })

  it('goes on after a page of products that are all invalid, whose ids are large numbers', async () => {
    const page = (currentPage: number) =>
      currentPage === 3
        ? entry('p-3')
        : { ...entry(''), partnerDealId: 8_985_652_356_562_370_000n + BigInt(currentPage), title: '' }
    seller.on('/product/query', ({ currentPage }) =>
      ok((currentPage > 3 ? [] : [page(currentPage)]) as object, { totalSize: 3 }),
    )
    const { pulled, problems } = await pullCatalogue(world.deps, { partner_id: 7001n }, BY_COMMAND)
    expect(pulled).toEqual(['p-3'])
    expect(problems).toMatchObject([
      { entry: '8985652356562370001', path: 'title' },
      { entry: '8985652356562370002', path: 'title' },
    ])
  })

  it('ends if the partner answers slowly and always has more', async () => {
    seller.on('/product/query', ({ currentPage }) => {
      world.clock.advance(60)
      return currentPage > 30 ? refusal(300, 'that is enough') : ok([entry(`p-${currentPage}`)] as object)
    })
    const report = await pullCatalogue(world.deps, { partner_id: 7001n }, BY_COMMAND)
    expect(report.failure).toBeNull()
    expect(report.pulled).toHaveLength(8)
    const problem = 'took over 480 s, so later pages may be missing; pull again once the partner answers faster'
    expect(report.problems).toEqual([{ entry: 'the answer', path: '', problem }])
  })

  it('ends before a waiting command gives up, even if each attempt takes as long as a call may', async () => {
    const began = world.clock.now().getTime()
    const passed = () => world.clock.now().getTime() - began
    let tries = 0
    seller.on('/product/query', ({ currentPage }) => {
      world.clock.advance(PARTNER_LIMITS.totalMs / 1_000)
      return passed() > 465_000 && tries++ < 2 ? reset : ok([entry(`p-${currentPage}`)] as object)
    })
    const { failure } = await pullCatalogue(world.deps, { partner_id: 7001n }, BY_COMMAND)
    expect(failure).toBeNull()
    expect(tries).toBe(3)
    expect(passed()).toBeLessThan(COMMAND_WAITS_S * 1_000)
  })

  it('ends if the partner ignores pages', async () => {
    seller.on('/product/query', () => ok(pages(50).all as object))
    expect((await pullCatalogue(world.deps, { partner_id: 7001n }, BY_COMMAND)).pulled).toHaveLength(50)
    expect(seller.calls).toHaveLength(2)
    seller.on('/product/query', () => ok(Array.from({ length: 50 }, () => ({})) as object))
    expect((await pullCatalogue(world.deps, { partner_id: 7001n }, BY_COMMAND)).pulled).toEqual([])
    expect(seller.calls).toHaveLength(4)
  })

  it('tries a page three times, and keeps the pages before it', async () => {
    const first = pages(50).all
    seller.on('/product/query', ok(first as object), reset, status(500), ok([entry('last')] as object))
    expect(await pullCatalogue(world.deps, { partner_id: 7001n }, BY_COMMAND)).toMatchObject({ failure: null })
    expect((await show('last')).product.title).toBe(PRODUCT.title)
    seller.on('/product/query', ok(first as object), status(500))
    const report = await pullCatalogue(world.deps, { partner_id: 7001n }, BY_COMMAND)
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
    pullPrices(world.deps, parseInput(priceRange, { partner_id: 7001, partner_deal_id: 'd-9', ...fields }), {
      cause: BY_COMMAND,
    })
  const stored = async () =>
    (await show('d-9')).prices.map(({ price_date, partner_primary_key: key, mt_price, stock }) => [
      price_date,
      key,
      mt_price,
      stock,
    ])

  it('stores a range of days: missing days are removed, days outside the range stay', async () => {
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
      warnings: [],
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
      prices: [null, '2026-06-02 to 2026-06-30: 1 new or changed, 1 removed'],
    })
  })

  it('forgets prices of more than thirty days ago', async () => {
    const days = async () =>
      (await world.pool.query("select price_date from product_price where partner_deal_id = 'd-9' order by 1")).rows
    seller.on('/product/price/query', ok(['2026-04-05', '2026-04-06', '2026-06-01'].map((at) => day(at)) as object))
    await prices({ from: '2026-04-05', to: '2026-06-30' })
    expect(await days()).toHaveLength(3)
    seller.on('/product/price/query', ok([day('2026-06-01')] as object))
    expect(await prices()).toMatchObject({ changed: 0, removed: 0 })
    expect(await days()).toEqual([{ price_date: '2026-04-06' }, { price_date: '2026-06-01' }])
  })

  it('forgets two changes of over ninety days ago with each new one, and none of orders', async () => {
    await world.pool.query('delete from record_change')
    await world.pool.query(
      `insert into record_change (at, partner_id, record, record_id, cause, change)
       select $1::timestamptz - age * interval '1 day', 7001, record, 'd-9', 'call', '{}'
       from unnest(array['product', 'order']) as record, unnest(array[92, 91, 91, 89]) with ordinality as a (age, n) order by n`,
      [world.clock.now()],
    )
    const left = async () =>
      (await world.pool.query('select record, count(*)::int from record_change group by 1 order by 1')).rows
    const change = async (mtPrice: string) => {
      seller.on('/product/price/query', ok([day('2026-06-01', { mtPrice })] as object))
      await prices()
      return left()
    }
    const orders = { record: 'order', count: 4 }
    expect(await change('97')).toEqual([orders, { record: 'product', count: 3 }])
    expect(await change('96')).toEqual([orders, { record: 'product', count: 3 }])
    expect(await change('95')).toEqual([orders, { record: 'product', count: 4 }])
  })

  it('requests today and the next 90 days by default', async () => {
    seller.on('/product/price/query', ok([] as object))
    await prices()
    expect(seller.calls[0]?.body).toEqual({ partnerDealId: 'd-9', startTime: '2026-05-06', endTime: '2026-08-04' })
  })

  it('reports invalid entries and stores the others, but then removes nothing', async () => {
    seller.on('/product/price/query', ok([day('2026-06-01'), day('2026-06-05')] as object))
    await prices()
    const odd = [
      day('2026-06-01', { mtPrice: 97 }),
      day('2026-06-05', { mtPrice: '1.234' }),
      day('2027-01-01'),
      day('2026-06-07', { partnerDealId: 'x' }),
    ]
    seller.on('/product/price/query', ok(odd as object))
    const report = await prices()
    expect(report).toMatchObject({
      pulled: 1,
      removed: 0,
      problems: [
        { entry: '2026-06-05', path: 'mtPrice', problem: 'must be a price in yuan with at most two decimals' },
        { entry: '2027-01-01', path: 'date', problem: 'is not between 2026-05-06 and 2026-08-04' },
        { entry: '2026-06-07', path: 'partnerDealId', problem: 'is x; the call was about d-9' },
      ],
    })
    expectWordedInEachLanguage({ problems: report.problems.slice(1) })
    expect(await stored()).toEqual([
      ['2026-06-01', '', 97, 10],
      ['2026-06-05', '', 99.5, 10],
    ])
  })

  it.each([...NO_SUCCESS, { code: 200, describe: 'success', body: {} }])(
    'changes nothing for an answer without success or without a list: %j',
    async (said) => {
      seller.on('/product/price/query', ok([day('2026-06-01'), day('2026-06-05')] as object))
      await prices()
      const before = await stored()
      for (const body of [[], [day('2026-06-05', { mtPrice: 1 })]]) {
        seller.on('/product/price/query', { body, ...said })
        expect(await prices()).toMatchObject({ pulled: 0, removed: 0, failure: expect.anything() })
      }
      expect(await stored()).toEqual(before)
    },
  )

  describe('for a calendar that has lost most of its entries', () => {
    const date = (n: number) => `2026-06-${String(n).padStart(2, '0')}`
    const days = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, n) => day(date(from + n))) as unknown as object
    const give = (calendar: object) => seller.on('/product/price/query', ok(calendar))
    const held = { removed: 0, problems: [{ entry: '2026-05-06 to 2026-08-04', path: 'body' }] }
    beforeEach(async () => {
      await world.pool.query('delete from product_price; delete from price_removal')
      give(days(1, 12))
      expect(await prices()).toMatchObject({ pulled: 12, problems: [] })
      world.clock.advance(1)
    })

    it('removes nothing until the partner sends the same again a minute later', async () => {
      give(days(1, 5))
      const report = await prices()
      expect(report).toMatchObject(held)
      expect(report.problems[0]?.problem).toEqual(
        'no longer has 7 of 12 stored entries; they are kept until a pull at least 60 seconds later lacks them again',
      )
      expectWordedInEachLanguage(report)
      world.clock.advance(59)
      expect(await prices()).toMatchObject(held)
      expect(await stored()).toHaveLength(12)
      expect((await show('d-9')).history.at(-1)?.change).toEqual({
        prices: [null, '2026-05-06 to 2026-08-04: 0 new or changed, most entries would be removed, so none are'],
      })
      world.clock.advance(1)
      expect(await prices()).toMatchObject({ removed: 7, problems: [] })
      expect(await stored()).toHaveLength(5)
    })

    it('waits anew if the partner sends something else meanwhile', async () => {
      give([])
      expect(await prices()).toMatchObject(held)
      give(days(1, 12))
      expect(await prices()).toMatchObject({ removed: 0, problems: [] })
      world.clock.advance(60)
      give([])
      expect(await prices()).toMatchObject(held)
    })

    it('waits anew for entries that the partner still had when it sent fewer', async () => {
      give(days(1, 3))
      expect(await prices()).toMatchObject(held)
      world.clock.advance(60)
      give(days(1, 1))
      expect(await prices()).toMatchObject(held)
      expect(await stored()).toHaveLength(12)
      world.clock.advance(60)
      give(days(1, 2))
      expect(await prices()).toMatchObject({ removed: 10, problems: [] })
    })

    it('waits anew for days that were not asked for', async () => {
      const range = { from: date(1), to: date(11) }
      give([])
      expect(await prices(range)).toMatchObject({ removed: 0, problems: [{ path: 'body' }] })
      world.clock.advance(60)
      expect(await prices()).toMatchObject(held)
      expect(await stored()).toHaveLength(12)
    })

    it('removes them on another day, although the days asked for and the partner’s window have moved', async () => {
      give(days(1, 20))
      await prices()
      world.clock.advance(1)
      give(days(1, 5))
      expect(await prices()).toMatchObject(held)
      world.clock.advance(86_400)
      give(days(1, 6))
      const report = await prices()
      world.clock.advance(-86_401)
      expect(report).toMatchObject({ removed: 14, problems: [] })
    })

    it('stores new entries all the same', async () => {
      give([day(date(1), { mtPrice: 1 }), day(date(20))] as object)
      expect(await prices()).toMatchObject({ ...held, pulled: 2, changed: 2 })
      expect(await stored()).toHaveLength(13)
    })

    it('removes them at once if half of them remain, or if there were few', async () => {
      give(days(1, 6))
      expect(await prices()).toMatchObject({ removed: 6, problems: [] })
      give([])
      expect(await prices()).toMatchObject({ removed: 6, problems: [] })
    })
  })

  it('accepts a level price calendar without a body, unless the partner reports an error', async () => {
    const path = '/product/level/price/calendar/v2'
    seller.on(path, { code: 200, describe: 'success', partnerDealId: 'd-9' })
    expect(await prices({ level: true })).toMatchObject({ pulled: 0, problems: [], failure: null })
    seller.on(path, { code: 200, describe: 'BA验证错误', partnerDealId: 'd-9' })
    expect((await prices({ level: true })).failure?.detail).toEqual('the partner says "BA验证错误"; body is required')
    seller.on(path, { code: 200, describe: 'success' })
    expect((await prices({ level: true })).failure?.detail).toEqual('partnerDealId is required')
    seller.on('/product/price/query', { code: 200, describe: 'success', partnerDealId: 'd-9' })
    expect((await prices({ level: false })).failure?.detail).toEqual('body is required')
  })

  it.each([
    ['no list', {}],
    ['a list that is null', { body: null }],
    ['its list under another name', { data: [] }],
  ])('removes nothing for a level price calendar with %s', async (_name, fields) => {
    const path = '/product/level/price/calendar/v2'
    const { date: priceDate, partnerDealId: _, ...rest } = day('2026-06-01')
    const entry = { ...rest, priceDate, partnerPrimaryKey: 'am', skuInfo: {} }
    seller.on(path, ok([entry] as object, { partnerDealId: 'd-9' }))
    const range = { level: true, from: '2026-06-01', to: '2026-06-01' }
    expect(await prices(range)).toMatchObject({ pulled: 1 })
    seller.on(path, { code: 200, describe: 'success', partnerDealId: 'd-9', ...fields })
    expect(await prices(range)).toMatchObject({ pulled: 0, removed: 0, problems: [], failure: null })
    seller.on(path, ok([] as object, { partnerDealId: 'd-9' }))
    expect(await prices(range), 'an empty list is one').toMatchObject({ pulled: 0, removed: 1 })
  })

  it('pulls level price calendars, and keeps requesting them once a product has one', async () => {
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
    seller.on('/product/level/price/calendar/v2', ok([level('eve')] as object))
    expect(await prices(), 'nothing goes, since the answer does not say whose prices these are').toMatchObject({
      pulled: 1,
      removed: 0,
      problems: [{ entry: 'the answer', path: 'partnerDealId' }],
    })
    expect(seller.paths()).toEqual(Array(3).fill('/product/level/price/calendar/v2'))
  })

  describe('of a product that moves between plain and level prices', () => {
    const LEVELS = '/product/level/price/calendar/v2'
    beforeEach(() => world.pool.query('delete from product_price; delete from price_removal'))
    const date = (n: number) => `2026-06-${String(n).padStart(2, '0')}`
    const plain = (...days: number[]) =>
      seller.on('/product/price/query', ok(days.map((n) => day(date(n))) as unknown as object))
    const session = (n: number) => {
      const { date: priceDate, partnerDealId: _, ...rest } = day(date(n))
      return { ...rest, priceDate, partnerPrimaryKey: 'am', skuInfo: { startTime: '09:00', endTime: '12:00' } }
    }
    const levels = (...days: number[]) =>
      seller.on(LEVELS, ok(days.map(session) as unknown as object, { partnerDealId: 'd-9' }))
    const keys = async () => (await stored()).map(([at, key]) => `${at} ${key}`)
    const range = { from: date(1), to: date(30) }

    it('counts the calendar that came last, and asks for that kind from then on', async () => {
      plain(1, 2)
      await prices({ ...range, level: false })
      levels(1, 3)
      expect(await prices({ ...range, level: true })).toMatchObject({ pulled: 2, changed: 2, removed: 2, problems: [] })
      expect(await keys()).toEqual(['2026-06-01 am', '2026-06-03 am'])
      world.clock.advance(1)
      plain(3, 4)
      expect(await prices({ ...range, level: false })).toMatchObject({ removed: 2 })
      expect(await keys()).toEqual(['2026-06-03 ', '2026-06-04 '])
      seller.calls.length = 0
      await prices(range)
      expect(seller.paths()).toEqual(['/product/price/query'])
    })

    it('keeps what an empty or incomplete calendar of the other kind says nothing about', async () => {
      levels(1, 2)
      await prices({ ...range, level: true })
      seller.on('/product/price/query', ok([] as object))
      expect(await prices({ ...range, level: false })).toMatchObject({ removed: 0 })
      seller.on('/product/price/query', ok([day(date(1)), day(date(5), { mtPrice: '1.234' })] as object))
      expect(await prices({ ...range, level: false })).toMatchObject({ pulled: 1, removed: 1 })
      expect(await keys()).toEqual(['2026-06-01 ', '2026-06-02 am'])
    })

    it('knows the kind of a product that has had no prices for months', async () => {
      const season = { from: date(1), to: date(3) }
      levels(1, 2)
      await prices({ ...season, level: true })
      world.clock.advance(60 * 86_400)
      levels()
      await prices({ level: true })
      seller.calls.length = 0
      await prices()
      expect(seller.paths()).toEqual([LEVELS])
      world.clock.advance(-60 * 86_400)
    })

    it('removes no long calendar at once, apart from the days that it replaces', async () => {
      plain(...Array.from({ length: 12 }, (_, n) => n + 1))
      await prices({ ...range, level: false })
      world.clock.advance(1)
      levels(1, 2)
      expect(await prices({ ...range, level: true })).toMatchObject({ removed: 2, problems: [{ path: 'body' }] })
      expect(await keys()).toHaveLength(12)
      world.clock.advance(60)
      expect(await prices({ ...range, level: true })).toMatchObject({ removed: 10, problems: [] })
      expect(await keys()).toEqual(['2026-06-01 am', '2026-06-02 am'])
    })
  })

  it.each([[201], [299]])('reports the code of the partner: %i', async (code) => {
    seller.on('/product/price/query', refusal(code))
    expect(await prices({ level: false })).toMatchObject({ failure: { kind: 'partner-code', code } })
  })

  it('refuses a range that ends before it begins', () => {
    expect(() =>
      parseInput(priceRange, { partner_id: 1, partner_deal_id: 'd', from: '2026-06-02', to: '2026-06-01' }),
    ).toThrow('to ')
  })
})
