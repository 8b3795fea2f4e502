import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { pollOrder } from '../../src/ticketing/orders/poll-order.ts'
import { BY_COMMAND } from '../../src/ticketing/partner-calls/index.ts'
import { untilLocked } from '../locks.ts'
import { html, ok, refusal, reset, slowly, status, worldWithSeller } from '../partner-calls/fake-seller.ts'
import { desk, newId, stands } from './desk.ts'
import { historyOf, recordOf, waitingJobs } from './orders.ts'
import { reportConsumption } from './report-consumption.ts'

const { world, seller, close } = await worldWithSeller()
afterAll(close)
const order = desk(world)

const issued = (more: object = {}) =>
  ok({ voucherType: 1, vouchers: ['a', 'b'], voucherPics: ['https://x/a.png', ''], ...more })
let orderId: bigint
beforeEach(async () => {
  orderId = newId()
  await order.create(orderId)
  seller.calls.length = 0
  seller.on('/order/pay', issued())
})
const jobsOf = async () => (await waitingJobs(world.pool)).filter((job) => job.includes(String(orderId)))
const QUERY_JOB = () => [`query-order query-order:${orderId}`]

describe('payOrder', () => {
  it('stores the vouchers that the partner issues', async () => {
    const { order: paid, failure } = await order.pay(orderId)
    expect(failure).toBeNull()
    expect(paid).toMatchObject({
      state: 'paid',
      last_code: 200,
      vouchers: [
        { voucher: 'a', state: 'unused', quantity: 1, picture: 'https://x/a.png' },
        { voucher: 'b', state: 'unused', quantity: 1 },
      ],
    })
    expect(seller.calls[0]?.body).toEqual({ orderId, partnerOrderId: `P-${orderId}` })
    expect(await jobsOf()).toEqual([])
    expect((await historyOf(world.pool, orderId)).slice(2)).toEqual([
      expect.stringMatching(/^order \d+: state created→paying, last_code 200→null \(operator\)$/),
      expect.stringMatching(/^order \d+: state paying→paid, last_code null→200 \(call /),
      expect.stringMatching(/^voucher a: state null→unused, picture/),
      expect.stringMatching(/^voucher b: state null→unused/),
    ])
  })

  it.each([
    [{ voucherType: 2, vouchers: ['all'] }, [{ voucher: 'all', quantity: 2 }]],
    [{ voucherType: 0, vouchers: null, voucherPics: null }, []],
    [
      { vouchers: ['a'], credentialList: [{ credentialType: 0, credentialNo: '1', voucher: 'of-1' }] },
      [{ voucher: 'a' }, { voucher: 'of-1' }],
    ],
  ])('accepts every kind of voucher: %j', async (answer, vouchers) => {
    seller.on('/order/pay', issued(answer))
    expect((await order.pay(orderId)).order).toMatchObject({ state: 'paid', vouchers })
  })

  it.each([
    { voucherPics: [null, null] },
    { voucherPics: [1, 2] },
    { voucherPics: 'https://x/a.png' },
    { voucherPics: {} },
    { realNameType: false },
    { realNameType: 2 },
  ])('issues the tickets despite a malformed optional field: %j', async (more) => {
    seller.on('/order/pay', issued(more))
    const { order: paid, failure } = await order.pay(orderId)
    expect(failure).toBeNull()
    expect(paid).toMatchObject({ state: 'paid', vouchers: [{ voucher: 'a' }, { voucher: 'b' }] })
  })

  it.each([1, true, ['ok']])('issues the tickets even if describe is %j', async (describe) => {
    seller.on('/order/pay', { ...issued({ voucherType: 2, vouchers: ['q'] }), describe })
    expect((await order.pay(orderId)).order).toMatchObject({ state: 'paid', vouchers: [{ voucher: 'q' }] })
  })

  const needed = (codes: number, wanted: string) =>
    `body.vouchers and body.credentialList: ${codes} codes; order ${orderId} with 2 tickets needs ${wanted}`
  it.each([
    [1, ['a', 'b', 'c'], ['a', 'b'], '2 (voucherType 1)'],
    [1, ['a', 'a'], ['a'], '2 (voucherType 1)'],
    [1, [], [], '2 (voucherType 1)'],
    [2, ['q', 'r'], ['q'], '1 (voucherType 2)'],
    [0, ['a', 'b', 'c'], ['a', 'b'], 'at most 2'],
  ])(
    'for voucherType %i with codes %j keeps %j, and the operator sees the contradiction',
    async (voucherType, vouchers, kept, wanted) => {
      seller.on('/order/pay', issued({ voucherType, vouchers }))
      const { order: paid, failure } = await order.pay(orderId)
      expect(failure).toBeNull()
      expect(paid.vouchers.map(({ voucher }) => voucher)).toEqual(kept)
      expect(paid).toMatchObject({ state: 'paid', contradiction: needed(new Set(vouchers).size, wanted) })
    },
  )

  it('keeps no more codes from a query than tickets, and shows a contradiction while the numbers differ', async () => {
    const list = (...codes: string[]) =>
      codes.map((voucher) => ({ voucher, voucherInvalidTime: '2026-07-01 00:00:00', quantity: 1, status: 0 }))
    const queried = async (...codes: string[]) => {
      seller.on('/order/query', stands(orderId, 4, { voucherType: 1, voucherList: list(...codes) }))
      const { order: now } = await order.query(orderId)
      return [now.vouchers.map(({ voucher }) => voucher), now.contradiction]
    }
    seller.on('/order/pay', issued({ vouchers: [] }))
    await order.pay(orderId)
    expect(await queried('n1')).toEqual([['n1'], 'body.voucherList is 1; the order has 2'])
    expect(await queried('n1', 'n2', 'n3')).toEqual([['n1', 'n2'], 'body.voucherList is 3; the order has 2'])
    expect(await queried('n1', 'n2')).toEqual([['n1', 'n2'], null])
  })

  it('many times at once calls the partner once', async () => {
    seller.on('/order/pay', slowly(issued()))
    await Promise.all(Array.from({ length: 8 }, () => order.pay(orderId)))
    expect(seller.paths()).toEqual(['/order/pay'])
    expect(await order.pay(orderId)).toMatchObject({ order: { state: 'paid' }, failure: null })
    expect(seller.calls).toHaveLength(1)
  })

  it('leaves the order paying if the partner issues later (598), until an order query brings the outcome', async () => {
    seller.on('/order/pay', refusal(598, 'issuing'))
    expect(await order.pay(orderId)).toMatchObject({ order: { state: 'paying', last_code: 598 }, failure: null })
    expect(await order.pay(orderId)).toMatchObject({ order: { state: 'paying' } })
    expect(await jobsOf()).toEqual(QUERY_JOB())
    for (const orderStatus of [5, 2]) {
      seller.on('/order/query', stands(orderId, orderStatus))
      expect(await order.query(orderId)).toMatchObject({ order: { state: 'paying' }, failure: null })
    }
    const voucherList = [{ voucher: 'q', voucherInvalidTime: '2026-07-01 00:00:00', quantity: 2, status: 0 }]
    seller.on('/order/query', stands(orderId, 4, { voucherList }))
    expect((await order.query(orderId)).order).toMatchObject({
      state: 'paid',
      vouchers: [{ voucher: 'q', state: 'unused', quantity: 2, invalid_at: '2026-07-01 00:00:00' }],
    })
    expect(await jobsOf()).toEqual([])
    expect(seller.paths().filter((path) => path === '/order/pay')).toHaveLength(1)
  })

  it('accepts an empty record with 598', async () => {
    seller.on('/order/pay', { ...refusal(598, 'issuing'), body: { orderId: 0, partnerOrderId: '' } })
    expect(await order.pay(orderId)).toMatchObject({ order: { state: 'paying', last_code: 598 }, failure: null })
  })

  it('explains that the id was rounded if the answer repeats it as a double', async () => {
    seller.on('/order/pay', issued({ orderId: BigInt(Number(orderId)) }))
    const { failure } = await order.pay(orderId)
    expect(String(failure?.detail)).toMatch(
      /^body\.orderId is \d+; the call was about \d+: it was rounded, so the partner reads/,
    )
  })

  it('treats a refusal that brings codes as unknown until the partner stops contradicting itself', async () => {
    seller.on('/order/pay', { ...refusal(599, 'no'), body: { vouchers: ['a', 'b'] } })
    expect(await order.pay(orderId)).toMatchObject({
      order: { state: 'pay_unknown' },
      failure: { kind: 'schema', problems: [{ path: 'body.vouchers' }] },
    })
    const voucherList = [{ voucher: 'a', voucherInvalidTime: '2026-07-01 00:00:00', quantity: 1, status: 0 }]
    for (const orderStatus of [6, 3]) {
      seller.on('/order/query', stands(orderId, orderStatus, { voucherList }))
      const { order: queried, failure } = await order.query(orderId)
      const codes = `body.voucherList names 1 codes, but orderStatus ${orderStatus} reports a failure`
      expect(failure?.detail).toEqual(codes)
      const status = orderStatus === 3 ? '; body.orderStatus is 3; the order is pay_unknown' : ''
      expect(queried).toMatchObject({ state: 'pay_unknown', contradiction: `${codes}${status}` })
    }
    seller.on('/order/query', stands(orderId, 4, { voucherList }))
    expect((await order.query(orderId)).order).toMatchObject({ state: 'paid', contradiction: null })
  })

  it.each([
    ['empty vouchers', { vouchers: ['', null, ' '] }],
    ['documents without a code', { credentialList: [{ credentialType: 0, credentialNo: '1', voucher: '' }] }],
    ['codes that are void', { credentialList: [{ credentialType: 0, credentialNo: '1', voucher: 'a', status: 3 }] }],
  ])('treats a refusal with %s as a refusal', async (_what, body) => {
    seller.on('/order/pay', { ...refusal(501, 'top up'), body })
    expect((await order.pay(orderId)).order).toMatchObject({ state: 'pay_failed', last_code: 501 })
  })

  it('treats a refusal with codes in credentialList as unknown', async () => {
    const credentialList = [{ credentialType: 0, credentialNo: '1', voucher: 'a' }]
    seller.on('/order/pay', { ...refusal(501, 'top up'), body: { credentialList } })
    expect(await order.pay(orderId)).toMatchObject({
      order: { state: 'pay_unknown' },
      failure: { problems: [{ path: 'body.credentialList' }] },
    })
  })

  it('has failed if an order query reports a failure with refunded or void codes only', async () => {
    for (const status of [2, 3, '3']) {
      orderId = newId()
      await order.create(orderId)
      seller.on('/order/pay', refusal(598))
      await order.pay(orderId)
      const codes = ['a', 'b'].map((voucher) => ({ voucher, voucherInvalidTime: '2026-07-01 00:00:00', quantity: 1 }))
      const voucherList = codes.map((code) => ({ ...code, status }))
      seller.on('/order/query', stands(orderId, 6, { voucherList }))
      expect((await order.query(orderId)).order).toMatchObject({ state: 'pay_failed', contradiction: null })
      await order.close(orderId)
    }
  })

  it('ends as pay_failed with the reason when the partner refuses, and can be repeated or closed', async () => {
    seller.on('/order/pay', refusal(501, 'top up'), issued())
    expect(await order.pay(orderId)).toMatchObject({
      order: { state: 'pay_failed', last_code: 501, last_describe: '501 (balance too low): top up' },
      failure: { kind: 'partner-code', code: 501 },
    })
    expect(await jobsOf()).toEqual([])
    expect(await order.pay(orderId)).toMatchObject({ order: { state: 'paid' }, failure: null })
    orderId = newId()
    await order.create(orderId)
    seller.on('/order/pay', refusal(501, 'top up'))
    await order.pay(orderId)
    expect(await order.close(orderId)).toMatchObject({ order: { state: 'closed' }, failure: null })
    expect(seller.calls.at(-1)).toMatchObject({ path: '/order/close', body: { orderId, closeType: 3 } })
    await expect(order.pay(orderId)).rejects.toMatchObject({ describe: expect.stringContaining('is closed') })
  })

  it.each([
    ['broken', reset],
    ['http-status', status(500)],
    ['json', html],
    ['schema', ok({ voucherType: 7 })],
  ])('ends as pay_unknown when the answer is lost (%s), and never pays again without asking', async (kind, lost) => {
    seller.on('/order/pay', lost, issued())
    expect(await order.pay(orderId)).toMatchObject({ order: { state: 'pay_unknown' }, failure: { kind } })
    expect(await jobsOf()).toEqual(QUERY_JOB())
    seller.on('/order/query', status(500), refusal(301), stands(orderId, 4, { usedQuantity: 1 }))
    expect(await order.pay(orderId)).toMatchObject({
      order: { state: 'pay_unknown' },
      failure: { kind: 'http-status' },
    })
    expect(await order.pay(orderId)).toMatchObject({ order: { state: 'pay_unknown' }, failure: { code: 301 } })
    expect(await order.pay(orderId)).toMatchObject({ order: { state: 'paid', used_quantity: 1 }, failure: null })
    expect(seller.paths()).toEqual(['/order/pay', '/order/query', '/order/query', '/order/query'])
  })

  it.each([
    [2, 'paid', 2],
    [6, 'paid', 2],
    [5, 'paying', 1],
  ])(
    'after a lost answer, with orderStatus %i from the partner, is %s after %i payments',
    async (orderStatus, state, payments) => {
      seller.on('/order/pay', reset, issued())
      await order.pay(orderId)
      seller.on('/order/query', stands(orderId, orderStatus))
      world.clock.advance(61)
      expect((await order.pay(orderId)).order.state).toBe(state)
      expect(seller.paths().filter((path) => path === '/order/pay')).toHaveLength(payments)
    },
  )

  it('does not pay again while a slow partner may still be issuing an order that it reports as created', async () => {
    seller.on('/order/pay', reset, issued())
    await order.pay(orderId)
    seller.on('/order/query', stands(orderId, 2), stands(orderId, 4))
    expect((await order.pay(orderId)).order.state).toBe('pay_unknown')
    expect((await order.pay(orderId)).order.state).toBe('paid')
    expect(seller.paths()).toEqual(['/order/pay', '/order/query', '/order/query'])
  })

  it('interrupted by a crash asks the partner once the call must have timed out', async () => {
    await world.pool.query("update ticket_order set state = 'paying', last_code = null where order_id = $1", [
      String(orderId),
    ])
    seller.on('/order/query', stands(orderId, 4))
    expect(await order.pay(orderId)).toMatchObject({ order: { state: 'paying' }, failure: null })
    expect(seller.calls).toEqual([])
    world.clock.advance(21)
    expect((await order.pay(orderId)).order.state).toBe('paid')
    expect(seller.paths()).toEqual(['/order/query'])
  })

  it('leaves the order created if the partner was not reached, and pays again without asking', async () => {
    await world.pool.query("update partner set base_url = 'http://127.0.0.1:1'")
    expect(await order.pay(orderId)).toMatchObject({ order: { state: 'created' }, failure: { kind: 'connect' } })
    expect(await jobsOf()).toEqual([])
    await world.pool.query('update partner set base_url = $1', [seller.url])
    expect(await order.pay(orderId)).toMatchObject({ order: { state: 'paid' }, failure: null })
    expect(seller.paths()).toEqual(['/order/pay'])
  })

  it('overtaken by a notice keeps what the notice said, and still stores the vouchers', async () => {
    seller.on('/order/pay', async () => {
      const vouchers = [{ voucher: 'a', quantity: 1, status: 1 as const, invalidAt: '2026-07-01 00:00:00' }]
      const counts = { quantity: 2, usedQuantity: 1, refundedQuantity: 1 }
      const report = { orderId, partnerOrderId: `P-${orderId}`, ...counts, vouchers }
      await reportConsumption(world.deps, 7001n, report)
      return issued()
    })
    await order.pay(orderId)
    expect(await recordOf(world.pool, orderId)).toMatchObject({
      state: 'consumed',
      vouchers: { a: 'used', b: 'unused' },
    })
    expect(await jobsOf()).toEqual([])
  })

  it('ignores a refusal that arrives after an order query has settled the payment', async () => {
    seller.on('/order/pay', async () => {
      world.clock.advance(21)
      seller.on('/order/query', stands(orderId, 4))
      await order.query(orderId)
      return refusal(599)
    })
    expect((await order.pay(orderId)).order.state).toBe('paid')
  })

  it('is not decided by an order query that began before it', async () => {
    seller.on('/order/pay', reset)
    await order.pay(orderId)
    world.clock.advance(61)
    let first = true
    seller.on('/order/query', async () => {
      if (!first) return stands(orderId, 2)
      first = false
      await order.pay(orderId)
      return stands(orderId, 2)
    })
    await order.query(orderId)
    expect((await recordOf(world.pool, orderId)).state).toBe('pay_unknown')
    expect(seller.paths()).toEqual(['/order/pay', '/order/query', '/order/query', '/order/pay'])
  })

  it.each(['create_failed', 'closed', 'closing'])('refuses an order that is %s, naming the state', async (state) => {
    await world.pool.query('update ticket_order set state = $2 where order_id = $1', [String(orderId), state])
    await expect(order.pay(orderId)).rejects.toMatchObject({
      describe: expect.stringMatching(`^order ${orderId} is ${state} \\(.*\\); it cannot become paying$`),
    })
    expect(seller.calls).toEqual([])
  })
})

describe('queryOrder', () => {
  it('updates tickets and vouchers, and never lowers a value', async () => {
    await order.pay(orderId)
    const voucher = (name: string, state: number) => ({
      voucher: name,
      voucherInvalidTime: '2026-07-01 00:00:00',
      quantity: 1,
      status: state,
    })
    seller.on('/order/query', stands(orderId, 4, { usedQuantity: 1, voucherList: [voucher('a', 1), voucher('b', 0)] }))
    await order.query(orderId)
    seller.on(
      '/order/query',
      stands(orderId, 4, { refundedQuantity: 1, voucherList: [voucher('a', 0), voucher('b', 2)] }),
    )
    await order.query(orderId)
    expect(await recordOf(world.pool, orderId)).toMatchObject({
      state: 'consumed',
      used: 1,
      refunded: 1,
      vouchers: { a: 'used', b: 'refunded' },
    })
  })

  it('treats a voucher listed twice as one, in the furthest state', async () => {
    seller.on('/order/pay', issued({ vouchers: ['a'] }))
    await order.pay(orderId)
    const twice = [0, 1, 0].map((status) => ({
      voucher: 'twice',
      voucherInvalidTime: '2026-07-01 00:00:00',
      quantity: 1,
      status,
    }))
    seller.on('/order/query', stands(orderId, 4, { voucherList: twice }))
    expect(await order.query(orderId)).toMatchObject({ order: { state: 'paid' }, failure: null })
    expect(await recordOf(world.pool, orderId)).toMatchObject({ vouchers: { twice: 'used' } })
  })

  it.each([
    [{ orderQuantity: 3 }, 'body.orderQuantity is 3; the order has 2'],
    [{ usedQuantity: 3 }, 'body makes 3 used and 0 refunded, of 2'],
  ])('takes nothing from an impossible answer: %j', async (wrong, detail) => {
    await order.pay(orderId)
    seller.on('/order/query', stands(orderId, 4, wrong))
    expect(await order.query(orderId)).toMatchObject({
      order: { state: 'paid', used_quantity: 0 },
      failure: { kind: 'schema', detail },
    })
  })

  it('finds the tickets of a payment that had seemed not to have arrived', async () => {
    seller.on('/order/pay', reset)
    await order.pay(orderId)
    world.clock.advance(61)
    seller.on('/order/query', stands(orderId, 2), stands(orderId, 4))
    expect((await order.query(orderId)).order.state).toBe('created')
    expect((await order.query(orderId)).order.state).toBe('paid')
  })

  it.each([
    ['create_failed', 4],
    ['created', 4],
    ['created', 5],
    ['created', 3],
    ['pay_failed', 3],
    ['closing', 5],
    ['closed', 4],
  ])('shows the contradiction if an order that is %s has orderStatus %i at the partner', async (state, status) => {
    await world.pool.query('update ticket_order set state = $1 where order_id = $2', [state, String(orderId)])
    seller.on('/order/query', stands(orderId, status))
    const { order: shown } = await order.query(orderId)
    expect(shown).toMatchObject({ state, contradiction: `body.orderStatus is ${status}; the order is ${state}` })
  })

  it('shows the contradiction if the partner reports a code as used that was refunded', async () => {
    await order.pay(orderId)
    await order.refund(orderId, `r-${orderId}`, { vouchers: ['a'] })
    const code = { voucher: 'a', quantity: 1, status: 1, voucherInvalidTime: '2026-12-31 23:59:59' }
    seller.on('/order/query', stands(orderId, 4, { usedQuantity: 1, refundedQuantity: 1, voucherList: [code] }))
    const { order: shown } = await order.query(orderId)
    expect(shown.contradiction).toEqual('body.voucherList names voucher a as used; it is refunded')
    seller.on('/order/query', stands(orderId, 4, { usedQuantity: 1, refundedQuantity: 1 }))
    expect((await order.query(orderId)).order.contradiction).toBeNull()
  })

  it('does not believe that an order is paid if the platform has not paid it', async () => {
    seller.on('/order/query', stands(orderId, 4, { usedQuantity: 1 }))
    expect(await order.query(orderId)).toMatchObject({ order: { state: 'created', used_quantity: 0 }, failure: null })
  })
})

describe('closeOrder', () => {
  it.each([
    ['created', 1],
    ['create_failed', 2],
    ['pay_failed', 3],
  ])('closes an order that is %s with closeType %i, once', async (state, closeType) => {
    await world.pool.query('update ticket_order set state = $2 where order_id = $1', [String(orderId), state])
    expect(await order.close(orderId)).toMatchObject({ order: { state: 'closed' }, failure: null })
    expect(await order.close(orderId)).toMatchObject({ order: { state: 'closed' }, failure: null })
    expect(seller.calls.map(({ path, body }) => [path, body])).toEqual([['/order/close', { orderId, closeType }]])
  })

  it('leaves the order closing when the answer is lost, and is safe to repeat', async () => {
    seller.on('/order/close', reset, ok({}))
    expect(await order.close(orderId)).toMatchObject({ order: { state: 'closing' }, failure: { kind: 'broken' } })
    await expect(order.pay(orderId)).rejects.toMatchObject({ describe: expect.stringContaining('is closing') })
    expect(await order.close(orderId)).toMatchObject({ order: { state: 'closed' }, failure: null })
    expect(seller.calls.map(({ body }) => body.closeType)).toEqual([1, 1])
  })

  it('leaves the order closing if an earlier call may have arrived while it waited for the order', async () => {
    await world.pool.query("update partner set base_url = 'http://127.0.0.1:1'")
    const held = await world.pool.connect()
    await held.query('begin')
    await held.query('select from ticket_order where order_id = $1 for update', [String(orderId)])
    const closed = order.close(orderId)
    await untilLocked(world.pool)
    // Meanwhile another request has begun to close it, and its call is on its way.
    await held.query("update ticket_order set state = 'closing', close_type = 1 where order_id = $1", [String(orderId)])
    await held.query('commit')
    held.release()
    expect(await closed).toMatchObject({ order: { state: 'closing' }, failure: { kind: 'connect' } })
    await world.pool.query('update partner set base_url = $1', [seller.url])
  })

  it('is repeated by a job when the answer was lost', async () => {
    seller.on('/order/close', reset, ok({}))
    await order.close(orderId)
    expect(await jobsOf()).toEqual(QUERY_JOB())
    await pollOrder(world.deps, orderId, { asked: 0, about: 'order' }, BY_COMMAND)
    expect((await recordOf(world.pool, orderId)).state).toBe('closed')
    expect(await jobsOf()).toEqual([])
  })

  it('keeps the order closing after a lost answer, even if a later attempt cannot be sent', async () => {
    seller.on('/order/close', reset)
    await order.close(orderId)
    await world.pool.query("update partner set base_url = 'http://127.0.0.1:1'")
    const again = await order.close(orderId)
    await world.pool.query('update partner set base_url = $1', [seller.url])
    expect(again).toMatchObject({ order: { state: 'closing' }, failure: { kind: 'connect' } })
  })

  it('restores the previous state if the partner refuses or was not reached', async () => {
    seller.on('/order/close', refusal(300, 'too late'), ok({}))
    expect(await order.close(orderId)).toMatchObject({ order: { state: 'created' }, failure: { code: 300 } })
    await world.pool.query("update partner set base_url = 'http://127.0.0.1:1'")
    expect(await order.close(orderId)).toMatchObject({ order: { state: 'created' }, failure: { kind: 'connect' } })
    await world.pool.query('update partner set base_url = $1', [seller.url])
  })

  it('after a lost pay answer queries first, and does not close a paid order', async () => {
    seller.on('/order/pay', reset)
    await order.pay(orderId)
    seller.on('/order/query', stands(orderId, 4))
    await expect(order.close(orderId)).rejects.toMatchObject({
      describe: expect.stringContaining('it cannot become closing'),
    })
    expect(seller.paths()).not.toContain('/order/close')
  })
})
