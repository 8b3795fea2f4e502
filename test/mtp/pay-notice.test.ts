import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { showEntry } from '../../src/sandbox/portal/traffic/entry.ts'
import { listTraffic } from '../../src/sandbox/portal/traffic/list.ts'
import { trafficQuery } from '../../src/sandbox/portal/traffic/wire.ts'
import { MAX_ADDITIONAL } from '../../src/ticketing/orders/issue-tickets.ts'
import { showOrder } from '../../src/ticketing/orders/show-order.ts'
import { desk, newId, stands } from '../orders/desk.ts'
import { historyOf, waitingJobs } from '../orders/orders.ts'
import { ok, refusal, reset, status, worldWithSeller } from '../partner-calls/fake-seller.ts'
import { sendNotice } from '../sandbox/notices.ts'

const PATH = '/mtp/api/order/pay/notice'

const { world, seller, close } = await worldWithSeller()
afterAll(close)
const order = desk(world)

let orderId: bigint
beforeEach(async () => {
  orderId = newId()
  await order.create(orderId)
  seller.on('/order/pay', refusal(598, 'issuing'))
})

/** A pay notice as text: ids beyond 2^53 stay exact. */
const payNotice = (issueType: number | string, body: object = {}, top: object = {}): string =>
  JSON.stringify({
    partnerId: 7001,
    issueType,
    ...top,
    body: { orderId: '#', partnerOrderId: `P-${orderId}`, ...body },
  }).replace('"#"', String(orderId))
const issued = (vouchers: readonly string[] = ['a', 'b'], more: object = {}) =>
  payNotice(1, { voucherType: 1, vouchers, voucherPics: [], realNameType: 0, ...more })
const failed = (more: object = {}) => payNotice(2, {}, { code: 599, describe: 'no seats left', ...more })
const send = (body: string, path = PATH) => sendNotice(world, seller, { path, body })
const SUCCESS = { code: 200, describe: 'success', partnerId: '7001' }
const refused = (describe: unknown) => ({ code: 400, describe, partnerId: '7001' })

const shown = async () => {
  const { state, vouchers, last_code, last_describe } = (await showOrder(world.deps, orderId)).order
  return { state, codes: vouchers.map(({ voucher, quantity }) => `${voucher} ${quantity}`), last_code, last_describe }
}
/** The warnings of the only notice about the order. */
const warnings = async () => {
  const query = trafficQuery.parse({ direction: 'in', by: 'order', value: String(orderId) })
  const { lines } = await listTraffic(world.deps, 7001n, query)
  expect(lines).toMatchObject([{ kind: 'notice' }])
  return (await showEntry(world.deps, 7001n, { kind: 'notice', id: lines[0]?.id ?? '' })).warnings
}
const history = () => historyOf(world.pool, orderId)
const jobs = async () => (await waitingJobs(world.pool)).filter((job) => job.includes(String(orderId)))
const setState = (state: string) =>
  world.pool.query('update ticket_order set state = $2 where order_id = $1', [String(orderId), state])

