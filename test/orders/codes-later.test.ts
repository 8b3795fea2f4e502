import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { actionOf } from '../../src/operations/actions/index.ts'
import { textOf } from '../../src/operations/cli/action-text.ts'
import { pollOrder } from '../../src/ticketing/orders/poll-order.ts'
import type { ReportedVoucher } from '../../src/ticketing/orders/quantities.ts'
import { ok, refusal, reset, worldWithSeller } from '../partner-calls/fake-seller.ts'
import { desk, newId, stands } from './desk.ts'
import { recordOf, waitingJobs } from './orders.ts'
import { reportConsumption } from './report-consumption.ts'

/** Codes next to the identity documents of real-name orders, and codes that arrive after the answer to order pay. */

const { world, seller, close } = await worldWithSeller()
afterAll(close)
const order = desk(world)

let orderId: bigint
beforeEach(async () => {
  orderId = newId()
  await order.create(orderId)
})

const person = (voucher: string, more: object = {}) => ({
  credentialType: 0,
  credentialNo: `id-${voucher}`,
  voucher,
  ...more,
})
const unused = (voucher: string): ReportedVoucher => ({ voucher, quantity: 1, status: 0 })
const consume = (vouchers: readonly ReportedVoucher[], usedQuantity = 0) =>
  reportConsumption(world.deps, 7001n, {
    orderId,
    partnerOrderId: `P-${orderId}`,
    quantity: 2,
    usedQuantity,
    refundedQuantity: 0,
    vouchers,
  })
const codesOf = async () => (await order.query(orderId)).order.vouchers.map(({ voucher }) => voucher)
const jobs = async () => (await waitingJobs(world.pool)).filter((job) => job.includes(String(orderId)))

describe('codes in credentialList', () => {
  it.each([
    [{ voucherType: 1, realNameType: 1, credentialList: [person('a'), person('b')] }, ['a 1', 'b 1']],
    [{ voucherType: 0, realNameType: 1, credentialList: [person('a'), person('b')] }, ['a 1', 'b 1']],
    [{ voucherType: 2, realNameType: 1, credentialList: [person('a'), person('a')] }, ['a 2']],
    [{ voucherType: 1, vouchers: ['a', 'b'], credentialList: [person('a'), person('b')] }, ['a 1', 'b 1']],
  ])('of a pay answer become vouchers: %j', async (answer, codes) => {
    seller.on('/order/pay', ok(answer))
    const { order: paid } = await order.pay(orderId)
    expect([paid.state, paid.vouchers.map(({ voucher, quantity }) => `${voucher} ${quantity}`)]).toEqual([
      'paid',
      codes,
    ])
  })

  it('of an order query become vouchers, each with its state', async () => {
    seller.on('/order/pay', refusal(598, 'issuing'))
    await order.pay(orderId)
    const credentialList = [person('a'), person('b', { status: 1 })]
    seller.on('/order/query', stands(orderId, 4, { voucherType: 1, usedQuantity: 1, credentialList }))
    expect((await order.query(orderId)).order).toMatchObject({
      state: 'paid',
      vouchers: [
        { voucher: 'a', state: 'unused', quantity: 1 },
        { voucher: 'b', state: 'used', quantity: 1 },
      ],
    })
  })

  it('yield to voucherList, which gives the state of a code for several people', async () => {
    seller.on('/order/pay', ok({ voucherType: 2, vouchers: ['all'] }))
    await order.pay(orderId)
    const all = { voucher: 'all', voucherInvalidTime: '2026-07-01 00:00:00', quantity: 2, status: 0 }
    const credentialList = [person('all', { status: 1 }), person('all', { status: 0 })]
    seller.on('/order/query', stands(orderId, 4, { usedQuantity: 1, voucherList: [all], credentialList }))
    expect((await order.query(orderId)).order.vouchers).toMatchObject([{ voucher: 'all', state: 'unused' }])
    seller.on('/order/query', stands(orderId, 4, { usedQuantity: 1, credentialList }))
    expect((await order.query(orderId)).order.vouchers).toMatchObject([{ voucher: 'all', state: 'unused' }])
  })
})

