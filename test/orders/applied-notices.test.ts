import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { applyProductChange } from '../../src/ticketing/catalogue/product-change.ts'
import { applyRefundResult, type RefundResult } from '../../src/ticketing/orders/change-refund.ts'
import type { ConsumptionReport } from '../../src/ticketing/orders/consumption.ts'
import { MANY_CONNECTIONS, openWorld, type World } from '../harness.ts'
import { duePulls, historyOf, recordOf, seedOrder, seedPartner, seedRefund, waitingJobs } from './orders.ts'
import { reportConsumption } from './report-consumption.ts'

let world: World
beforeAll(async () => {
  world = await openWorld(MANY_CONNECTIONS)
  await seedPartner(world.pool)
  await seedPartner(world.pool, 7002)
})
afterAll(() => world.close())

const NOTICE = { kind: 'notice', id: 'n-1' } as const
const CHANGE = { cause: NOTICE, notice: 'deal-change' } as const
const newId = () => 8_985_652_356_562_000_000n + BigInt(randomInt(2 ** 40))

async function order(fields: Omit<Parameters<typeof seedOrder>[1], 'orderId'> = {}): Promise<bigint> {
  const orderId = newId()
  await seedOrder(world.pool, { orderId, ...fields })
  return orderId
}
const consume = (
  orderId: bigint,
  used: number,
  refunded = 0,
  more: Partial<ConsumptionReport> = {},
  partnerId = 7001n,
) =>
  reportConsumption(world.deps, partnerId, {
    orderId,
    partnerOrderId: 'P-1',
    quantity: 2,
    usedQuantity: used,
    refundedQuantity: refunded,
    ...more,
  })
const decide = (orderId: bigint, refundId: string, code: RefundResult['code'], partnerId = 7001n) =>
  applyRefundResult(world.deps, partnerId, { refundId, orderId, partnerOrderId: 'P-1', code, describe: 'why' }, NOTICE)

describe('the reason of a refund notice', () => {
  it('is stripped of control characters and cut to 128 characters, like that of an answer', async () => {
    const orderId = await order()
    await seedRefund(world.pool, { refundId: `r-${orderId}`, orderId })
    const result = {
      refundId: `r-${orderId}`,
      orderId,
      partnerOrderId: 'P-1',
      code: 606,
      describe: '\u0007x'.repeat(10_000),
    }
    await applyRefundResult(world.deps, 7001n, result as RefundResult, NOTICE)
    const [row] = (await world.pool.query('select reason from refund where order_id = $1', [String(orderId)])).rows
    expect(row.reason).toBe('x'.repeat(128))
  })
})