describe('a pay notice that says issued', () => {
  it.each([
    ['one code per ticket', { voucherType: 1, vouchers: ['a', 'b'] }, ['a 1', 'b 1']],
    ['one code per order', { voucherType: 2, vouchers: ['all'] }, ['all 2']],
    ['no code', { voucherType: 0, vouchers: [], voucherPics: null }, []],
    [
      'codes next to documents',
      {
        voucherType: 1,
        realNameType: 1,
        vouchers: [],
        credentialList: [
          { credentialType: 0, credentialNo: '1', voucher: 'c1' },
          { credentialType: 1, credentialNo: '2', voucher: 'c2' },
        ],
      },
      ['c1 1', 'c2 1'],
    ],
    ['no voucherType', { vouchers: ['all'], requestTime: 1762, code: 0, describe: 'OK' }, ['all 2']],
  ])('completes a waiting order: %s', async (_kind, body, codes) => {
    await order.pay(orderId)
    expect(await send(payNotice(1, body))).toEqual(SUCCESS)
    expect(await shown()).toEqual({ state: 'paid', codes, last_code: 200, last_describe: null })
    expect(await jobs()).toEqual([])
  })

  it('is accepted under every prefix', async () => {
    await order.pay(orderId)
    expect(await send(issued(), `/rhone${PATH}`)).toEqual(SUCCESS)
    expect((await shown()).state).toBe('paid')
  })

  it('that is repeated, in the same or in other bytes, has no second effect', async () => {
    await order.pay(orderId)
    await send(issued())
    const before = await history()
    expect(await send(issued())).toEqual(SUCCESS)
    expect(await send(issued(['b', 'a']))).toEqual(SUCCESS)
    expect(await history()).toEqual(before)
  })

  it('that contradicts the decided outcome is refused, naming the contradiction', async () => {
    await order.pay(orderId)
    await send(issued())
    const before = await history()
    expect(await send(issued(['a', 'x']))).toEqual(refused(`voucher x is not of order ${orderId}`))
    expect(await send(failed())).toEqual(
      refused(`order ${orderId} is paid (tickets are issued); it cannot become pay_failed`),
    )
    expect(await history()).toEqual(before)
  })

  it('that overtakes the answer to order pay completes the order, and no late answer undoes that', async () => {
    for (const answer of [refusal(598), refusal(599), reset, ok({ voucherType: 1, vouchers: ['a', 'b'] })]) {
      orderId = newId()
      await order.create(orderId)
      seller.on('/order/pay', async () => {
        expect(await send(issued())).toEqual(SUCCESS)
        return answer
      })
      await order.pay(orderId)
      expect(await shown()).toMatchObject({ state: 'paid', codes: ['a 1', 'b 1'] })
      expect(await jobs()).toEqual([])
    }
  })

  it('completes an order whose payment had seemed not to have arrived', async () => {
    seller.on('/order/pay', reset)
    await order.pay(orderId)
    world.clock.advance(61)
    seller.on('/order/query', stands(orderId, 2))
    expect((await order.query(orderId)).order.state).toBe('created')
    expect(await send(issued())).toEqual(SUCCESS)
    expect(await shown()).toMatchObject({ state: 'paid', codes: ['a 1', 'b 1'] })
  })

  it('completes an order whose answer to order pay was lost', async () => {
    seller.on('/order/pay', reset)
    expect((await order.pay(orderId)).order.state).toBe('pay_unknown')
    expect(await send(issued())).toEqual(SUCCESS)
    expect(await shown()).toMatchObject({ state: 'paid', codes: ['a 1', 'b 1'] })
  })

  it('brings the codes of an order that an order query reported as issued without codes', async () => {
    await order.pay(orderId)
    seller.on('/order/query', stands(orderId, 4))
    expect((await order.query(orderId)).order).toMatchObject({ state: 'paid', vouchers: [] })
    expect(await send(issued())).toEqual(SUCCESS)
    expect(await shown()).toMatchObject({ state: 'paid', codes: ['a 1', 'b 1'] })
  })

  it('adds the codes missing from an answer to order pay that announced more', async () => {
    seller.on('/order/pay', ok({ voucherType: 1, vouchers: ['a'], asyReturnVoucher: true }))
    await order.pay(orderId)
    expect(await send(issued(['b']))).toEqual(SUCCESS)
    expect(await shown()).toMatchObject({ state: 'paid', codes: ['a 1', 'b 1'] })
  })

  it('and that more codes will follow leaves the order waiting', async () => {
    await order.pay(orderId)
    expect(await send(issued(['a'], { asyReturnVoucher: true }))).toEqual(SUCCESS)
    expect(await shown()).toMatchObject({ state: 'paying', codes: ['a 1'], last_code: 598 })
    expect(await jobs()).toEqual([`query-order query-order:${orderId}`])
    expect(await send(failed())).toEqual(refused(`order ${orderId} has voucher a; it cannot become pay_failed`))
    expect(await send(issued())).toEqual(SUCCESS)
    expect(await shown()).toMatchObject({ state: 'paid', codes: ['a 1', 'b 1'] })
  })

  it.each([
    [['a'], 1, /1 codes; order \d+ with 2 tickets needs 2 \(voucherType 1\)$/],
    [['a', 'b', 'c'], 1, /3 codes; order \d+ with 2 tickets needs 2 \(voucherType 1\)$/],
    [[], 1, /0 codes; order \d+ with 2 tickets needs 2 \(voucherType 1\)$/],
    [['a', 'b'], 2, /2 codes; order \d+ with 2 tickets needs 1 \(voucherType 2\)$/],
    [['a', 'b', 'c'], 0, /3 codes; order \d+ with 2 tickets needs at most 2$/],
  ])(
    'with codes %j for voucherType %i is refused, and the order goes on waiting',
    async (vouchers, voucherType, why) => {
      await order.pay(orderId)
      expect(await send(payNotice(1, { voucherType, vouchers }))).toEqual(refused(expect.stringMatching(why)))
      expect(await shown()).toMatchObject({ state: 'paying', codes: [] })
      expect(await jobs()).toEqual([`query-order query-order:${orderId}`])
    },
  )

  it.each(['creating', 'create_unknown', 'create_failed', 'created', 'closing', 'closed'])(
    'about an order that is %s is refused, naming both states',
    async (state) => {
      await setState(state)
      expect(await send(issued())).toEqual(
        refused(expect.stringMatching(`^order ${orderId} is ${state} \\(.+\\); it cannot become paid$`)),
      )
    },
  )

  it('after a failure still brings the tickets, until the order is closed', async () => {
    await order.pay(orderId)
    await send(failed())
    expect(await send(issued())).toEqual(SUCCESS)
    expect(await shown()).toMatchObject({ state: 'paid', codes: ['a 1', 'b 1'] })
    orderId = newId()
    await order.create(orderId)
    await order.pay(orderId)
    await send(failed())
    await order.close(orderId)
    const before = await history()
    expect(await send(issued())).toEqual(
      refused(expect.stringMatching(`^order ${orderId} is closed \\(.+\\); it cannot become paid$`)),
    )
    expect(await shown()).toMatchObject({ state: 'closed', codes: [] })
    expect(await history()).toEqual(before)
  })

  it('completes an order whose answer to order pay had one of its codes and no voucherType', async () => {
    seller.on('/order/pay', ok({ vouchers: ['a'], asyReturnVoucher: 'TRUE' }))
    await order.pay(orderId)
    expect(await shown()).toMatchObject({ state: 'paying', codes: ['a 1'] })
    expect(await send(issued())).toEqual(SUCCESS)
    expect(await shown()).toMatchObject({ state: 'paid', codes: ['a 1', 'b 1'] })
  })

  it('may bring codes missing from a final answer to order pay', async () => {
    seller.on('/order/pay', ok({ voucherType: 1, vouchers: ['a'], asyReturnVoucher: '0' }))
    await order.pay(orderId)
    expect(await shown()).toMatchObject({ state: 'paid', codes: ['a 1'] })
    expect(await send(issued())).toEqual(SUCCESS)
    expect(await shown()).toMatchObject({ state: 'paid', codes: ['a 1', 'b 1'] })
  })

  it('with an invalid document still brings the tickets', async () => {
    await order.pay(orderId)
    const credentialList = [{ credentialType: 9, credentialNo: '', voucher: 'a' }]
    expect(await send(issued(['a', 'b'], { credentialList }))).toEqual(SUCCESS)
    expect(await shown()).toMatchObject({ state: 'paid', codes: ['a 1', 'b 1'] })
  })

  it.each([
    ['pictures that are null', { voucherPics: [null, null] }, {}],
    ['pictures that are numbers', { voucherPics: [1, 2] }, {}],
    ['one text for all pictures', { voucherPics: 'https://x/a.png' }, {}],
    ['a realNameType that is a boolean', { realNameType: false }, {}],
    ['a realNameType that nobody knows', { realNameType: 2 }, {}],
    ['a text as code', { code: 'success' }, {}],
    ['a number as describe', { describe: 1 }, {}],
    ['a text as code at the top', {}, { code: 'OK' }],
    ['a list as describe at the top', {}, { describe: [] }],
  ])('with %s still brings the tickets, and Traffic shows a warning', async (_kind, body, top) => {
    await order.pay(orderId)
    expect(await send(payNotice(1, { voucherType: 1, vouchers: ['a', 'b'], ...body }, top))).toEqual(SUCCESS)
    expect(await shown()).toMatchObject({ state: 'paid', codes: ['a 1', 'b 1'] })
    expect(await warnings()).toEqual(['fields-left-out'])
  })

  it('with one of two pictures missing keeps the other with its code', async () => {
    await order.pay(orderId)
    await send(issued(['a', 'b'], { voucherPics: [null, 'https://x/b.png'] }))
    const { vouchers } = (await showOrder(world.deps, orderId)).order
    expect(vouchers).toMatchObject([{ voucher: 'a' }, { voucher: 'b', picture: 'https://x/b.png' }])
    expect(vouchers[0]?.picture ?? '').toBe('')
  })

  it('that follows the contract has no warning', async () => {
    await order.pay(orderId)
    await send(issued(['a', 'b'], { voucherPics: null, realNameType: '1', code: '', describe: null }))
    expect(await warnings()).toEqual([])
  })

  it('stores and shows the additional lists, up to a limit', async () => {
    await order.pay(orderId)
    const list = '[{"id":9007199254740993,"n":null},{"text":"x"}]'
    const body = issued(['a', 'b'], { voucherAdditionalList: '#v', orderAdditionalList: { single: true } })
    expect(await send(body.replace('"#v"', list))).toEqual(SUCCESS)
    expect((await showOrder(world.deps, orderId)).order).toMatchObject({
      voucher_additional: [{ id: 9007199254740993n, n: null }, { text: 'x' }],
      order_additional: [{ single: true }],
      additional_left_out: 0,
    })
    const many = Array.from({ length: 3 }, () => ({ text: 'y'.repeat(MAX_ADDITIONAL / 2) }))
    await send(issued(['a', 'b'], { voucherAdditionalList: many }))
    expect((await showOrder(world.deps, orderId)).order).toMatchObject({
      voucher_additional: many.slice(0, 1),
      order_additional: [],
      additional_left_out: 2,
    })
  })
})

