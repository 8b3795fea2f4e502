import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { historyOfOrder } from '../../src/platform/history/index.ts'
import { parseInput } from '../../src/platform/lib/json/input.ts'
import { LocalizedText } from '../../src/platform/lib/localized-text.ts'
import { applyRefundResult } from '../../src/ticketing/orders/change-refund.ts'
import { shownOrder } from '../../src/ticketing/orders/order-result.ts'
import { pollOrder } from '../../src/ticketing/orders/poll-order.ts'
import { refundByPlatform } from '../../src/ticketing/orders/refund-order.ts'
import { newRefundedMessage } from '../../src/ticketing/orders/wire.ts'
import { BY_COMMAND } from '../../src/ticketing/partner-calls/index.ts'
import { fakeSeller, html, ok, refusal, reset, slowly, status, worldWithSeller } from '../partner-calls/fake-seller.ts'
import { desk, newId, stands } from './desk.ts'
import { historyOf, recordOf, waitingJobs } from './orders.ts'
import { reportConsumption } from './report-consumption.ts'

const { world, seller, close } = await worldWithSeller()
afterAll(close)
const order = desk(world)

let orderId: bigint
let refundId: string
const [first, second] = [() => `${orderId}-1`, () => `${orderId}-2`]
beforeEach(async () => {
  orderId = await order.paid()
  refundId = `r-${orderId}`
  seller.calls.length = 0
  seller.on('/order/refund', ok({}))
})
const record = () => recordOf(world.pool, orderId)
const decide = (code: 200 | 606) =>
  applyRefundResult(
    world.deps,
    7001n,
    { refundId, orderId, partnerOrderId: `P-${orderId}`, code, describe: 'decided' },
    { kind: 'notice', id: 'n' },
  )

