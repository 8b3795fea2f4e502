import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { pullPrices } from '../../src/ticketing/catalogue/pull-prices.ts'
import { pullProduct } from '../../src/ticketing/catalogue/pull-product.ts'
import { BY_COMMAND } from '../../src/ticketing/partner-calls/index.ts'
import { openWorld, type World } from '../harness.ts'
import { PRODUCT } from '../interfaces/product-example.ts'
import { type FakeSeller, fakeSeller, ok, status } from '../partner-calls/fake-seller.ts'
import { fuzzSettings, type Random, randomAt } from './random.ts'
import { asBytes, brokenJson, type Json } from './values.ts'

/**
 * The property: a stored product or price changes only when the answer holds a complete entry that says so. What is
 * complete is restated here from the contract, independently of the schemas.
 */

const { seed, pulls: total } = fuzzSettings()
const DAYS = Array.from({ length: 12 }, (_, n) => `2026-06-${String(n + 1).padStart(2, '0')}`)
const RANGE = { from: '2026-06-01', to: '2026-06-30' }
const JSON_TYPE = { 'Content-Type': 'application/json' }
const OF = { partner_id: 7001n, partner_deal_id: 'd-1' }

let world: World
let seller: FakeSeller
beforeAll(async () => {
  // Without the removal hold, so that a wrong removal shows at once.
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1', PRICE_REMOVAL_HOLD_S: '0' })
  seller = await fakeSeller(world)
  seller.on('/product/query', ok([{ ...PRODUCT, partnerDealId: 'd-1' }] as object))
  seller.on('/product/price/query', ok(calendar(1) as object))
  await pullProduct(world.deps, OF, { cause: BY_COMMAND })
  await pullPrices(world.deps, { ...OF, ...RANGE }, { cause: BY_COMMAND })
  await world.pool.query('create table kept_price as select * from product_price')
  await world.pool.query('create table kept_product as select * from product')
})
afterAll(async () => {
  await seller.close()
  await world.close()
})

type Entry = Record<string, unknown>
interface Stored {
  readonly prices: ReadonlyMap<string, readonly unknown[]>
  readonly product: { readonly title: string; readonly details: Entry }
}

const calendar = (price: number): Json[] =>
  DAYS.map((date) => ({
    ...{ partnerDealId: 'd-1', date, marketPrice: `${price + 2}.00`, mtPrice: price + 1, settlementPrice: price },
    stock: 5,
  }))

async function stored(): Promise<Stored> {
  const { rows } = await world.pool.query(
    `select price_date::text as date, market_price::float as market, mt_price::float as mt,
       settlement_price::float as settlement, stock from product_price`,
  )
  const product = await world.pool.query("select title, details from product where partner_deal_id = 'd-1'")
  return {
    prices: new Map(rows.map(({ date, market, mt, settlement, stock }) => [date, [market, mt, settlement, stock]])),
    product: product.rows[0],
  }
}

async function restore(): Promise<void> {
  await world.pool.query('delete from product_price; insert into product_price select * from kept_price')
  await world.pool.query(
    `update product p set title = kept.title, details = kept.details from kept_product kept
     where p.partner_deal_id = kept.partner_deal_id`,
  )
}

/** The list in an answer with code 200; undefined for any other answer. */
function listIn(bytes: Buffer, httpStatus: number): Entry[] | undefined {
  if (httpStatus !== 200) return undefined
  try {
    const { code, body } = JSON.parse(bytes.toString()) as { code?: unknown; body?: unknown }
    return (code === 200 || code === '200') && Array.isArray(body) ? body : undefined
  } catch {
    return undefined
  }
}

const isPrice = (value: unknown): boolean =>
  ['number', 'string'].includes(typeof value) && /^-?\d{1,10}(\.\d{1,2}0*)?$/.test(String(value))