describe('a pay notice that says failed', () => {
  it.each([
    [0, { voucherType: 1, vouchers: ['a', 'b'] }, 'body.vouchers names 2'],
    [2, { voucherType: 1, vouchers: ['a'] }, 'body.vouchers names 1'],
    ['0', { credentialList: [{ credentialType: 0, credentialNo: '1', voucher: 'c' }] }, 'body.credentialList names 1'],
  ])('but brings codes contradicts itself and is refused: issueType %s %j', async (issueType, tickets, named) => {
    await order.pay(orderId)
    const before = await history()
    expect(await send(payNotice(issueType, tickets))).toEqual(
      refused(`${named} codes, but issueType ${issueType} reports a failure`),
    )
    expect(await history()).toEqual(before)
    expect(await send(payNotice(1, { vouchers: ['a', 'b'] }))).toEqual(SUCCESS)
    expect((await shown()).state).toBe('paid')
  })

  it.each([
    ['code and describe at the top', () => failed(), 599, '599: no seats left'],
    ['both in the body', () => payNotice(2, { code: 501, describe: 'top up' }), 501, '501: top up'],
    ['issueType 0', () => payNotice(0, {}, { code: 200, describe: 'why' }), null, 'why'],
    ['nothing but the ids', () => payNotice('2'), null, ''],
  ])('fails a waiting order: %s', async (_form, body, last_code, last_describe) => {
    await order.pay(orderId)
    expect(await send(body())).toEqual(SUCCESS)
    expect(await shown()).toEqual({ state: 'pay_failed', codes: [], last_code, last_describe })
    expect(await jobs()).toEqual([])
    const before = await history()
    expect(await send(failed({ describe: 'told again' }))).toEqual(SUCCESS)
    expect(await history()).toEqual(before)
  })

  it('is accepted with documents whose codes are refunded or void, and with codes if the order has already failed', async () => {
    await order.pay(orderId)
    const credentialList = [2, 3].map((status) => ({ credentialType: 0, credentialNo: '1', voucher: 'c', status }))
    expect(await send(payNotice(2, { credentialList }))).toEqual(SUCCESS)
    expect((await shown()).state).toBe('pay_failed')
    expect(await send(payNotice(2, { vouchers: ['a', 'b'] }))).toEqual(SUCCESS)
    expect(await shown()).toMatchObject({ state: 'pay_failed', codes: [] })
  })

  it('does not decide an order that was paid again: an order query follows', async () => {
    await order.pay(orderId)
    seller.on('/order/query', stands(orderId, 6))
    expect((await order.query(orderId)).order.state).toBe('pay_failed')
    await order.pay(orderId)
    expect(await send(failed({ describe: 'of the first payment' }))).toEqual(SUCCESS)
    expect(await shown()).toMatchObject({ state: 'pay_unknown' })
    expect(await jobs()).toEqual([`query-order query-order:${orderId}`])
    expect(await send(issued())).toEqual(SUCCESS)
    expect(await shown()).toMatchObject({ state: 'paid', codes: ['a 1', 'b 1'] })
  })

  it.each([refusal(599), status(503)])('is not believed about an order that has a code: %#', async (answer) => {
    seller.on('/order/pay', async () => {
      await send(issued(['a'], { asyReturnVoucher: true }))
      return answer
    })
    expect((await order.pay(orderId)).order).toMatchObject({ state: 'pay_unknown', vouchers: [{ voucher: 'a' }] })
    seller.on('/order/query', stands(orderId, 6))
    expect(await order.query(orderId)).toMatchObject({
      order: { state: 'pay_unknown' },
      failure: { detail: 'body.orderStatus is 6; the order has voucher a' },
    })
  })

  it('leaves an order that can be paid again', async () => {
    await order.pay(orderId)
    await send(failed())
    seller.on('/order/pay', ok({ voucherType: 1, vouchers: ['a', 'b'] }))
    expect(await order.pay(orderId)).toMatchObject({ order: { state: 'paid', vouchers: [{}, {}] }, failure: null })
    expect(seller.calls.filter(({ path, body }) => path === '/order/pay' && body.orderId === orderId)).toHaveLength(2)
  })

  it('leaves an order that can be closed like one whose pay answer failed', async () => {
    await order.pay(orderId)
    await send(failed())
    expect(await order.close(orderId)).toMatchObject({ order: { state: 'closed' }, failure: null })
    expect(seller.calls.findLast(({ path }) => path === '/order/close')?.body).toEqual({ orderId, closeType: 3 })
    const before = await history()
    expect(await send(failed({ describe: 'late' }))).toEqual(SUCCESS)
    expect(await history()).toEqual(before)
    expect((await shown()).state).toBe('closed')
  })

  it('before an answer to order pay that brings the tickets does not discard them', async () => {
    seller.on('/order/pay', async () => {
      await send(failed())
      return ok({ voucherType: 1, vouchers: ['a', 'b'] })
    })
    expect((await order.pay(orderId)).order).toMatchObject({ state: 'paid', vouchers: [{}, {}] })
  })

  it('before an answer to order pay that only promises codes is believed', async () => {
    seller.on('/order/pay', async () => {
      await send(failed())
      return ok({ voucherType: 1, asyReturnVoucher: true })
    })
    expect((await order.pay(orderId)).order).toMatchObject({ state: 'pay_failed', vouchers: [] })
  })

  it.each(['creating', 'create_unknown', 'create_failed', 'consumed', 'refunded'])(
    'about an order that is %s is refused',
    async (state) => {
      await setState(state)
      expect(await send(failed())).toEqual(refused(expect.stringContaining(`it cannot become pay_failed`)))
    },
  )
})