describe('a consumption report', () => {
  it('updates the order and its vouchers, and records every step in the history', async () => {
    const orderId = await order({ vouchers: ['a', 'b'] })
    await consume(orderId, 1, 0, { vouchers: [{ voucher: 'a', quantity: 1, status: 1 }] })
    expect(await recordOf(world.pool, orderId)).toMatchObject({
      state: 'paid',
      used: 1,
      vouchers: { a: 'used', b: 'unused' },
    })
    await consume(orderId, 2, 0, { vouchers: [{ voucher: 'b', quantity: 1, status: 1 }] })
    expect(await recordOf(world.pool, orderId)).toMatchObject({ state: 'consumed', used: 2, vouchers: { b: 'used' } })
    expect(await historyOf(world.pool, orderId)).toEqual([
      `order ${orderId}: used_quantity 0→1 (notice)`,
      'voucher a: state unused→used (notice)',
      `order ${orderId}: state paid→consumed, used_quantity 1→2 (notice)`,
      'voucher b: state unused→used (notice)',
    ])
  })

  it('with a new code of quantity 0 counts that code as one ticket', async () => {
    const orderId = await order()
    await consume(orderId, 1, 0, { vouchers: [{ voucher: 'a', quantity: 0, status: 1 }] })
    const { rows } = await world.pool.query('select * from voucher where order_id = $1', [String(orderId)])
    expect(rows).toMatchObject([{ voucher: 'a', state: 'used', quantity: 1, used_quantity: 1 }])
  })

  it('that is repeated or arrives late changes nothing and adds no history', async () => {
    const orderId = await order({ vouchers: ['a', 'b'] })
    await consume(orderId, 2, 0, { vouchers: [{ voucher: 'a', quantity: 1, status: 1 }] })
    const before = await historyOf(world.pool, orderId)
    await consume(orderId, 2, 0, { vouchers: [{ voucher: 'a', quantity: 1, status: 1 }] })
    await consume(orderId, 1, 0, { vouchers: [{ voucher: 'a', quantity: 1, status: 0 }] })
    await consume(orderId, 0)
    expect(await historyOf(world.pool, orderId)).toEqual(before)
    expect(await recordOf(world.pool, orderId)).toMatchObject({ state: 'consumed', used: 2, vouchers: { a: 'used' } })
  })

  it.each([
    [1, 1, 'consumed'],
    [0, 2, 'refunded'],
    [0, 1, 'paid'],
  ])('with %i used and %i refunded of 2 tickets makes the order %s', async (used, refunded, state) => {
    const orderId = await order()
    await consume(orderId, used, refunded)
    expect(await recordOf(world.pool, orderId)).toMatchObject({ state, used, refunded })
  })

  it('about an order whose pay answer is still missing marks it paid and adds its vouchers', async () => {
    for (const state of ['paying', 'pay_unknown']) {
      const orderId = await order({ state })
      await consume(orderId, 1, 0, {
        vouchers: [{ voucher: 'x', quantity: 1, status: 1, invalidAt: '2026-06-01 00:00:00' }],
      })
      expect(await recordOf(world.pool, orderId)).toMatchObject({ state: 'paid', used: 1, vouchers: { x: 'used' } })
    }
  })

  it.each([
    ['usedQuantity must not be negative', { usedQuantity: -1 }],
    ['refundedQuantity must not be negative', { refundedQuantity: -1 }],
    ['usedQuantity and refundedQuantity together must not exceed quantity', { usedQuantity: 2, refundedQuantity: 1 }],
    [/^quantity is 3; order \d+ has 2$/, { quantity: 3 }],
    [/^voucher stranger is not of order \d+$/, { vouchers: [{ voucher: 'stranger', quantity: 1, status: 1 }] }],
    [/has 2 tickets; 1 used and 2 refunded are more than that$/, { usedQuantity: 0, refundedQuantity: 2 }],
  ] satisfies [string | RegExp, Partial<ConsumptionReport>][])('is refused: %s', async (describe, more) => {
    const orderId = await order({ vouchers: ['a'] })
    await consume(orderId, 1)
    const before = await historyOf(world.pool, orderId)
    await expect(consume(orderId, 1, 0, more)).rejects.toMatchObject({
      describe: typeof describe === 'string' ? describe : expect.stringMatching(describe),
    })
    expect(await historyOf(world.pool, orderId)).toEqual(before)
  })

  it.each([
    ['another one', { partnerOrderId: 'P-2' }, 'P-1', /^partnerOrderId is P-2; that of order \d+ is P-1$/],
    ['one that differs in case', { partnerOrderId: 'p-1' }, 'P-1', /^partnerOrderId is p-1; /],
    ['one with a space', { partnerOrderId: 'P-1 ' }, 'P-1', /^partnerOrderId is P-1 ; /],
    ['another number', { partnerOrderId: '7' }, '07', /^partnerOrderId is 7; that of order \d+ is 07$/],
  ])('whose partnerOrderId differs from that of the order is refused: %s', async (_name, more, own, describe) => {
    const orderId = await order({ partnerOrderId: own })
    await expect(consume(orderId, 1, 0, more)).rejects.toMatchObject({ describe: expect.stringMatching(describe) })
    expect(await recordOf(world.pool, orderId)).toMatchObject({ used: 0 })
    expect(await historyOf(world.pool, orderId)).toEqual([])
  })

  it('gives its partnerOrderId to an order that has none, and later reports must match it', async () => {
    const orderId = await order({ partnerOrderId: null })
    await consume(orderId, 1, 0, { partnerOrderId: 'P-7' })
    await expect(consume(orderId, 2, 0, { partnerOrderId: 'P-8' })).rejects.toMatchObject({
      describe: `partnerOrderId is P-8; that of order ${orderId} is P-7`,
    })
    await consume(orderId, 2, 0, { partnerOrderId: 'P-7' })
    expect(await recordOf(world.pool, orderId)).toMatchObject({ state: 'consumed' })
  })

  describe('without voucherList, for an order with one code per ticket', () => {
    const UNUSED = { a: 'unused', b: 'unused' }
    const all = (state: string) => ({ a: state, b: state })

    it.each([
      ['all used', [[2, 0]], all('used')],
      ['all refunded', [[0, 2]], all('refunded')],
      ['one used', [[1, 0]], UNUSED],
      ['one used, one refunded', [[1, 1]], UNUSED],
      [
        'one after the other',
        [
          [1, 0],
          [2, 0],
        ],
        all('used'),
      ],
    ] as [string, [number, number][], object][])(
      'marks the codes only where the counts leave no choice: %s',
      async (_name, reported, vouchers) => {
        const orderId = await order({ vouchers: ['a', 'b'] })
        for (const [used, refunded] of reported) await consume(orderId, used, refunded)
        expect(await recordOf(world.pool, orderId)).toMatchObject({ vouchers })
      },
    )

    it('takes codes whose state is already known into account', async () => {
      const orderId = await order({ vouchers: ['a', 'b'] })
      await consume(orderId, 0, 1, { vouchers: [{ voucher: 'a', quantity: 1, status: 2 }] })
      await consume(orderId, 1, 1)
      expect(await recordOf(world.pool, orderId)).toMatchObject({ vouchers: { a: 'refunded', b: 'used' } })
    })

    it('leaves the codes alone after a refund that named none of them', async () => {
      const orderId = await order({ vouchers: ['a', 'b', 'c'], quantity: 3 })
      const more = { quantity: 3 }
      await consume(orderId, 0, 1, more)
      await consume(orderId, 1, 1, more)
      expect(await recordOf(world.pool, orderId)).toMatchObject({ vouchers: { ...UNUSED, c: 'unused' } })
      await consume(orderId, 2, 1, more)
      expect(await recordOf(world.pool, orderId)).toMatchObject({
        state: 'consumed',
        vouchers: { ...UNUSED, c: 'unused' },
      })
    })

    it('leaves the codes alone if one is void or some tickets have no code', async () => {
      const refunded = await order({ vouchers: ['a', 'b'] })
      await consume(refunded, 0, 1, { vouchers: [{ voucher: 'a', quantity: 1, status: 3 }] })
      await consume(refunded, 0, 1)
      expect(await recordOf(world.pool, refunded)).toMatchObject({ vouchers: { a: 'void', b: 'unused' } })
      const fewer = await order({ vouchers: ['a', 'b'], quantity: 3 })
      await consume(fewer, 2, 0, { quantity: 3 })
      expect(await recordOf(world.pool, fewer)).toMatchObject({ vouchers: UNUSED })
    })

    it('is noted in the history once per change', async () => {
      const orderId = await order({ vouchers: ['a', 'b'] })
      await consume(orderId, 1)
      await consume(orderId, 1)
      await consume(orderId, 2)
      expect(await historyOf(world.pool, orderId)).toEqual([
        `order ${orderId}: used_quantity 0→1 (notice)`,
        `order ${orderId}: voucherList null→list-missing-unclear 2 (notice)`,
        `order ${orderId}: state paid→consumed, used_quantity 1→2 (notice)`,
        'voucher a: state unused→used (notice)',
        'voucher b: state unused→used (notice)',
        `order ${orderId}: voucherList null→list-missing-marked 2 used (notice)`,
      ])
    })

    it.each([
      ['one code for all tickets', { vouchers: ['all'], voucherQuantity: 2 }, { all: 'used' }],
      ['no codes', {}, {}],
    ])('is not noted in the history of an order with %s', async (_name, fields, vouchers) => {
      const orderId = await order(fields)
      await consume(orderId, 2)
      expect(await recordOf(world.pool, orderId)).toMatchObject({ state: 'consumed', vouchers })
      expect((await historyOf(world.pool, orderId)).filter((line) => line.includes('voucherList'))).toEqual([])
    })
  })

  it.each(['creating', 'create_unknown', 'created', 'create_failed', 'pay_failed', 'closing', 'closed'])(
    'about an order that is %s is refused, naming both states',
    async (state) => {
      const orderId = await order({ state })
      await expect(consume(orderId, 2)).rejects.toMatchObject({
        describe: expect.stringMatching(`^order ${orderId} is ${state} \\(.+\\); it cannot become consumed$`),
      })
    },
  )

  it.each([
    [1, 0],
    [0, 1],
  ])('about %i used and %i refunded tickets of an order whose payment failed is refused', async (used, refunded) => {
    const orderId = await order({ state: 'pay_failed' })
    await expect(consume(orderId, used, refunded)).rejects.toMatchObject({
      describe: expect.stringMatching(`^order ${orderId} is pay_failed \\(.+\\); it cannot become paid$`),
    })
    expect(await recordOf(world.pool, orderId)).toMatchObject({ state: 'pay_failed', used: 0, refunded: 0 })
    await consume(orderId, 0)
  })

  it('gets the same refusal for an unknown order as for one of another partner', async () => {
    const orderId = await order()
    await expect(consume(orderId, 1, 0, {}, 7002n)).rejects.toMatchObject({
      describe: `order ${orderId} does not exist`,
    })
    await expect(consume(5n, 1)).rejects.toMatchObject({ describe: 'order 5 does not exist' })
  })

  it('is rolled back with the transaction it is part of', async () => {
    const orderId = await order()
    const rolledBack = world.deps.db.tx(async (db) => {
      const report = { orderId, partnerOrderId: 'P-1', quantity: 2, usedQuantity: 2, refundedQuantity: 0 }
      await reportConsumption({ ...world.deps, db }, 7001n, report)
      throw new Error('the notice could not be kept')
    })
    await expect(rolledBack).rejects.toThrow('the notice')
    expect(await recordOf(world.pool, orderId)).toMatchObject({ state: 'paid', used: 0 })
  })
})

