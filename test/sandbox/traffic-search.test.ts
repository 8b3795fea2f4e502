import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listTraffic } from '../../src/sandbox/portal/traffic/list.ts'
import { trafficQuery } from '../../src/sandbox/portal/traffic/wire.ts'
import { findPartner, type PartnerWithSecrets } from '../../src/ticketing/partners/partner.ts'
import { openWorld, type World } from '../harness.ts'
import { callPartner } from '../partner-calls/calls.ts'
import { type FakeSeller, fakeSeller, refusal } from '../partner-calls/fake-seller.ts'
import { consumption, sendNotice } from './notices.ts'
import { get, sessionOf } from './partners.ts'

const ORDER = 9007199254740993n
const CHANGE = '/mtp/api/deal/change/notice'
const CONSUME = '/mtp/api/order/consume/notice'

let world: World
let seller: FakeSeller
let other: FakeSeller
beforeAll(async () => {
  world = await openWorld({ PARTNER_ADDRESS_ALLOW: '127.0.0.1' })
  seller = await fakeSeller(world, 7001)
  other = await fakeSeller(world, 7002)
  const partner = (await findPartner(world.deps, 7001n)) as PartnerWithSecrets
  const later = async (what: () => Promise<unknown>) => {
    world.clock.advance(1)
    await what()
  }
  const refund = { orderId: ORDER, partnerOrderId: 'P-1', refundId: 'R-77', refundQuantity: 1, refundPrice: 1 }
  seller.on('/order/query', refusal(301))
  await later(() =>
    callPartner(world.deps, partner, 'order-query', { orderId: ORDER, partnerOrderId: '' }, { orderId: ORDER }),
  )
  await later(() => sendNotice(world, seller, { path: CONSUME, body: consumption({ orderId: ORDER }) }))
  await later(() => sendNotice(world, seller, { path: CONSUME, body: consumption({ orderId: ORDER + 1n }) }))
  await later(() => sendNotice(world, other, { path: CONSUME, body: consumption({ orderId: ORDER }) }))
  await later(() =>
    sendNotice(world, seller, {
      path: '/rhone/mtp/api/order/refund/notice',
      body: JSON.stringify({ code: 200, body: { ...refund, orderId: String(ORDER) } }),
    }),
  )
  await later(() => callPartner(world.deps, partner, 'product-pull', { method: 'multi', partnerDealIds: ['D1', 'D2'] }))
  await later(() => sendNotice(world, seller, { path: CHANGE, body: '{"body":[{"partnerDealId":"D10","status":1}]}' }))
  await later(() => sendNotice(world, seller, { path: CHANGE, body: '{"body":[{"partnerDealId":"D2","status":1}]}' }))
  await later(() => sendNotice(world, seller, { path: '/mtp/api/order/consume', body: '{}' }))
})
afterAll(async () => {
  await seller.close()
  await other.close()
  await world.close()
})

const find = async (by: string, value: string, more: object = {}) =>
  listTraffic(world.deps, 7001n, trafficQuery.parse({ by, value, ...more }))
const names = async (by: string, value: string, more: object = {}) =>
  (await find(by, value, more)).lines.map(({ name }) => name).reverse()

it('every entry names the order it is about, on the page too', async () => {
  const { lines } = await listTraffic(world.deps, 7001n, trafficQuery.parse({}))
  const found = lines.map(({ name, order_id }) => [name, order_id]).reverse()
  const [mine, next] = [String(ORDER), String(ORDER + 1n)]
  expect(found).toEqual([
    ['order-query', mine],
    ['consume', mine],
    ['consume', next],
    ['refund', mine],
    ['product-pull', null],
    ['deal-change', null],
    ['deal-change', null],
    ['/mtp/api/order/consume', null],
  ])
  const { body } = await get(
    world,
    '/sandbox/traffic',
    await sessionOf(world, { client_id: 'seller-7001', client_secret: seller.secret }),
  )
  expect(body.match(/orderId \d+/g)?.reverse()).toEqual([mine, mine, next, mine].map((id) => `orderId ${id}`))
})