describe('a pay notice that is refused', () => {
  it.each([
    ['an unknown issueType', () => payNotice(3), /^issueType must be one of|^issueType Invalid/],
    ['no issueType', () => payNotice(1).replace('"issueType":1,', ''), /^issueType is required$/],
    [
      'issued and failed at once',
      () => payNotice(1, { vouchers: ['a', 'b'] }, { code: 599 }),
      /^code 599 reports a failure, but issueType 1/,
    ],
    ['no partnerOrderId', () => payNotice(2, { partnerOrderId: '' }), /^body.partnerOrderId/],
    [
      "another order's partnerOrderId",
      () => payNotice(2, { partnerOrderId: 'P-x' }),
      /^partnerOrderId is P-x; that of order \d+ is P-/,
    ],
    ['an unknown order', () => payNotice(2).replace(String(orderId), '12345'), /^order 12345 does not exist$/],
    ['another partnerId', () => payNotice(2).replace('7001', '7002'), /^partnerId does not belong/],
    ['no JSON', () => 'issued', /^HTTP body: not JSON/],
  ])('is answered with code 400, never 300: %s', async (_what, body, why) => {
    await order.pay(orderId)
    const before = await history()
    expect(await send(body())).toEqual(refused(expect.stringMatching(why)))
    expect(await history()).toEqual(before)
    expect((await shown()).state).toBe('paying')
    const { rows } = await world.pool.query(
      `select answer from rejected_call where path = $1 order by received_at desc, call_id limit 1`,
      [PATH],
    )
    expect(JSON.parse(rows[0].answer).code).toBe(400)
  })

  it('with a wrong signature is told no more than any other call', async () => {
    const signing = { secret: 'wrong' }
    const answer = await sendNotice(world, seller, { path: PATH, body: issued(), signing })
    expect(answer).toEqual({ code: 300, describe: 'BA verification failed', partnerId: '7001' })
  })
})