describe('a refund result', () => {
  it('for all remaining tickets refunds their vouchers too, named or not', async () => {
    const orderId = await order({ vouchers: ['one', 'two'] })
    await consume(orderId, 1, 0, { vouchers: [{ voucher: 'one', quantity: 1, status: 1 }] })
    await seedRefund(world.pool, { refundId: `all-${orderId}`, orderId, quantity: 1 })
    await decide(orderId, `all-${orderId}`, 200)
    expect(await recordOf(world.pool, orderId)).toMatchObject({ vouchers: { one: 'used', two: 'refunded' } })
  })

  it('refunds the requested tickets and vouchers', async () => {
    const orderId = await order({ vouchers: ['a', 'b'] })
    const refundId = `r-${orderId}`
    await seedRefund(world.pool, { refundId, orderId, vouchers: ['b'] })
    await decide(orderId, refundId, 200)
    expect(await recordOf(world.pool, orderId)).toEqual({
      state: 'paid',
      used: 0,
      refunded: 1,
      vouchers: { a: 'unused', b: 'refunded' },
      refunds: { [refundId]: 'refunded' },
    })
    expect(await historyOf(world.pool, orderId)).toEqual([
      `refund ${refundId}: state reviewing→refunded, reason null→why, decision_code null→200 (notice)`,
      `order ${orderId}: refunded_quantity 0→1 (notice)`,
      'voucher b: state unused→refunded (notice)',
    ])
  })

  it('and the partner’s cumulative count are not added up, whichever comes first', async () => {
    for (const noticeFirst of [true, false]) {
      const orderId = await order()
      await seedRefund(world.pool, { refundId: `r-${orderId}`, orderId, quantity: 2 })
      if (noticeFirst) await consume(orderId, 0, 2)
      await decide(orderId, `r-${orderId}`, 200)
      if (!noticeFirst) await consume(orderId, 0, 2)
      expect(await recordOf(world.pool, orderId)).toMatchObject({ state: 'refunded', refunded: 2 })
    }
  })

  it('keeps a voucher for several tickets unused while it has tickets left', async () => {
    const orderId = await order({ vouchers: ['all'], voucherQuantity: 2 })
    for (const state of ['unused', 'refunded']) {
      const refundId = `r-${state}-${orderId}`
      await seedRefund(world.pool, { refundId, orderId, vouchers: ['all'] })
      await decide(orderId, refundId, 200)
      expect((await recordOf(world.pool, orderId)).vouchers).toEqual({ all: state })
    }
  })

  it('marks its code even if the refunded count so far comes from a notice about another refund', async () => {
    const orderId = await order({ quantity: 4, vouchers: ['a', 'b', 'c', 'd'] })
    await seedRefund(world.pool, { refundId: `r1-${orderId}`, orderId, quantity: 2, vouchers: ['a', 'b'] })
    await seedRefund(world.pool, { refundId: `r2-${orderId}`, orderId, vouchers: ['c'] })
    const reported = ['a', 'b', 'c', 'd'].map(
      (voucher) => ({ voucher, quantity: 1, status: voucher < 'c' ? 2 : 0 }) as const,
    )
    await consume(orderId, 0, 2, { quantity: 4, vouchers: reported })
    await decide(orderId, `r2-${orderId}`, 200)
    await decide(orderId, `r1-${orderId}`, 200)
    const vouchers = { a: 'refunded', b: 'refunded', c: 'refunded', d: 'unused' }
    expect(await recordOf(world.pool, orderId)).toMatchObject({ state: 'paid', refunded: 3, vouchers })
  })

  it.each([606, 699] as const)('with code %i refuses the refund and leaves the tickets alone', async (code) => {
    const orderId = await order()
    await seedRefund(world.pool, { refundId: `r-${orderId}`, orderId })
    await decide(orderId, `r-${orderId}`, code)
    expect(await recordOf(world.pool, orderId)).toMatchObject({ refunded: 0, refunds: { [`r-${orderId}`]: 'refused' } })
  })

  it.each([
    [200, 606, 'refunded', 'refused'],
    [699, 200, 'refused', 'refunded'],
  ] as const)(
    'with code %i has no second effect when repeated, and code %i after it is refused',
    async (first, second, is, cannot) => {
      const orderId = await order()
      const refundId = `r-${orderId}`
      await seedRefund(world.pool, { refundId, orderId })
      await decide(orderId, refundId, first)
      const before = await historyOf(world.pool, orderId)
      await decide(orderId, refundId, first)
      await expect(decide(orderId, refundId, second)).rejects.toMatchObject({
        describe: `refund ${refundId} is already ${is}; it cannot become ${cannot}`,
      })
      expect(await historyOf(world.pool, orderId)).toEqual(before)
    },
  )

  it('with the partnerOrderId of another order is refused', async () => {
    const orderId = await order({ partnerOrderId: 'P-9' })
    await seedRefund(world.pool, { refundId: `r-${orderId}`, orderId })
    await expect(decide(orderId, `r-${orderId}`, 200)).rejects.toMatchObject({
      describe: `partnerOrderId is P-1; that of order ${orderId} is P-9`,
    })
    expect(await recordOf(world.pool, orderId)).toMatchObject({
      refunded: 0,
      refunds: { [`r-${orderId}`]: 'reviewing' },
    })
  })

  it('about an order that has no partnerOrderId yet is accepted', async () => {
    const orderId = await order({ partnerOrderId: null })
    await seedRefund(world.pool, { refundId: `r-${orderId}`, orderId })
    await decide(orderId, `r-${orderId}`, 200)
    expect(await recordOf(world.pool, orderId)).toMatchObject({ refunded: 1 })
  })

  it('about an unknown refund or order is refused', async () => {
    const [orderId, other] = [await order(), await order()]
    await seedRefund(world.pool, { refundId: `r-${orderId}`, orderId })
    await expect(decide(orderId, 'none', 200)).rejects.toMatchObject({ describe: 'refund none does not exist' })
    await expect(decide(other, `r-${orderId}`, 200)).rejects.toMatchObject({
      describe: expect.stringMatching(/^refund r-/),
    })
    await expect(decide(orderId, `r-${orderId}`, 200, 7002n)).rejects.toMatchObject({
      describe: `order ${orderId} does not exist`,
    })
  })
})

