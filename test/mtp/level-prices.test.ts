import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { formatHttpDate } from '../../src/platform/lib/crypto/signing.ts'
import { addDays } from '../../src/platform/lib/time-zone.ts'
import { showEntry } from '../../src/sandbox/portal/traffic/entry.ts'
import { pullPrices } from '../../src/ticketing/catalogue/pull-prices.ts'
import { showProduct } from '../../src/ticketing/catalogue/show-product.ts'
import { BY_COMMAND } from '../../src/ticketing/partner-calls/index.ts'
import { setAesKey } from '../../src/ticketing/partners/aes-key.ts'
import { aesEncrypted } from '../aes.ts'
import { openWorld, type World } from '../harness.ts'
import { duePulls } from '../orders/orders.ts'
import { type FakeSeller, fakeSeller } from '../partner-calls/fake-seller.ts'
import { signedHeaders } from '../signer.ts'

const PATH = '/mtp/api/level/price/notice/v2'
const DEAL_CHANGE = '/mtp/api/deal/change/notice'
const KEY = '0123456789abcdef'
const FIRST = '2026-06-01'

let world: World
let seller: FakeSeller
beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  seller = await fakeSeller(world, 7001, { aesKey: KEY })
  await setAesKey(world.deps, 7001n, { aes_key: KEY })
})
afterAll(async () => {
  await seller.close()
  await world.close()
})

async function post(body: object, path = PATH, encrypt = true) {
  const date = formatHttpDate(world.clock.now())
  const partner = { clientId: 'seller-7001', partnerId: '7001', clientSecret: seller.secret }
  const text = JSON.stringify(body)
  const answer = await world.app.inject({
    method: 'POST',
    url: path,
    headers: { ...signedHeaders(partner, { path, date }), ...(encrypt ? { 'X-Encryption-Status': 'encrypted' } : {}) },
    payload: encrypt ? aesEncrypted(KEY, text) : text,
  })
  return answer.json() as { code: number; describe: string }
}

let deal = ''
let number = 0
beforeEach(async () => {
  world.clock.advance(3_600)
  deal = `show-${++number}`
  expect(await post({ partnerId: 7001, body: { partnerDealId: deal, status: 0 } }, DEAL_CHANGE, false)).toMatchObject({
    code: 200,
  })
})

const entry = (priceDate: string, key = 'A', fields: object = {}) => ({
  partnerPrimaryKey: `${priceDate}/${key}`,
  skuInfo: { startTime: '09:00', endTime: '11:30', levelInfoList: [{ levelNo: key, levelName: 'Stalls' }] },
  priceDate,
  marketPrice: '120.00',
  mtPrice: '100.00',
  settlementPrice: '80.50',
  stock: '20',
  attr: { any: 'thing' },
  ...fields,
})
const days = (from: string, count: number) => Array.from({ length: count }, (_, day) => addDays(from, day))
const notice = (body: readonly object[], startTime = FIRST, endTime = addDays(FIRST, 6), more: object = {}) => ({
  partnerId: '7001',
  startTime,
  endTime,
  partnerDealId: deal,
  body,
  ...more,
})
const SUCCESS = { code: 200, describe: 'success', partnerId: '7001' }

const storedRows = async () =>
  (
    await world.pool.query(
      `select partner_primary_key as key, settlement_price::text as price, stock, details from product_price
       where partner_deal_id = $1 order by price_date, partner_primary_key`,
      [deal],
    )
  ).rows