describe('an order without codes (voucherType 0)', () => {
  const query = () => seller.on('/order/query', stands(orderId, 4, { voucherType: 0 }))
  it.each([
    ['200', () => seller.on('/order/pay', ok({ voucherType: 0, vouchers: [] }))],
    ['598', () => seller.on('/order/pay', refusal(598, 'issuing'))],
  ])('accepts codes from a consumption notice after pay code %s', async (_code, answers) => {
    answers()
    query()
    await order.pay(orderId)
    expect((await order.query(orderId)).order).toMatchObject({ state: 'paid', vouchers: [] })
    await consume([unused('a')])
    await consume([{ ...unused('a'), status: 1 }, unused('b')], 1)
    expect((await order.query(orderId)).order.vouchers).toMatchObject([
      { voucher: 'a', state: 'used' },
      { voucher: 'b', state: 'unused' },
    ])
    await expect(consume([unused('c')], 1)).rejects.toMatchObject({ describe: `voucher c is not of order ${orderId}` })
    expect(await codesOf()).toEqual(['a', 'b'])
  })

  it('accepts no more codes than it has tickets', async () => {
    seller.on('/order/pay', ok({ voucherType: 0 }))
    query()
    await order.pay(orderId)
    await expect(consume([unused('a'), unused('b'), unused('c')])).rejects.toMatchObject({
      describe: `voucher c is one too many: order ${orderId} has 2 tickets`,
    })
    expect(await codesOf()).toEqual([])
  })

  it('refuses a foreign code once credentialList has brought one', async () => {
    seller.on('/order/pay', ok({ voucherType: 0, credentialList: [person('a')] }))
    await order.pay(orderId)
    await expect(consume([unused('b')])).rejects.toMatchObject({ describe: `voucher b is not of order ${orderId}` })
  })
})

it('codes whose answer was lost are asked for, although a consumption notice has decided the order', async () => {
  seller.on('/order/pay', reset)
  await order.pay(orderId)
  await reportConsumption(world.deps, 7001n, {
    ...{ orderId, partnerOrderId: `P-${orderId}`, quantity: 2, usedQuantity: 0, refundedQuantity: 1 },
  })
  const poll = () => pollOrder(world.deps, orderId, { asked: 0, about: 'order' }, { kind: 'schedule', ref: '1' })
  seller.on('/order/query', refusal(302, 'busy'))
  expect(await poll()).toMatchObject({ failure: expect.stringMatching(/^partner-code: 302/), givenUp: null })
  const code = (voucher: string, status: number) => ({
    ...{ voucher, status, quantity: 1, voucherInvalidTime: '2026-07-01 00:00:00' },
  })
  const voucherList = [code('a', 2), code('b', 0)]
  seller.on('/order/query', stands(orderId, 4, { voucherType: 1, refundedQuantity: 1, voucherList }))
  expect(await poll()).toMatchObject({ givenUp: null })
  expect((await recordOf(world.pool, orderId)).vouchers).toEqual({ a: 'refunded', b: 'unused' })
  seller.calls.length = 0
  await poll()
  expect(seller.calls, 'nothing is missing any more').toEqual([])
})

it('codes are asked for until the partner has issued them, although a consumption notice has decided the order', async () => {
  seller.on('/order/pay', refusal(598, 'issuing'))
  await order.pay(orderId)
  await consume([], 1)
  const poll = async () => {
    const { givenUp } = await pollOrder(
      world.deps,
      orderId,
      { asked: 0, about: 'order' },
      { kind: 'schedule', ref: '1' },
    )
    return { givenUp, jobs: await jobs() }
  }
  await world.pool.query('delete from graphile_worker._private_jobs')
  seller.on('/order/query', stands(orderId, 5))
  expect(await poll()).toEqual({ givenUp: null, jobs: [`query-order query-order:${orderId}`] })
  world.clock.advance(86_400)
  await world.pool.query('delete from graphile_worker._private_jobs')
  expect(await poll()).toEqual({ givenUp: `order ${orderId} has been paid without codes for a day`, jobs: [] })
  seller.on('/order/query', stands(orderId, 4, { voucherType: 0, usedQuantity: 1 }))
  expect(await poll(), 'it issues no codes').toEqual({ givenUp: null, jobs: [] })
  seller.calls.length = 0
  world.clock.advance(-86_400)
})