describe('a product change', () => {
  it('creates or updates the product and queues each pull once, however often it is repeated', async () => {
    const notify = (...changes: [string, 0 | 1 | 2 | 5][]) =>
      applyProductChange(
        world.deps,
        7001n,
        changes.map(([partnerDealId, status]) => ({ partnerDealId, status })),
        CHANGE,
      )
    await notify(['d-2', 2], ['d-1', 1], ['d-1', 5], ['d-0', 0])
    await notify(['d-1', 2], ['d-1', 5], ['d-1', 1])
    const { rows } = await world.pool.query('select partner_deal_id, sale_state from product order by 1')
    expect(rows).toEqual([
      { partner_deal_id: 'd-0', sale_state: 'off_sale' },
      { partner_deal_id: 'd-1', sale_state: 'on_sale' },
      { partner_deal_id: 'd-2', sale_state: 'unknown' },
    ])
    expect(await duePulls(world.pool)).toEqual(['prices 7001:d-1', 'product 7001:d-1', 'product 7001:d-2'])
    expect(await waitingJobs(world.pool)).toEqual(['pull-due pull-due:7001'])
    const history = await world.pool.query(
      "select record_id, change from record_change where record = 'product' order by 1",
    )
    expect(history.rows).toEqual([
      { record_id: 'd-0', change: { sale_state: [null, 'off_sale'] } },
      { record_id: 'd-1', change: { sale_state: [null, 'on_sale'] } },
      { record_id: 'd-2', change: { sale_state: [null, 'unknown'] } },
    ])
  })

  it('does not deadlock when many notices about the same products arrive at once', async () => {
    const ids = ['x', 'y', 'z']
    await Promise.all(
      Array.from({ length: 30 }, (_, n) => {
        const order = n % 2 ? ids : ids.toReversed()
        const changes = order.map((partnerDealId) => ({ partnerDealId, status: n % 3 ? (5 as const) : (1 as const) }))
        return applyProductChange(world.deps, 7001n, changes, CHANGE)
      }),
    )
    expect((await duePulls(world.pool)).filter((pull) => /:[xyz]$/.test(pull))).toHaveLength(6)
  })

  it('leaves no job when its transaction is rolled back', async () => {
    await world.pool.query('delete from graphile_worker._private_jobs')
    const before = await duePulls(world.pool)
    await world.deps.db
      .tx(async (db) => {
        await applyProductChange({ ...world.deps, db }, 7001n, [{ partnerDealId: 'gone', status: 1 }], CHANGE)
        throw new Error('no')
      })
      .catch(() => {})
    expect(await duePulls(world.pool)).toEqual(before)
    expect(await waitingJobs(world.pool)).toEqual([])
  })
})