describe('a level price notice', () => {
  it.each(['', '/rhone'])('stores the entries as they came, encrypted or readable, under prefix %j', async (prefix) => {
    const sent = notice([entry(FIRST), entry(FIRST, 'B', { stock: 0, mtPrice: 0, marketPrice: 0, settlementPrice: 0 })])
    expect(await post(sent, prefix + PATH)).toEqual(SUCCESS)
    const rows = await storedRows()
    expect(rows).toMatchObject([
      { key: `${FIRST}/A`, price: '80.50', stock: 20, details: entry(FIRST) },
      { key: `${FIRST}/B`, price: '0.00', stock: 0 },
    ])
    world.clock.advance(3_600)
    expect(
      await post({ ...sent, body: [entry(FIRST, 'A', { stock: 7 }), sent.body[1]] }, prefix + PATH, false),
    ).toEqual(SUCCESS)
    expect(await storedRows()).toMatchObject([{ stock: 7 }, { stock: 0 }])
  })

  it('follows code 999, and brings the same entries as a pull', async () => {
    const range = { partner_id: 7001n, partner_deal_id: deal, from: FIRST, to: addDays(FIRST, 6), level: true }
    seller.on('/product/level/price/calendar/v2', { code: 999, describe: 'later' })
    expect(await pullPrices(world.deps, range, { cause: BY_COMMAND })).toMatchObject({ will_follow: true, pulled: 0 })
    const body = days(FIRST, 7).map((day) => entry(day))
    expect(await post(notice(body))).toEqual(SUCCESS)
    seller.on('/product/level/price/calendar/v2', { code: 200, describe: 'success', partnerDealId: deal, body })
    expect(await pullPrices(world.deps, range, { cause: BY_COMMAND })).toMatchObject({
      pulled: 7,
      changed: 0,
      removed: 0,
      problems: [],
    })
  })

  it('keeps entries that it does not mention, inside and outside its range, even when repeated', async () => {
    const range = [FIRST, addDays(FIRST, 9)] as const
    const body = days(FIRST, 10).map((day) => entry(day))
    expect(await post(notice(body, ...range))).toEqual(SUCCESS)
    const kept = (await storedRows()).map(({ key }) => key)
    for (const sent of [
      notice([entry(FIRST, 'A', { stock: 3 }), entry(addDays(FIRST, 2))]),
      notice([entry(FIRST)], ...range),
    ]) {
      for (const after of [3_600, 61]) {
        world.clock.advance(after)
        expect(await post(sent)).toEqual(SUCCESS)
        expect((await storedRows()).map(({ key }) => key)).toEqual(kept)
      }
    }
    const { history } = await showProduct(world.deps, { partner_id: 7001n, partner_deal_id: deal })
    expect(history.map(({ cause, change }) => [cause, change])).toContainEqual([
      'notice',
      { prices: [null, `${FIRST} to ${addDays(FIRST, 6)}: 1 new or changed, 0 removed`] },
    ])
  })

  it('closes a session with a stock of 0', async () => {
    await post(notice([entry(FIRST), entry(FIRST, 'B')]))
    world.clock.advance(3_600)
    const closed = { stock: 0, mtPrice: 0, marketPrice: 0, settlementPrice: 0 }
    expect(await post(notice([entry(FIRST, 'A', closed), entry(FIRST, 'B')]))).toEqual(SUCCESS)
    expect(await storedRows()).toMatchObject([{ price: '0.00', stock: 0 }, { stock: 20 }])
  })

  it('that is repeated gets the same answer, but counts as new after more than ten seconds', async () => {
    const sent = notice([entry(FIRST)])
    expect(await post(sent)).toEqual(SUCCESS)
    expect(await post(sent, PATH, false)).toEqual(SUCCESS)
    await post(notice([entry(FIRST, 'A', { stock: 1 })]))
    world.clock.advance(11)
    expect(await post(sent)).toEqual(SUCCESS)
    expect(await storedRows()).toMatchObject([{ stock: 20 }])
  })

  it.each<[string, () => object, unknown]>([
    [
      'no product',
      () => notice([entry(FIRST)], FIRST, FIRST, { partnerDealId: undefined }),
      'partnerDealId is required',
    ],
    [
      'no range',
      () => notice([entry(FIRST)], undefined, undefined, { startTime: undefined, endTime: '2026-06' }),
      'startTime is required; endTime must be a date, yyyy-MM-dd',
    ],
    [
      'a range that ends before it begins',
      () => notice([entry(FIRST)], FIRST, '2026-05-31'),
      'endTime must not be before startTime',
    ],
    [
      'days that are over',
      () => notice([entry('2026-05-01')], '2026-05-01', FIRST),
      expect.stringMatching(/^startTime must not be before 2026-05-\d\d$/),
    ],
    [
      'days too far ahead',
      () => notice([entry('2028-01-01')], FIRST, '2028-01-01'),
      expect.stringMatching(/^endTime must not be after 2027-06-\d\d$/),
    ],
    [
      'an entry outside the range',
      () => notice([entry(FIRST), entry('2026-07-01')]),
      `body[1].priceDate is not between ${FIRST} and ${addDays(FIRST, 6)}`,
    ],
    [
      '41 entries',
      () => notice(Array.from({ length: 41 }, (_, n) => entry(FIRST, String(n)))),
      'body must have at most 40 entries',
    ],
    ['no entry', () => notice([]), 'body must have at least one entry'],
    ['no list', () => notice([], FIRST, FIRST, { body: null }), 'body must be an array'],
    [
      'no entry with stock',
      () => notice([entry(FIRST, 'A', { stock: 0 }), entry(FIRST, 'B', { stock: '0' })]),
      'body must have at least one entry with stock',
    ],
    [
      'one bad entry',
      () => notice([entry(FIRST), entry(addDays(FIRST, 1), 'A', { mtPrice: '1.005', stock: undefined })]),
      'body[1].mtPrice must be a price in yuan with at most two decimals; body[1].stock is required',
    ],
    [
      'an entry without its key',
      () => notice([entry(FIRST, 'A', { partnerPrimaryKey: '' })]),
      'body[0].partnerPrimaryKey must not be empty',
    ],
  ])('with %s is refused with the reason, and changes nothing', async (_name, sent, describe) => {
    await post(notice(days(FIRST, 7).map((day) => entry(day))))
    const before = await storedRows()
    world.clock.advance(3_600)
    expect(await post(sent())).toEqual({ code: 300, describe, partnerId: '7001' })
    expect(await storedRows()).toEqual(before)
  })

  it('that would give a product more entries than a pull may have is refused, and changes nothing', async () => {
    await world.pool.query(
      `insert into product_price (partner_id, partner_deal_id, price_date, partner_primary_key, mt_price, settlement_price,
         stock, details, pulled_at)
       select 7001, $1, $2::date, 'k' || n, 1, 1, 1, '{}', now() from generate_series(1, 9999) n`,
      [deal, FIRST],
    )
    expect(await post(notice([entry(FIRST)]))).toEqual(SUCCESS)
    world.clock.advance(60)
    expect(await post(notice([entry(FIRST), entry(FIRST, 'B')]))).toEqual({
      ...{ code: 300, partnerId: '7001' },
      describe: `with this body, product ${deal} would have more than 10000 entries`,
    })
    expect(await storedRows()).toHaveLength(10_000)
    world.clock.advance(60)
    expect(await post(notice([entry(FIRST, 'A', { stock: 2 })])), 'a change adds none').toEqual(SUCCESS)
  })

  it('about an unknown product creates it and makes its details due for one pull', async () => {
    const ofNew = (...body: object[]) => notice(body, FIRST, FIRST, { partnerDealId: `new-${deal}` })
    expect((await post(ofNew(entry(FIRST, 'A', { stock: 0 })))).code).toBe(300)
    expect((await post({ ...ofNew(entry(FIRST)), endTime: '2036-01-01' })).code).toBe(300)
    const known = { partner_id: 7001n, partner_deal_id: `new-${deal}` }
    await expect(showProduct(world.deps, known)).rejects.toThrow('does not exist')
    expect(await post(ofNew(entry(FIRST)))).toEqual(SUCCESS)
    world.clock.advance(60)
    expect(await post(ofNew(entry(FIRST, 'B')))).toEqual(SUCCESS)
    const { product, prices, history } = await showProduct(world.deps, known)
    expect(product).toMatchObject({ sale_state: 'unknown', title: null })
    expect(prices).toHaveLength(2)
    expect(history.filter(({ change }) => 'sale_state' in change)).toHaveLength(1)
    const due = (await duePulls(world.pool)).filter((pull) => pull.endsWith(`:new-${deal}`))
    expect(due).toEqual([`product 7001:new-${deal}`])
  })

  it('stores whole entries, with 64-bit ids exact', async () => {
    const text = JSON.stringify(notice([entry(FIRST)])).replace('"attr"', '"mtId":8985652356562370001,"attr"')
    const date = formatHttpDate(world.clock.now())
    const partner = { clientId: 'seller-7001', partnerId: '7001', clientSecret: seller.secret }
    await world.app.inject({
      method: 'POST',
      url: PATH,
      headers: { ...signedHeaders(partner, { path: PATH, date }) },
      payload: aesEncrypted(KEY, text),
    })
    const { rows } = await world.pool.query(
      'select details::text as text from product_price where partner_deal_id = $1',
      [deal],
    )
    expect(rows[0].text).toContain('8985652356562370001')
  })
})

describe('prices that look like mistakes', () => {
  const warningsOf = async () =>
    (
      await world.pool.query(`select warnings, notice_id from notice where path = $1 order by arrival desc limit 1`, [
        PATH,
      ])
    ).rows[0]

  it('are stored as they came, and listed in Traffic', async () => {
    const days = [0, 1, 2, 3].map((day) => addDays(FIRST, day))
    const prices = days.map((day, at) => entry(day, 'A', at === 2 ? { mtPrice: '10000.00' } : {}))
    const notice = { partnerId: 7001, partnerDealId: deal, startTime: FIRST, endTime: addDays(FIRST, 3), body: prices }
    expect(await post(notice)).toMatchObject({ code: 200, describe: 'success' })
    const { warnings, notice_id: id } = await warningsOf()
    expect(warnings).toBe('implausible-prices')
    const { implausible } = await showEntry(world.deps, 7001n, { kind: 'notice', id })
    expect(implausible).toMatchObject([
      { path: 'body[2].mtPrice', problem: expect.stringContaining('is 10000; the median of this calendar is 100') },
    ])
    expect((await post({ ...notice, body: days.map((day) => entry(day)) })).code).toBe(200)
    expect((await warningsOf()).warnings).toBe('')
  })
})