describe('a search in the traffic', () => {
  it.each([
    ['order', String(ORDER), ['order-query', 'consume', 'refund']],
    ['order', `00${ORDER}`, ['order-query', 'consume', 'refund']],
    ['order', '12', []],
    ['order', 'x', []],
    ['order', '9999999999999999999', []],
    ['refund', 'R-77', ['refund']],
    ['refund', 'R-7', []],
    ['deal', 'D1', ['product-pull']],
    ['deal', 'D2', ['product-pull', 'deal-change']],
    ['deal', 'D10', ['deal-change']],
    ['deal', '.*', []],
    ['path', '/product/query', ['product-pull']],
    ['path', '/rhone/', ['refund']],
    ['path', '/order/consume', ['consume', 'consume', '/mtp/api/order/consume']],
    ['code', '301', ['order-query']],
    ['code', '404', ['/mtp/api/order/consume']],
    ['code', 'x', []],
    ['code', '99999999999', []],
  ])('by %s %s finds the calls that match', async (by, value, expected) => {
    expect(await names(by, value)).toEqual(expected)
  })

  it('can be combined with the filter', async () => {
    expect(await names('order', String(ORDER), { direction: 'out' })).toEqual(['order-query'])
    expect(await names('order', String(ORDER), { outcome: 'ok' })).toEqual([])
  })

  it('returns the whole list without a valid field and value', async () => {
    expect((await find('order', '')).lines).toHaveLength(8)
    expect((await find('body', 'x')).lines).toHaveLength(8)
    expect((await find('path', 'a\0b')).lines).toHaveLength(8)
  })

  it('examines a limited number of calls at a time, and continues where it stopped', async () => {
    await world.pool.query(
      `insert into rejected_call (call_id, received_at, partner_id, client_id, path, reason, headers, body, answer, verified)
       select gen_random_uuid(), $1::timestamptz + n * interval '1 s', 7001, 'seller-7001', '/x', '"r"', '{}', '{}', '{"code":300}', true
       from generate_series(1, 2500) n`,
      [world.clock.now()],
    )
    const first = await find('deal', 'D10')
    expect(first.lines).toEqual([])
    expect(first.searchedTo).toBeInstanceOf(Date)
    const second = await find('deal', 'D10', { before: first.older })
    expect(second.lines).toEqual([])
    const third = await find('deal', 'D10', { before: second.older })
    expect(third.lines.map(({ name }) => name)).toEqual(['deal-change'])
    expect([third.older, third.searchedTo]).toEqual([undefined, undefined])
    // Back and forth: the pages in between are empty, and the call is still there.
    const back = await find('deal', 'D10', { after: third.newer })
    expect(back.lines).toEqual([])
    const again = await find('deal', 'D10', { before: back.older })
    expect(again.lines.map(({ name }) => name)).toEqual(['deal-change'])
    expect((await find('order', String(ORDER))).lines).toHaveLength(3)
  })

  it('finds a call at the end of the examined range on the way back, too', async () => {
    const at = new Date(world.clock.now().getTime() + 10_000_000)
    await world.pool.query(
      `insert into rejected_call (call_id, received_at, partner_id, client_id, path, reason, headers, body, answer, verified)
       select gen_random_uuid(), $1::timestamptz - n * interval '1 s', 7001, 'seller-7001',
         case when n = 1000 then '/last' else '/x' end, '"r"', '{}', '{}', '{"code":300}', true
       from generate_series(1, 2100) n`,
      [at],
    )
    const first = await find('path', '/last')
    expect(first.lines).toHaveLength(1)
    const second = await find('path', '/last', { before: first.older })
    expect(second.lines).toEqual([])
    expect((await find('path', '/last', { after: second.newer })).lines).toHaveLength(1)
    await world.pool.query("delete from rejected_call where received_at > $1::timestamptz - interval '2101 s'", [at])
  })

  it('finds an accepted notice by its ids', async () => {
    const body = '{"orderId":"4200", "body":[{"partnerDealId":"D42","status":1}], "refundId": "R-4200"}'
    await sendNotice(world, seller, { path: CHANGE, body })
    expect(await names('order', '4200')).toEqual(['deal-change'])
    expect(await names('refund', 'R-4200')).toEqual(['deal-change'])
  })

  it('is kept from page to page, and shown as plain text', async () => {
    const cookie = await sessionOf(world, { client_id: 'seller-7001', client_secret: seller.secret } as Parameters<
      typeof sessionOf
    >[1])
    const { body } = await get(world, '/sandbox/traffic?by=path&value=%22%3E%3Cb%3E', cookie)
    expect(body).toContain('value="&quot;&gt;&lt;b&gt;"')
    expect(body).toContain('No call matches this search.')
    expect(body).toMatch(/href="\/sandbox\/traffic\?by=path&amp;value=%22%3E%3Cb%3E&amp;before=\d+/)
  })
})
