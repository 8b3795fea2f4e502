import { afterAll, expect, it } from 'vitest'
import { inTransaction } from '../../src/platform/deps.ts'
import { OPERATOR } from '../../src/platform/history/index.ts'
import { parseInput } from '../../src/platform/lib/json/input.ts'
import { applyLevelPrices } from '../../src/ticketing/catalogue/level-prices.ts'
import { pullCatalogue } from '../../src/ticketing/catalogue/pull-catalogue.ts'
import { pullPrices } from '../../src/ticketing/catalogue/pull-prices.ts'
import { pullProduct } from '../../src/ticketing/catalogue/pull-product.ts'
import { showProduct } from '../../src/ticketing/catalogue/show-product.ts'
import { priceRange } from '../../src/ticketing/catalogue/wire.ts'
import { BY_COMMAND } from '../../src/ticketing/partner-calls/index.ts'
import { PRODUCT } from '../interfaces/product-example.ts'
import { ok, worldWithSeller } from '../partner-calls/fake-seller.ts'
import { until } from '../until.ts'

/** A pull whose answer comes late and is outdated: newer data of the product has been stored meanwhile. */

const { world, seller, close } = await worldWithSeller()
afterAll(close)

const PRODUCTS = '/product/query'
const DAYS = '/product/price/query'
const LEVELS = '/product/level/price/calendar/v2'

/** The partner answers the first call when `meanwhile` is done, and each later one at once with the next answer. */
async function overtake<Report>(
  path: string,
  [first, ...later]: readonly object[],
  pull: () => Promise<Report>,
  meanwhile: () => Promise<unknown>,
): Promise<Report> {
  seller.calls.length = 0
  let answer = (_: object) => {}
  const late = new Promise<object>((resolve) => {
    answer = resolve
  })
  seller.on(path, () => late, ...later)
  const report = pull()
  await until(() => seller.calls.length === 1)
  await meanwhile().finally(() => answer(first as object))
  return report
}

const products = (...titles: string[]) => titles.map((title) => ok([{ ...PRODUCT, partnerDealId: 'd-1', title }]))
const one = () => pullProduct(world.deps, { partner_id: 7001n, partner_deal_id: 'd-1' }, { cause: BY_COMMAND })
const all = () => pullCatalogue(world.deps, { partner_id: 7001n }, BY_COMMAND)
const show = () => showProduct(world.deps, { partner_id: 7001n, partner_deal_id: 'd-1' })

it.each([
  ['a product', one, one],
  ['a product, by a pull of the whole catalogue', one, all],
  ['a whole catalogue, by a pull of one product', all, one],
])('a late answer does not overwrite a later pull of %s', async (_, older, newer) => {
  const report = await overtake(PRODUCTS, products('old', 'new'), older, newer)
  expect(report).toMatchObject({ pulled: ['d-1'], problems: [], failure: null })
  const { product, history } = await show()
  expect(product).toMatchObject({ title: 'new', details: { title: 'new' } })
  expect(history.map(({ change }) => change.title?.[1])).not.toContain('old')
})

const PRICE = { marketPrice: '120.00', mtPrice: 99.5, settlementPrice: 80 }
const days = (...stocks: number[]) =>
  ok(stocks.map((stock, index) => ({ ...PRICE, partnerDealId: 'd-1', date: `2026-06-0${index + 1}`, stock })))
const session = (stock: number) => ({
  ...PRICE,
  ...{ priceDate: '2026-06-01', partnerPrimaryKey: 'am', stock },
  skuInfo: { startTime: '09:00', endTime: '12:00' },
})
const levels = (stock: number) => ok([session(stock)], { partnerDealId: 'd-1' })
const prices = (fields: object = {}) =>
  pullPrices(world.deps, parseInput(priceRange, { partner_id: 7001, partner_deal_id: 'd-1', ...fields }), {
    cause: BY_COMMAND,
  })
const stocks = async () => (await show()).prices.map(({ stock }) => stock)

it('a calendar pull that was overtaken is repeated, since it may cover other days', async () => {
  const report = await overtake(DAYS, [days(1, 1), days(2), days(3)], () => prices({ to: '2026-07-01' }), prices)
  expect(report).toMatchObject({ pulled: 1, changed: 1, removed: 0, problems: [], failure: null })
  expect(await stocks(), 'a day that is gone does not come back').toEqual([3])
  expect(seller.calls).toHaveLength(3)
})

const { body: reported, ...named } = { partnerDealId: 'd-1', body: [session(8)] }
const notice = (stock: number) =>
  inTransaction(world.deps, (inside) => {
    const body = reported.map((entry) => ({ ...entry, stock }))
    const period = { startTime: '2026-06-01', endTime: '2026-06-01' }
    return applyLevelPrices(inside, 7001n, { ...named, ...period, body, entries: body } as never, OPERATOR)
  })

it('a pull that was overtaken by a price notice is repeated', async () => {
  await world.pool.query('delete from product_price')
  await overtake(
    LEVELS,
    [levels(7), levels(9)],
    () => prices({ level: true }),
    () => notice(8),
  )
  expect(await stocks()).toEqual([9])
})

it('a calendar pull that is overtaken every time fails in the end', async () => {
  let stock = 10
  seller.calls.length = 0
  seller.on(LEVELS, async () => {
    await notice(++stock)
    return levels(7)
  })
  await expect(prices({ level: true })).rejects.toThrow('newer prices of product d-1 came')
  expect(seller.calls).toHaveLength(3)
  expect(await stocks()).toEqual([13])
})