describe('the additional lists of answers', () => {
  it('are stored, each replacing the one before, and shown with the order', async () => {
    const additional = (name: string) => ({ voucherAdditionalList: [{ name }], orderAdditionalList: [name, null] })
    const shown = (name: string) => ({ voucher_additional: [{ name }], order_additional: [name, null] })
    seller.on('/order/pay', ok({ voucherType: 0, ...additional('paid') }))
    expect((await order.pay(orderId)).order).toMatchObject(shown('paid'))
    seller.on('/order/query', stands(orderId, 4), stands(orderId, 4, additional('asked')))
    expect((await order.query(orderId)).order).toMatchObject(shown('paid'))
    const answer = await order.query(orderId)
    expect(answer.order).toMatchObject(shown('asked'))
    const text = textOf(actionOf('POST /orders/:order_id/pay'))({ ...answer })
    expect(text).toMatch(/voucher_additional\n\[\n {2}\{\n {4}"name": "asked"/)
  })

  it.each([null, '', 'text', 5, { one: 1 }, []])(
    'never make the payment fail, whatever they contain: %j',
    async (list) => {
      seller.on('/order/pay', ok({ voucherType: 0, voucherAdditionalList: list }))
      expect(await order.pay(orderId)).toMatchObject({ order: { state: 'paid' }, failure: null })
    },
  )
})

describe('asyReturnVoucher in an answer with code 200', () => {
  it.each([
    [{ voucherType: 1, asyReturnVoucher: true }],
    [{ asyReturnVoucher: 'true', vouchers: [], voucherType: null }],
  ])('makes the order wait as after 598: %j', async (answer) => {
    seller.on('/order/pay', ok(answer))
    expect(await order.pay(orderId)).toMatchObject({
      order: { state: 'paying', last_code: 598, vouchers: [] },
      failure: null,
    })
    expect(await jobs()).toEqual([`query-order query-order:${orderId}`])
    expect(await order.pay(orderId)).toMatchObject({ order: { state: 'paying' } })
    seller.on('/order/query', stands(orderId, 4, { credentialList: [person('a'), person('b')] }))
    expect(await codesOf()).toEqual(['a', 'b'])
    expect(await jobs()).toEqual([])
  })

  it('keeps the codes that came with it, and waits for the others', async () => {
    seller.on('/order/pay', ok({ voucherType: 1, vouchers: ['a'], asyReturnVoucher: true }))
    expect((await order.pay(orderId)).order).toMatchObject({ state: 'paying', vouchers: [{ voucher: 'a' }] })
  })

  it('is ignored if all codes are there, or if it is false', async () => {
    seller.on('/order/pay', ok({ voucherType: 1, vouchers: ['a', 'b'], asyReturnVoucher: true }))
    expect((await order.pay(orderId)).order.state).toBe('paid')
    orderId = newId()
    await order.create(orderId)
    seller.on('/order/pay', ok({ voucherType: 0, asyReturnVoucher: false }))
    expect((await order.pay(orderId)).order.state).toBe('paid')
  })

  it('is the only case in which voucherType may be missing', async () => {
    seller.on('/order/pay', ok({ vouchers: ['a', 'b'] }))
    expect((await order.pay(orderId)).failure).toMatchObject({
      kind: 'schema',
      detail: 'body.voucherType is required because asyReturnVoucher is not true',
    })
  })
})