describe('refundOrder', () => {
  it('confirmed at once refunds tickets and vouchers', async () => {
    const { refund, failure } = await order.refund(orderId, refundId, { vouchers: [second()], refund_fee: 5 })
    expect(failure).toBeNull()
    expect(refund).toMatchObject({ state: 'refunded', refund_quantity: 1, refund_price: 100, decision_code: 200 })
    expect(seller.calls[0]?.body).toEqual({
      orderId,
      refundId,
      partnerOrderId: `P-${orderId}`,
      partnerDealId: 'deal-1',
      voucherList: [second()],
      refundQuantity: 1,
      unitPrice: 100,
      refundPrice: 100,
      refundFee: 5,
      refundTime: '2026-05-06 18:34:20',
    })
    expect(await record()).toMatchObject({
      state: 'paid',
      refunded: 1,
      vouchers: { [second()]: 'refunded', [first()]: 'unused' },
    })
    expect((await historyOf(world.pool, orderId)).slice(-4).map((line) => line.replace(/ \(.*/, ''))).toEqual([
      `refund ${refundId}: state null→asking`,
      `refund ${refundId}: state asking→refunded, decision_code null→200`,
      `order ${orderId}: refunded_quantity 0→1`,
      `voucher ${second()}: state unused→refunded`,
    ])
  })

  it('refunds everything that is left if given only the order', async () => {
    expect((await order.refund(orderId, refundId)).refund.refund_quantity).toBe(2)
    expect(await record()).toMatchObject({ state: 'refunded', refunded: 2 })
  })

  it('chooses the codes if the operator names none, and the same ones on a retry', async () => {
    seller.on('/order/refund', reset, ok({}))
    seller.on('/order/query', stands(orderId, 4))
    await order.refund(orderId, refundId, { quantity: 1 })
    await order.refund(orderId, refundId, { quantity: 1 })
    await order.refund(orderId, `${refundId}-rest`)
    const sent = seller.calls.filter(({ path }) => path === '/order/refund').map(({ body }) => body.voucherList)
    expect(sent).toEqual([[first()], [first()], [second()]])
    expect(await record()).toMatchObject({ vouchers: { [first()]: 'refunded', [second()]: 'refunded' } })
  })

  it('sends the identity documents along with the codes of a real-name order', async () => {
    const one = await fakeSeller(world, 7003)
    const people = ['a', 'b'].map((voucher) => ({ credentialType: 0, credentialNo: `1101-${voucher}`, voucher }))
    one.on('/order/pay', ok({ voucherType: 1, vouchers: null, realNameType: 1, credentialList: people }))
    const named = await order.paid({ partner_id: 7003 })
    await order.refund(named, 'one-person', { quantity: 1 })
    await order.refund(named, 'the-other')
    await one.close()
    expect(one.calls.slice(-2).map(({ body }) => [body.voucherList, body.credentialList])).toEqual([
      [['a'], [people[0]]],
      [['b'], [people[1]]],
    ])
    expect(JSON.stringify(await historyOf(world.pool, named))).not.toContain('1101-')
  })

  it('sends no document if more people share a code than tickets are refunded', async () => {
    const one = await fakeSeller(world, 7004)
    const people = ['1', '2'].map((credentialNo) => ({ credentialType: 0, credentialNo, voucher: 'shared' }))
    one.on('/order/pay', ok({ voucherType: 2, vouchers: ['shared'], realNameType: 1, credentialList: people }))
    const shared = await order.paid({ partner_id: 7004 })
    await order.refund(shared, 'of-one', { quantity: 1 })
    await order.refund(shared, 'of-the-other')
    await one.close()
    expect(one.calls.slice(-2).map(({ body }) => body.credentialList)).toEqual([undefined, undefined])
  })

  it('sends each document once, even if the partner first gave it without its code', async () => {
    const one = await fakeSeller(world, 7005)
    const people = ['a', 'b'].map((voucher) => ({ credentialType: 0, credentialNo: `no-${voucher}`, voucher }))
    const without = people.map((person) => ({ ...person, voucher: '' }))
    one.on('/order/pay', ok({ voucherType: 1, asyReturnVoucher: true, credentialList: without }))
    const named = await order.paid({ partner_id: 7005 })
    one.on('/order/query', stands(named, 4, { voucherType: 1, credentialList: people }))
    await order.query(named)
    await order.refund(named, 'all')
    await one.close()
    expect(one.calls.at(-1)?.body).toMatchObject({ voucherList: ['a', 'b'], credentialList: people })
  })

  it('sends no code if codes for one and for several tickets do not add up', async () => {
    const one = await fakeSeller(world, 7006)
    const people = ['1', '2'].map((credentialNo) => ({ credentialType: 0, credentialNo, voucher: 'two' }))
    one.on('/order/pay', ok({ voucherType: 0, vouchers: ['one'], credentialList: people }))
    const mixed = await order.paid({ partner_id: 7006, quantity: 3 })
    await order.refund(mixed, 'two-of-three', { quantity: 2 })
    await order.refund(mixed, 'the-third', { quantity: 1 })
    await one.close()
    expect(one.calls.slice(-2).map(({ body }) => body.voucherList)).toEqual([[], []])
  })

  it('sends the only code of an order even for a part of it', async () => {
    const one = await fakeSeller(world, 7002)
    one.on('/order/pay', ok({ voucherType: 2, vouchers: ['whole'] }))
    const whole = await order.paid({ partner_id: 7002 })
    await order.refund(whole, 'part-of-whole', { quantity: 1 })
    await one.close()
    expect(one.calls.at(-1)?.body).toMatchObject({ voucherList: ['whole'], refundQuantity: 1 })
  })

  it('sends no code if the partner said how many tickets are used but not which', async () => {
    seller.on('/order/query', stands(orderId, 4, { usedQuantity: 1 }))
    await order.query(orderId)
    await order.refund(orderId, refundId)
    expect(seller.calls.at(-1)?.body).toMatchObject({ voucherList: [], refundQuantity: 1 })
  })

  it('under review waits for the notice, and repeating the refund changes nothing', async () => {
    seller.on('/order/refund', refusal(602, 'we look into it'))
    expect(await order.refund(orderId, refundId)).toMatchObject({ refund: { state: 'reviewing' }, failure: null })
    expect(await order.refund(orderId, refundId)).toMatchObject({ refund: { state: 'reviewing' } })
    expect(seller.paths()).toEqual(['/order/refund'])
    await decide(200)
    expect(await record()).toMatchObject({ state: 'refunded', refunds: { [refundId]: 'refunded' } })
    expect(await order.refund(orderId, refundId)).toMatchObject({ refund: { state: 'refunded' } })
    expect(seller.paths()).toEqual(['/order/refund'])
  })

  it('many times at once calls the partner once', async () => {
    seller.on('/order/refund', slowly(ok({})))
    await Promise.all(Array.from({ length: 8 }, () => order.refund(orderId, refundId)))
    expect(seller.paths()).toEqual(['/order/refund'])
    expect(await record()).toMatchObject({ refunded: 2 })
  })

  it('of more tickets than are left is refused, counting those under review', async () => {
    seller.on('/order/refund', refusal(602))
    await order.refund(orderId, refundId, { vouchers: [first()] })
    const again = (fields: object) => order.refund(orderId, `x-${refundId}`, fields)
    await expect(again({ quantity: 2 })).rejects.toMatchObject({
      describe: `order ${orderId} has 1 tickets left to refund, not 2`,
    })
    await expect(again({ vouchers: [first()] })).rejects.toMatchObject({
      describe: `voucher ${first()} is in another refund`,
    })
    await expect(again({ vouchers: ['stranger'] })).rejects.toMatchObject({
      describe: expect.stringContaining('is not of order'),
    })
    expect(await again({ vouchers: [second()] })).toMatchObject({ refund: { state: 'reviewing' } })
    expect(seller.calls).toHaveLength(2)
  })

  it.each([
    ['fewer tickets than its vouchers', (): object => ({ vouchers: [first(), second()], quantity: 1 })],
    ['more tickets than its voucher', (): object => ({ vouchers: [first()], quantity: 2 })],
  ])('of %s is refused', async (_what, fields) => {
    await expect(order.refund(orderId, refundId, fields())).rejects.toThrow(/the vouchers are for/)
    expect(seller.calls).toEqual([])
  })

  it('sends a voucher once, even if it was named twice', async () => {
    seller.on('/order/refund', refusal(602))
    await order.refund(orderId, refundId, { vouchers: [first(), first()] })
    expect(seller.calls[0]?.body).toMatchObject({ voucherList: [first()], refundQuantity: 1 })
    const again = await order.refund(orderId, refundId, { vouchers: [first(), first()] })
    expect(again).toMatchObject({ refund: { state: 'reviewing' }, failure: null })
  })

  it.each(['refund_price', 'refund_fee'])(
    'is refused, and not stored, if %s exceeds the price of its tickets',
    async (field) => {
      await expect(order.refund(orderId, refundId, { quantity: 1, [field]: 100.01 })).rejects.toMatchObject({
        problems: [{ field, problem: 'must be at most 100' }],
      })
      expect((await record()).refunds).toEqual({})
      await order.refund(orderId, refundId, { quantity: 1, [field]: 100 })
      expect(seller.calls).toHaveLength(1)
    },
  )

  it('may return the share of its tickets in what was paid, if that was more than they cost', async () => {
    const withFees = await order.paid({ unit_price: 100, total_price: 230 })
    const refund = (quantity: number, refund_price: number) =>
      order.refund(withFees, `r-${withFees}-${quantity}`, { quantity, refund_price })
    await expect(refund(1, 115.01)).rejects.toMatchObject({ problems: [{ problem: 'must be at most 115' }] })
    expect((await refund(2, 230)).refund).toMatchObject({ refund_price: 230 })
  })

  it('needs a price if its tickets cost more than the limit of the protocol', async () => {
    const dear = await order.paid({ unit_price: 99_999_999, total_price: 1, quantity: 200 })
    expect((await order.refund(dear, `r-${dear}`, { refund_price: 1 })).refund).toMatchObject({ refund_price: 1 })
  })

  it('is refused, and not stored, if its price exceeds the limit of the protocol', async () => {
    const dear = await order.paid({ unit_price: 99_999_999, total_price: 1, quantity: 200 })
    seller.calls.length = 0
    await expect(order.refund(dear, `r-${dear}`)).rejects.toMatchObject({
      problems: [{ field: 'refund_price', problem: 'must be from 0 to 99999999.99' }],
    })
    expect((await recordOf(world.pool, dear)).refunds).toEqual({})
    expect(seller.calls).toEqual([])
  })

  it('with the same id and other contents is refused', async () => {
    await order.refund(orderId, refundId, { quantity: 1, refund_fee: 5 })
    for (const other of [{ quantity: 2 }, { refund_fee: 7 }]) {
      await expect(order.refund(orderId, refundId, other)).rejects.toMatchObject({
        describe: `refund ${refundId} already exists with other contents`,
      })
    }
    expect(await order.refund(orderId, refundId)).toMatchObject({ refund: { refund_fee: 5 }, failure: null })
    const other = await order.paid()
    await expect(order.refund(other, refundId)).rejects.toMatchObject({
      describe: expect.stringContaining('already exists'),
    })
  })

  it.each([
    [601, 'already refunded'],
    [606, 'not enough tickets, or refund refused'],
    [607, 'product not refundable'],
  ])('refused by the partner (%i) leaves the tickets for another refund', async (code, meaning) => {
    seller.on('/order/refund', refusal(code), ok({}))
    expect(await order.refund(orderId, refundId)).toMatchObject({
      refund: { state: 'refused', decision_code: code, reason: `${code} (${meaning}): no` },
      failure: { kind: 'partner-code' },
    })
    expect(await order.refund(orderId, `x-${refundId}`)).toMatchObject({ refund: { state: 'refunded' } })
  })

  it.each([
    ['broken', reset],
    ['http-status', status(500)],
    ['json', html],
  ])('whose answer is lost (%s) is sent again only after an order query', async (kind, lost) => {
    seller.on('/order/refund', lost, refusal(601))
    expect(await order.refund(orderId, refundId)).toMatchObject({ refund: { state: 'unknown' }, failure: { kind } })
    seller.on('/order/query', status(500), stands(orderId, 4))
    expect(await order.refund(orderId, refundId)).toMatchObject({
      refund: { state: 'unknown' },
      failure: { kind: 'http-status' },
    })
    expect(await order.refund(orderId, refundId)).toMatchObject({ refund: { state: 'refunded', decision_code: 601 } })
    expect(seller.paths()).toEqual(['/order/refund', '/order/query', '/order/query', '/order/refund'])
  })

  it('whose answer is lost needs no second call if the partner counts the tickets as refunded', async () => {
    seller.on('/order/refund', reset)
    await order.refund(orderId, refundId)
    seller.on('/order/query', stands(orderId, 4, { refundedQuantity: 2 }))
    const { refund, order: after } = await order.refund(orderId, refundId)
    expect(refund).toMatchObject({ state: 'refunded', reason: 'the partner counts 2 tickets as refunded' })
    expect(refund.reason).toBeInstanceOf(LocalizedText)
    expect(after.state).toBe('refunded')
    expect(seller.paths()).toEqual(['/order/refund', '/order/query'])
  })

  it('whose answer is lost while another refund is open is sent again: the count may include the other', async () => {
    seller.on('/order/refund', refusal(602), reset, ok({}))
    await order.refund(orderId, `x-${refundId}`, { quantity: 1 })
    await order.refund(orderId, refundId)
    seller.on('/order/query', stands(orderId, 4, { refundedQuantity: 1 }))
    expect(await order.refund(orderId, refundId)).toMatchObject({ refund: { state: 'refunded', decision_code: 200 } })
    expect(seller.paths()).toEqual(['/order/refund', '/order/refund', '/order/query', '/order/refund'])
  })

  it('whose answer is lost is not taken for tickets that the partner had refunded by itself before', async () => {
    await reportConsumption(world.deps, 7001n, {
      ...{ orderId, partnerOrderId: `P-${orderId}`, quantity: 2, usedQuantity: 0, refundedQuantity: 1 },
      vouchers: [{ voucher: first(), quantity: 1, status: 2 }],
    })
    seller.on('/order/refund', reset, refusal(606))
    await order.refund(orderId, refundId)
    seller.on('/order/query', stands(orderId, 4, { refundedQuantity: 1 }))
    expect(await order.refund(orderId, refundId)).toMatchObject({ refund: { state: 'refused', decision_code: 606 } })
  })

  it('whose answer is lost is sent again if the partner counts a ticket as refunded, but not its code', async () => {
    seller.on('/order/refund', reset, ok({}))
    await order.refund(orderId, refundId, { vouchers: [second()] })
    const code = { quantity: 1, voucherInvalidTime: '2026-12-31 23:59:59' }
    const voucherList = [
      { ...code, voucher: first(), status: 2 },
      { ...code, voucher: second(), status: 0 },
    ]
    seller.on('/order/query', stands(orderId, 4, { refundedQuantity: 1, voucherList }))
    const { order: after } = await order.refund(orderId, refundId, { vouchers: [second()] })
    expect(after.refunds).toMatchObject([{ state: 'refunded', decision_code: 200 }])
    expect(seller.paths()).toEqual(['/order/refund', '/order/query', '/order/refund'])
  })

  it('whose answer is lost is settled by a job', async () => {
    const jobs = async () => (await waitingJobs(world.pool)).filter((job) => job.includes(String(orderId)))
    const settle = () => pollOrder(world.deps, orderId, { asked: 0, about: 'refunds' }, { kind: 'schedule', ref: '1' })
    seller.on('/order/refund', reset, reset, ok({}))
    seller.on('/order/query', stands(orderId, 4))
    await order.refund(orderId, refundId)
    expect(await jobs()).toEqual([`query-order query-order:${orderId}:refunds`])
    expect(await settle()).toEqual({ givenUp: null })
    expect(await record()).toMatchObject({ refunds: { [refundId]: 'unknown' } })
    expect(await jobs(), 'asks again').toHaveLength(1)
    await settle()
    expect(await record()).toMatchObject({ state: 'refunded', refunds: { [refundId]: 'refunded' } })
    expect(await jobs()).toEqual([])
  })

  it('whose answer is lost is left to operators after a day', async () => {
    seller.on('/order/refund', reset)
    seller.on('/order/query', stands(orderId, 4))
    await order.refund(orderId, refundId)
    world.clock.advance(86_400)
    const polled = await pollOrder(world.deps, orderId, { asked: 9, about: 'refunds' }, BY_COMMAND)
    expect(polled.givenUp).toMatch(`refund ${refundId} has been unknown for a day; the last query failed with broken: `)
  })

  it('interrupted by a crash is settled by a job once its call must have timed out', async () => {
    seller.on('/order/refund', async () => {
      const settle = () => pollOrder(world.deps, orderId, { asked: 0, about: 'refunds' }, BY_COMMAND)
      await settle()
      expect(await record(), 'the call may be in progress').toMatchObject({ refunds: { [refundId]: 'asking' } })
      world.clock.advance(20)
      seller.on('/order/refund', ok({}))
      seller.on('/order/query', stands(orderId, 4))
      await settle()
      return ok({})
    })
    await order.refund(orderId, refundId)
    expect(await record()).toMatchObject({ refunds: { [refundId]: 'refunded' } })
    expect(seller.paths()).toEqual(['/order/refund', '/order/query', '/order/refund'])
  })

  it('that never reached the partner is sent again without asking', async () => {
    await world.pool.query("update partner set base_url = 'http://127.0.0.1:1'")
    expect(await order.refund(orderId, refundId)).toMatchObject({
      refund: { state: 'requested' },
      failure: { kind: 'connect' },
    })
    await world.pool.query('update partner set base_url = $1', [seller.url])
    expect(await order.refund(orderId, refundId)).toMatchObject({ refund: { state: 'refunded' }, failure: null })
    expect(seller.paths()).toEqual(['/order/refund'])
  })

  it('that may have arrived once stays unknown when a later try cannot be sent', async () => {
    seller.on('/order/refund', reset)
    await order.refund(orderId, refundId)
    await world.pool.query(
      'update partner set interface_urls = \'{"order-refund": "http://127.0.0.1:1/order/refund"}\'',
    )
    seller.on('/order/query', stands(orderId, 4))
    expect(await order.refund(orderId, refundId)).toMatchObject({ refund: { state: 'unknown' } })
    await world.pool.query("update partner set interface_urls = '{}'")
    seller.on('/order/refund', refusal(601, 'already refunded'))
    expect(await order.refund(orderId, refundId)).toMatchObject({ refund: { state: 'refunded' } })
  })

  it('interrupted by a crash is resumed once its call must have timed out', async () => {
    seller.on('/order/refund', refusal(602))
    await order.refund(orderId, refundId)
    await world.pool.query("update refund set state = 'asking' where refund_id = $1", [refundId])
    expect(await order.refund(orderId, refundId)).toMatchObject({ refund: { state: 'asking' } })
    world.clock.advance(21)
    seller.on('/order/query', stands(orderId, 4))
    expect(await order.refund(orderId, refundId)).toMatchObject({ refund: { state: 'reviewing' } })
    expect(seller.paths()).toEqual(['/order/refund', '/order/query', '/order/refund'])
  })

  it('decided by a notice before the answer arrives stays decided', async () => {
    seller.on('/order/refund', async () => {
      await decide(200)
      return refusal(602)
    })
    expect(await order.refund(orderId, refundId)).toMatchObject({
      refund: { state: 'refunded' },
      order: { refunded_quantity: 2 },
    })
  })

  it('of an unpaid order is refused, naming the state', async () => {
    const created = newId()
    await order.create(created)
    await expect(order.refund(created, 'r')).rejects.toMatchObject({
      describe: expect.stringMatching(/is created .* cannot become refunded$/),
    })
  })
})

describe('a refund that is decided after its tickets were used', () => {
  const use = (usedQuantity: number, fields: object = {}) =>
    reportConsumption(world.deps, 7001n, {
      ...{ orderId, partnerOrderId: `P-${orderId}`, quantity: 2, usedQuantity, refundedQuantity: 0, ...fields },
    })
  const shown = async () => (await shownOrder(world.deps, orderId)).contradiction
  const beyond = () => `order ${orderId} has 2 tickets; 2 used and 1 refunded are more than that`
  const isKept = async () => {
    expect(await record()).toMatchObject({
      ...{ state: 'consumed', used: 2, refunded: 0, refunds: { [refundId]: 'refunded' } },
      vouchers: { [first()]: 'used', [second()]: 'used' },
    })
    expect(await shown()).toEqual(beyond())
  }

  it('by the answer is kept, and the operator sees the contradiction', async () => {
    seller.on('/order/refund', async () => {
      await use(2)
      return ok({})
    })
    const { refund, order: after } = await order.refund(orderId, refundId, { quantity: 1 })
    expect(refund).toMatchObject({ state: 'refunded', decision_code: 200 })
    expect(after.contradiction).toEqual(beyond())
    await isKept()
    seller.on('/order/query', stands(orderId, 4, { usedQuantity: 2 }))
    await order.query(orderId)
    expect(await shown()).toEqual('body.refundedQuantity is 0; the platform counts 1')
  })

  it('by 601 after a lost answer is kept', async () => {
    seller.on('/order/refund', reset, refusal(601))
    await order.refund(orderId, refundId, { quantity: 1 })
    await use(2)
    seller.on('/order/query', stands(orderId, 4, { usedQuantity: 2 }))
    await order.refund(orderId, refundId, { quantity: 1 })
    await isKept()
  })

  it('by the count of a query after a lost answer is kept', async () => {
    seller.on('/order/refund', reset)
    await order.refund(orderId, refundId, { quantity: 1 })
    await use(2)
    seller.on('/order/query', stands(orderId, 4, { usedQuantity: 1, refundedQuantity: 1 }))
    await order.refund(orderId, refundId, { quantity: 1 })
    await isKept()
  })

  it('by a notice is kept', async () => {
    seller.on('/order/refund', refusal(602))
    await order.refund(orderId, refundId, { quantity: 1 })
    await use(2)
    await decide(200)
    await isKept()
  })

  it('by the platform is kept', async () => {
    seller.on('/order/refund', refusal(602))
    await order.refund(orderId, refundId, { quantity: 1 })
    await use(2)
    const input = parseInput(newRefundedMessage, { order_id: orderId, refund_id: refundId, type: 3 })
    await refundByPlatform(world.deps, input, BY_COMMAND)
    await isKept()
  })

  it('leaves the codes alone if it is unknown which one was used', async () => {
    await use(1)
    await order.refund(orderId, refundId)
    expect(await record()).toMatchObject({ state: 'consumed', used: 1, refunded: 1 })
    expect((await record()).vouchers).toEqual({ [first()]: 'unused', [second()]: 'unused' })
    const vouchers = [
      { voucher: first(), quantity: 1, status: 1 },
      { voucher: second(), quantity: 1, status: 2 },
    ]
    await use(1, { refundedQuantity: 1, vouchers })
    expect((await record()).vouchers).toEqual({ [first()]: 'used', [second()]: 'refunded' })
  })

  it('leaves a named code used, and refunds the one that is left', async () => {
    seller.on('/order/refund', refusal(602))
    await order.refund(orderId, refundId, { vouchers: [first()] })
    await use(1, { vouchers: [{ voucher: first(), quantity: 1, status: 1 }] })
    await decide(200)
    expect((await record()).vouchers).toEqual({ [first()]: 'used', [second()]: 'refunded' })
    expect(await shown()).toEqual(`refund ${refundId} is done, but its voucher ${first()} is used`)
  })

  it('of a named code implies that the other one was used', async () => {
    await use(1)
    await order.refund(orderId, refundId, { vouchers: [first()] })
    expect((await record()).vouchers).toEqual({ [first()]: 'refunded', [second()]: 'used' })
  })
})

it('an answer to order refund that contradicts an earlier notice changes nothing, and the operator sees it', async () => {
  seller.on('/order/refund', async () => {
    await decide(606)
    return ok({})
  })
  const { refund, order: after } = await order.refund(orderId, refundId)
  expect(refund).toMatchObject({ state: 'refused', decision_code: 606 })
  expect(after).toMatchObject({
    refunded_quantity: 0,
    contradiction: `refund ${refundId} is already refused; it cannot become refunded`,
  })
})

describe('an answer about another refund', () => {
  const names = (fields: object, code = 200): object => ({ code, describe: 'said', body: fields })
  it.each([
    ['refundId', () => names({ refundId: `a-${orderId}` }), () => `a-${orderId}`],
    ['refundId', () => names({ refundId: `a-${orderId}` }, 602), () => `a-${orderId}`],
    ['refundId', () => names({ refundId: `a-${orderId}` }, 606), () => `a-${orderId}`],
    ['refundId', () => ({ code: 200, describe: 'success', refundId: `a-${orderId}` }), () => `a-${orderId}`],
    ['orderId', () => names({ orderId: orderId + 4_096n }), () => String(orderId + 4_096n)],
    ['orderId', () => names({ orderId: orderId + 4_096n }, 602), () => String(orderId + 4_096n)],
    ['partnerOrderId', () => names({ partnerOrderId: 'P-other' }), () => 'P-other'],
  ] as [string, () => object, () => string][])(
    'by its %s decides nothing, whatever its code: %#',
    async (field, answer, named) => {
      await order.refund(orderId, `a-${orderId}`, { quantity: 1 })
      seller.on('/order/refund', answer())
      const { refund, failure } = await order.refund(orderId, refundId, { quantity: 1 })
      expect(refund.state).toBe('unknown')
      expect(failure).toMatchObject({ kind: 'schema', problems: [{ path: `body.${field}` }] })
      expect(String(failure?.detail)).toContain(`body.${field} is ${named()}; the call was about`)
      expect(await record()).toMatchObject({ refunded: 1 })
    },
  )

  it('is not assumed if the ids are repeated as text, or if a refusal has an empty record', async () => {
    seller.on('/order/refund', names({ orderId: String(orderId), refundId, partnerOrderId: `P-${orderId}` }))
    expect((await order.refund(orderId, refundId, { quantity: 1 })).failure).toBeNull()
    seller.on('/order/refund', names({ orderId: 0, refundId: null, partnerOrderId: '' }, 606))
    expect((await order.refund(orderId, `b-${orderId}`)).failure).toMatchObject({ kind: 'partner-code' })
    seller.on('/order/refund', names({ orderId: 0, refundId: '', partnerOrderId: 0 }, 602))
    expect(await order.refund(orderId, `c-${orderId}`)).toMatchObject({ refund: { state: 'reviewing' }, failure: null })
  })
})

describe('an order query that contradicts our records', () => {
  const queried = async (status: number, more: object) => {
    seller.on('/order/query', stands(orderId, status, more))
    return (await order.query(orderId)).order.contradiction
  }

  it('is shown with the order until the partner agrees with our records', async () => {
    await order.refund(orderId, `a-${orderId}`, { quantity: 1 })
    await order.refund(orderId, refundId, { quantity: 1 })
    const behind = 'body.refundedQuantity is 1; the platform counts 2'
    expect(await queried(4, { refundedQuantity: 1 })).toEqual(behind)
    expect(await queried(4, { refundedQuantity: 1 })).toEqual(behind)
    expect(await record()).toMatchObject({ refunded: 2, state: 'refunded' })
    expect(await queried(4, { refundedQuantity: 2 })).toBeNull()
    const moved = (await historyOfOrder(world.deps.db, orderId)).flatMap(({ change }) =>
      change.contradiction ? [change.contradiction] : [],
    )
    expect(moved).toEqual([
      [null, behind],
      [behind, null],
    ])
    expect(moved[0]?.[1], 'each reader sees it in his language').toBeInstanceOf(LocalizedText)
  })

  it.each([
    [6, {}, 'body.orderStatus is 6; the order is paid'],
    [2, {}, 'body.orderStatus is 2; the order is paid'],
    [4, { orderQuantity: 3 }, 'body.orderQuantity is 3; the order has 2'],
    [4, { usedQuantity: 3 }, 'body makes 3 used and 0 refunded, of 2'],
  ])('is shown: orderStatus %i %j', async (status, more, contradiction) => {
    expect(await queried(status, more)).toEqual(contradiction)
    expect(await record()).toMatchObject({ state: 'paid', used: 0, refunded: 0 })
  })
})

describe('a part of an order whose product has no partial refunds', () => {
  const sells = (partlyRefund: boolean) =>
    world.pool.query(
      `insert into product (partner_id, partner_deal_id, sale_state, details, created_at, updated_at)
       values (7001, 'deal-1', 'on_sale', $1, now(), now())
       on conflict (partner_id, partner_deal_id) do update set details = excluded.details`,
      [{ partlyRefund }],
    )
  afterAll(() => world.pool.query("delete from product where partner_id = 7001 and partner_deal_id = 'deal-1'"))
  const warning = 'product deal-1 has no partial refunds (partlyRefund is false); to ask for one anyway, set partly'

  it('is refunded only if the operator insists; otherwise nothing is stored or sent', async () => {
    await sells(false)
    await expect(order.refund(orderId, refundId, { quantity: 1 })).rejects.toMatchObject({ describe: warning })
    await expect(order.refund(orderId, refundId, { vouchers: [first()] })).rejects.toMatchObject({ describe: warning })
    const message = parseInput(newRefundedMessage, { order_id: orderId, type: 1, quantity: 1 })
    await expect(refundByPlatform(world.deps, message, BY_COMMAND)).rejects.toMatchObject({ describe: warning })
    expect(seller.calls).toEqual([])
    expect(await record()).toMatchObject({ refunded: 0, refunds: {} })
    expect((await order.refund(orderId, refundId, { quantity: 1, partly: true })).refund.state).toBe('refunded')
  })

  it('is refunded without a warning if the product allows it, as is a whole order', async () => {
    await sells(false)
    expect((await order.refund(orderId, refundId)).refund.state).toBe('refunded')
    await sells(true)
    const another = await order.paid()
    expect((await order.refund(another, `r-${another}`, { quantity: 1 })).refund.state).toBe('refunded')
  })
})

const codes = async () =>
  (
    await world.pool.query(
      'select voucher, state, used_quantity as used, refunded_quantity as refunded from voucher where order_id = $1 order by 1',
      [String(orderId)],
    )
  ).rows
const payAsUsual = () =>
  seller.on('/order/pay', ({ orderId: id, partnerOrderId }: { orderId: bigint; partnerOrderId: string }): object =>
    ok({ orderId: id, partnerOrderId, voucherType: 1, vouchers: [`${id}-1`, `${id}-2`] }),
  )

describe('one code for several tickets', () => {
  beforeEach(async () => {
    seller.on('/order/pay', ok({ voucherType: 2, vouchers: ['whole'] }))
    orderId = await order.paid({ quantity: 3 })
    seller.calls.length = 0
  })
  afterAll(payAsUsual)

  it('is counted ticket by ticket, and sent with each refund while tickets are left', async () => {
    await order.refund(orderId, `a-${orderId}`, { quantity: 1 })
    expect(await codes()).toEqual([{ voucher: 'whole', state: 'unused', used: 0, refunded: 1 }])
    // Some programs mark the whole code as used with its first ticket.
    const voucherList = [{ voucher: 'whole', voucherInvalidTime: '2026-07-01 00:00:00', quantity: 3, status: 1 }]
    seller.on(
      '/order/query',
      stands(orderId, 4, { orderQuantity: 3, usedQuantity: 1, refundedQuantity: 1, voucherList }),
    )
    await order.query(orderId)
    expect(await codes()).toEqual([{ voucher: 'whole', state: 'unused', used: 1, refunded: 1 }])
    await order.refund(orderId, refundId)
    const sent = seller.calls.filter(({ path }) => path === '/order/refund').map(({ body }) => body)
    expect(sent).toMatchObject([
      { voucherList: ['whole'], refundQuantity: 1 },
      { voucherList: ['whole'], refundQuantity: 1 },
    ])
    expect(await codes()).toEqual([{ voucher: 'whole', state: 'used', used: 1, refunded: 2 }])
    expect(await record()).toMatchObject({ state: 'consumed' })
  })

  it('that the partner reports as refunded is so only once all its tickets are', async () => {
    const said = (refundedQuantity: number) => {
      const voucherList = [{ voucher: 'whole', voucherInvalidTime: '2026-07-01 00:00:00', quantity: 3, status: 2 }]
      seller.on('/order/query', stands(orderId, 4, { orderQuantity: 3, refundedQuantity, voucherList }))
      return order.query(orderId)
    }
    await said(2)
    expect(await codes()).toEqual([{ voucher: 'whole', state: 'unused', used: 0, refunded: 2 }])
    await said(3)
    expect(await codes()).toEqual([{ voucher: 'whole', state: 'refunded', used: 0, refunded: 3 }])
  })

  it('named by an operator is refunded for what is left of it', async () => {
    await order.refund(orderId, `a-${orderId}`, { quantity: 1 })
    const { refund } = await order.refund(orderId, refundId, { vouchers: ['whole'] })
    expect(refund).toMatchObject({ refund_quantity: 2, state: 'refunded' })
  })
})

describe('two codes for three tickets each', () => {
  beforeEach(async () => {
    const credentialList = ['A', 'A', 'A', 'B', 'B', 'B'].map((voucher, at) => ({
      ...{ credentialType: 0, credentialNo: `no-${at}`, voucher },
    }))
    seller.on('/order/pay', ok({ voucherType: 0, credentialList }))
    orderId = await order.paid({ quantity: 6 })
    seller.calls.length = 0
  })
  afterAll(payAsUsual)
  const queried = (usedQuantity: number, statuses: Record<string, number>) => {
    const voucherList = Object.entries(statuses).map(([voucher, status]) => ({
      ...{ voucher, voucherInvalidTime: '2026-07-01 00:00:00', quantity: 3, status },
    }))
    seller.on('/order/query', stands(orderId, 4, { orderQuantity: 6, usedQuantity, voucherList }))
    return order.query(orderId)
  }
  const sent = () => seller.calls.at(-1)?.body

  it('are not sent if both are marked used with their first ticket, and both end with the order', async () => {
    await queried(3, { A: 1, B: 1 })
    await order.refund(orderId, refundId)
    expect(sent()).toMatchObject({ voucherList: [], refundQuantity: 3 })
    expect(await record()).toMatchObject({ state: 'consumed', vouchers: { A: 'refunded', B: 'refunded' } })
  })

  it('end with the order even if the partner never said which were used', async () => {
    await order.refund(orderId, `a-${orderId}`, { vouchers: ['A'], quantity: 1 })
    await queried(3, {})
    await order.refund(orderId, refundId)
    expect(sent()).toMatchObject({ voucherList: [], refundQuantity: 2 })
    expect(await codes()).toEqual([
      { voucher: 'A', state: 'refunded', used: 0, refunded: 3 },
      { voucher: 'B', state: 'refunded', used: 0, refunded: 3 },
    ])
  })

  it('cannot each be in more than one open refund', async () => {
    seller.on('/order/refund', refusal(602))
    await order.refund(orderId, refundId, { vouchers: ['A'] })
    await expect(order.refund(orderId, `x-${refundId}`, { vouchers: ['A'] })).rejects.toMatchObject({
      describe: 'voucher A is in another refund',
    })
    await order.refund(orderId, `y-${refundId}`)
    expect(sent()).toMatchObject({ voucherList: ['B'], refundQuantity: 3 })
  })
})

describe('refundByPlatform', () => {
  const refundMessage = (fields: object) =>
    refundByPlatform(world.deps, parseInput(newRefundedMessage, { order_id: orderId, ...fields }), BY_COMMAND)
  const jobsOf = async () => (await waitingJobs(world.pool)).filter((job) => job.includes(String(orderId)))

  it('type 1: customer service refunds tickets, and the partner is told', async () => {
    const { refund } = await refundMessage({ type: 1, vouchers: [first()], reason: 'rain' })
    expect(await record()).toMatchObject({ refunded: 1, vouchers: { [first()]: 'refunded' } })
    expect(seller.calls).toMatchObject([
      {
        path: '/order/refunded',
        body: {
          orderId,
          refundSerialNo: refund.refund_id,
          voucherList: [first()],
          refundPrice: 100,
          refundMessageType: 1,
          reason: 'rain',
          count: 1,
        },
      },
    ])
    expect(await jobsOf()).toEqual([])
  })

  it('type 2: an unconfirmed payment is refunded in full', async () => {
    await world.pool.query("update ticket_order set state = 'pay_unknown' where order_id = $1", [String(orderId)])
    await refundMessage({ type: 2 })
    expect(await record()).toMatchObject({ state: 'refunded', refunded: 2 })
    expect(seller.calls[0]?.body).toMatchObject({ refundPrice: -1, count: 2, refundMessageType: 2 })
  })

  it('type 2: waits for a payment in progress, and must cover the whole order', async () => {
    const paying = newId()
    await order.create(paying)
    await world.pool.query("update ticket_order set state = 'paying', state_since = $2 where order_id = $1", [
      String(paying),
      world.clock.now(),
    ])
    const message = (fields: object) =>
      refundByPlatform(world.deps, parseInput(newRefundedMessage, { order_id: paying, type: 2, ...fields }), BY_COMMAND)
    await expect(message({})).rejects.toThrow(/in progress/)
    world.clock.advance(21)
    await expect(message({ quantity: 1 })).rejects.toThrow(/whole/)
  })

  it('type 1: sends the price if all tickets are refunded for less', async () => {
    seller.on('/order/refunded', ok({}))
    const input = parseInput(newRefundedMessage, { order_id: orderId, type: 1, refund_price: 150 })
    await refundByPlatform(world.deps, input, BY_COMMAND)
    expect(seller.calls.at(-1)?.body).toMatchObject({ refundPrice: 150, count: 2 })
  })

  it('type 3: an overdue review ends as refunded, and a late decision against it is refused', async () => {
    await expect(refundMessage({ type: 3, refund_id: refundId })).rejects.toMatchObject({
      describe: `refund ${refundId} does not exist`,
    })
    seller.on('/order/refund', refusal(602))
    await order.refund(orderId, refundId)
    await refundMessage({ type: 3, refund_id: refundId })
    expect(await record()).toMatchObject({ state: 'refunded', refunds: { [refundId]: 'refunded' } })
    await expect(decide(606)).rejects.toMatchObject({ describe: expect.stringContaining('is already refunded') })
  })

  it('takes effect even if the message is lost, and a job sends it again under the same serial number', async () => {
    seller.on('/order/refunded', reset, ok({}))
    expect(await refundMessage({ type: 1, refund_id: refundId })).toMatchObject({
      failure: { kind: 'broken' },
      refund: { state: 'refunded' },
    })
    expect(await jobsOf()).toEqual([`send-refunded-message send-refunded-message:${orderId}:${refundId}`])
    expect(await refundMessage({ type: 1, refund_id: refundId })).toMatchObject({ failure: null })
    expect(await jobsOf()).toEqual([])
    expect(seller.calls.map(({ body }) => body.refundSerialNo)).toEqual([refundId, refundId])
  })

  it('with the same id and other contents is refused', async () => {
    seller.on('/order/refunded', ok({}))
    await refundMessage({ type: 1, refund_id: refundId, quantity: 1 })
    await expect(refundMessage({ type: 1, refund_id: refundId, quantity: 2 })).rejects.toMatchObject({
      describe: `refund ${refundId} already exists with other contents`,
    })
  })
})
