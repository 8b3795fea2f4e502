import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, openPartner, orderOf, type TestPartner } from './partner.ts'

let partner: TestPartner
beforeAll(async () => {
  partner = await openPartner()
})
afterAll(() => partner.app.close())

const ids = (answer: Answer): string[] => answer.body.map((entry: Answer) => entry.partnerDealId)
const page = (currentPage: number, pageSize: number) => ({ method: 'page', currentPage, pageSize })
const dates = (startTime: string, endTime: string) => ({ startTime, endTime })

describe('POI pull', () => {
  it('answers by page and by id', async () => {
    const first = await partner.call('/poi/query', page(1, 1))
    expect(first).toMatchObject({ code: 200, describe: 'success', partnerId: '7001', totalSize: 2 })
    expect(first.body).toHaveLength(1)
    expect((await partner.call('/poi/query', page(3, 1))).body).toEqual([])
    const [lake] = (await partner.call('/poi/query', { method: 'multi', partnerPoiId: ['DEMO-LAKE', 'x'] })).body
    expect(lake).toMatchObject({ partnerPoiId: 'DEMO-LAKE', locType: 0, longitude: 120_148_872, latitude: 30_242_489 })
  })
})

describe('product pull', () => {
  it('returns every product exactly once, page by page', async () => {
    const pages = await Promise.all([1, 2, 3, 4].map((at) => partner.call('/product/query', page(at, 2))))
    expect(pages.map(({ totalSize }) => totalSize)).toEqual([7, 7, 7, 7])
    expect(pages.flatMap(ids)).toEqual([
      'DEMO-BOAT',
      'DEMO-TOWER',
      'DEMO-SOLD-OUT',
      'DEMO-SHOW',
      'DEMO-OPEN',
      'DEMO-NIGHT',
      'DEMO-CASTLE',
    ])
  })

  it('returns only the requested products', async () => {
    const answer = await partner.call('/product/query', {
      method: 'multi',
      partnerDealIds: ['DEMO-OPEN', 'x', 'DEMO-BOAT'],
    })
    expect(ids(answer)).toEqual(['DEMO-BOAT', 'DEMO-OPEN'])
  })

  it('fills every required field of every product', async () => {
    const required = [
      ...['partnerDealId', 'partnerPoiId', 'title', 'include', 'otherNote', 'useDateMode', 'visitorInfoType'],
      ...['refundType', 'partlyRefund', 'scheduleOnlineTime', 'scheduleOfflineTime', 'servicePhones', 'getInAddresses'],
      ...['needTicket', 'getTicketRule', 'getVoucherRule', 'returnVoucher', 'idLimitDays', 'idLimitCount'],
      ...['phoneLimitDays', 'phoneLimitCount', 'maxBuyCount', 'minBuyCount', 'orderCancelTime'],
    ]
    const openDate = [
      'stock',
      'marketPrice',
      'mtPrice',
      'settlementPrice',
      'voucherDateBegin',
      'voucherDateEnd',
      'validWeekRule',
    ]
    for (const entry of (await partner.call('/product/query', page(1, 100))).body) {
      const fields = [
        ...required,
        ...(entry.useDateMode === 0 ? openDate : []),
        ...(entry.returnVoucher ? [] : ['voucherText']),
      ]
      for (const field of fields) expect(entry[field] ?? '', `${entry.partnerDealId} ${field}`).not.toBe('')
      expect(entry.voucherText?.length ?? 0).toBeLessThanOrEqual(20)
    }
  })
})

describe('price calendar', () => {
  it('returns a price for each day of the range, both ends included', async () => {
    const { body } = await partner.call('/product/price/query', {
      partnerDealId: 'DEMO-BOAT',
      ...dates('2026-05-06', '2026-05-09'),
    })
    expect(body.map((entry: Answer) => entry.date)).toEqual(['2026-05-06', '2026-05-07', '2026-05-08', '2026-05-09'])
    expect(body[0]).toEqual({
      partnerDealId: 'DEMO-BOAT',
      date: '2026-05-06',
      ...{ marketPrice: 100, mtPrice: 88, settlementPrice: 75, stock: 1000 },
    })
    expect(body[3]).toMatchObject({ mtPrice: 108, settlementPrice: 95 })
  })

  it('is limited to the days on sale', async () => {
    const { body } = await partner.call('/product/price/query', {
      partnerDealId: 'DEMO-BOAT',
      ...dates('2020-01-01', '2030-12-31'),
    })
    expect(body).toHaveLength(90)
    expect(body[0].date).toBe('2026-05-06')
  })

  it('begins today in Beijing time', async () => {
    const evening = await openPartner()
    evening.clock.advance(6 * 3600)
    const range = { partnerDealId: 'DEMO-BOAT', ...dates('2026-05-01', '2026-05-08') }
    const { body } = await evening.call('/product/price/query', range)
    expect(body.map((entry: Answer) => entry.date)).toEqual(['2026-05-07', '2026-05-08'])
    await evening.app.close()
  })

  it.each<[string, object]>([
    ['an unknown product', { partnerDealId: 'x', ...dates('2026-05-06', '2026-05-07') }],
    ['a range that ends before it begins', { partnerDealId: 'DEMO-BOAT', ...dates('2026-05-07', '2026-05-06') }],
    ['30 February', { partnerDealId: 'DEMO-BOAT', ...dates('2026-02-30', '2026-05-06') }],
    ['no range', { partnerDealId: 'DEMO-BOAT' }],
  ])('answers 201 for %s', async (_name, body) => {
    expect(await partner.call('/product/price/query', body)).toMatchObject({ code: 201 })
    expect(await partner.call('/product/level/price/calendar/v2', { ...body, asyncType: 0 })).toMatchObject({
      code: 201,
    })
  })
})