const isComplete = (entry: Entry | null): boolean =>
  entry !== null &&
  entry.partnerDealId === 'd-1' &&
  DAYS.concat('2026-06-30').includes(String(entry.date)) &&
  [entry.marketPrice, entry.mtPrice, entry.settlementPrice].every(isPrice) &&
  /^(-1|-?0|\d{1,9})$/.test(String(entry.stock))

const reportsPrices = (list: readonly Entry[], date: string, values: readonly unknown[]): boolean =>
  list.some(
    (entry) =>
      entry?.date === date &&
      isComplete(entry) &&
      isDeepStrictEqual(
        [entry.marketPrice, entry.mtPrice, entry.settlementPrice].map((price) => Number(price) + 0),
        values.slice(0, 3),
      ),
  )

/** The changes that the answer does not account for. */
function unexplained(before: Stored, after: Stored, list: readonly Entry[] | undefined): string[] {
  const problems: string[] = []
  for (const date of new Set([...before.prices.keys(), ...after.prices.keys()])) {
    const [was, is] = [before.prices.get(date), after.prices.get(date)]
    if (isDeepStrictEqual(was, is)) continue
    if (list === undefined) problems.push(`${date} was changed by an answer without success`)
    else if (is === undefined) {
      if (!list.every(isComplete)) problems.push(`${date} is gone, although the answer is not complete`)
      if (list.some((entry) => entry.date === date)) problems.push(`${date} is gone, although the answer has it`)
    } else if (!reportsPrices(list, date, is)) problems.push(`${date} became ${is}, which the answer does not say`)
  }
  if (isDeepStrictEqual(before.product, after.product)) return problems
  const said = list?.some((entry) => entry?.title === after.product.title && entry.partnerDealId === 'd-1')
  return said ? problems : [...problems, `the product became ${JSON.stringify(after.product).slice(0, 200)}`]
}

/** A valid answer with some entries left out, usually broken somewhere. */
function answer(random: Random, body: readonly Json[]): { bytes: Buffer; httpStatus: number } {
  const good = { code: 200, describe: 'success', partnerId: '7001', body: body.filter(() => random.chance(0.9)) }
  const coded = random.chance(0.25)
    ? { ...good, code: random.pick<Json>(['FAIL', 500, null, true, '200', 0, 300, [200], undefined as never]) }
    : good
  const share = random.pick([0, 0.002, 0.01, 0.05])
  return {
    bytes: asBytes(random, brokenJson(random, coded, share)),
    httpStatus: random.chance(0.05) ? random.pick([201, 204, 404, 500, 503]) : 200,
  }
}

it(`${total} broken answers to pulls change only what they report, seed ${seed}`, async () => {
  const before = await stored()
  expect(before.prices.size).toBe(12)
  const seen = { unchanged: 0, changed: 0 }
  for (let place = 0; place < total; place++) {
    const random = randomAt(seed, place)
    const ofProduct = random.chance(0.3)
    const entry = { ...PRODUCT, partnerDealId: 'd-1', title: `Title ${place}` } as unknown as Json
    const { bytes, httpStatus } = answer(random, ofProduct ? [entry] : calendar(place + 2))
    seller.on(ofProduct ? '/product/query' : '/product/price/query', status(httpStatus, JSON_TYPE, bytes as never))
    if (ofProduct) await pullProduct(world.deps, OF, { cause: BY_COMMAND })
    else await pullPrices(world.deps, { ...OF, ...RANGE }, { cause: BY_COMMAND })
    const after = await stored()
    const problems = unexplained(before, after, listIn(bytes, httpStatus))
    expect(problems, `seed ${seed}, answer ${place}, HTTP ${httpStatus}: ${bytes.toString().slice(0, 2_000)}`).toEqual(
      [],
    )
    const changed = !isDeepStrictEqual(before, after)
    seen[changed ? 'changed' : 'unchanged']++
    if (changed) await restore()
  }
  process.stderr.write(`  fuzz: seed ${seed}; ${seen.changed} answers changed something, ${seen.unchanged} nothing\n`)
  expect(Math.min(seen.changed, seen.unchanged)).toBeGreaterThan(total / 20)
}, 3_600_000)