describe('level price calendar', () => {
  const range = { partnerDealId: 'DEMO-SHOW', ...dates('2026-05-06', '2026-05-06') }

  it('returns each session and seat level with a key that orders refer to', async () => {
    const answer = await partner.call('/product/level/price/calendar/v2', { ...range, asyncType: 0 })
    expect(answer.partnerDealId).toBe('DEMO-SHOW')
    expect(answer.body).toHaveLength(4)
    const seats = answer.body[2]
    expect(seats).toMatchObject({ priceDate: '2026-05-06', mtPrice: 410, stock: 400 })
    expect(seats.skuInfo).toMatchObject({ startTime: '19:30', levelInfoList: [{ levelNo: 'A' }] })

    const { partnerPrimaryKey, settlementPrice, mtPrice } = seats
    const order = { ...orderOf('DEMO-SHOW'), partnerPrimaryKey, buyPrice: settlementPrice, unitPrice: mtPrice }
    expect(await partner.call('/order/create', order)).toMatchObject({ code: 200 })
    const after = await partner.call('/product/level/price/calendar/v2', { ...range, asyncType: 0 })
    expect(after.body.map((entry: Answer) => entry.stock)).toEqual([400, 400, 398, 400])
    expect(await partner.call('/order/create', { ...order, orderId: 2, partnerPrimaryKey: 'x' })).toMatchObject({
      code: 410,
    })
  })

  it('can be answered with 999 and sent later in notices', async () => {
    const answer = await partner.call('/product/level/price/calendar/v2', { ...range, asyncType: 1 })
    expect(answer).toMatchObject({ code: 999, partnerDealId: 'DEMO-SHOW' })
    const { notices } = await partner.control('state')
    const priceNotices = notices.filter((notice: Answer) => notice.path === '/mtp/api/level/price/notice/v2')
    const now = await partner.call('/product/level/price/calendar/v2', { ...range, asyncType: 0 })
    expect(priceNotices.flatMap(({ message }: Answer) => message.body)).toEqual(now.body)
    expect(priceNotices[0].message).toMatchObject({
      partnerDealId: 'DEMO-SHOW',
      startTime: range.startTime,
      endTime: range.endTime,
    })
  })
})

describe('the other interfaces', () => {
  it('return the deposit in cents', async () => {
    const { body } = await partner.call('/balance/query', { partnerDealIds: ['DEMO-BOAT', 'x'] })
    expect(body).toEqual([{ partnerDealId: 'DEMO-BOAT', prepaidAccountBalance: 100_000_000, creditAccountBalance: -1 }])
  })

  it('record the status that the platform gives a product', async () => {
    const message = [{ partnerDealId: 'DEMO-BOAT', status: 1, checkStatus: 1, msRatioCheckStatus: 0 }]
    expect(await partner.call('/product/status', message)).toEqual({
      code: 200,
      describe: 'success',
      partnerId: '7001',
    })
    expect((await partner.control('state')).products[0]).toMatchObject({ platformStatus: 1 })
  })

  it('answer the heartbeat', async () => {
    expect(await partner.call('/alive')).toEqual({ code: 200, describe: 'success', partnerId: '7001' })
  })
})

it('the README says how each product behaves', async () => {
  const readme = readFileSync(new URL('../../src/demo/README.md', import.meta.url), 'utf8')
  const rows = [...readme.matchAll(/^\| (DEMO-[A-Z-]+) \| (.*) \|$/gm)].map(([, id, row = '']) => [id, row] as const)
  const { products } = await partner.control('state')
  expect(rows.map(([id]) => id)).toEqual(products.map(({ partnerDealId }: Answer) => partnerDealId))
  const words: Answer = { 'open date': 'any day', days: 'price calendar', levels: 'level price calendar' }
  for (const [at, [id, row]] of rows.entries()) {
    const { calendar, stock, issues, refunds, vouchers } = products[at]
    const cells = row.split(' | ')
    expect(cells[0], id).toMatch(new RegExp(`^${words[calendar]}`))
    if (stock === 0) continue
    expect(cells[0]?.includes('unlimited'), id).toBe(stock === -1)
    expect(cells[1], id).toMatch(
      { 'at once': /^at once/, later: /^598, issued/, 'by notice': /^598, tickets by pay notice/ }[issues as 'later'],
    )
    expect(cells[2], id).toMatch({ 'at once': /^at once/, 'after review': /^602/, never: /^607/ }[refunds as 'never'])
    expect(cells[3]?.startsWith(vouchers), id).toBe(true)
  }
  expect(readme.replace(/\s+/g, ' ')).toContain(
    `any of ${Object.keys((await partner.control('mistakes')).known).length} mistakes`,
  )
})
