import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventsOfAttempt, findOpenAttempt } from '../../src/sandbox/certification/attempt-store.ts'
import { nextStep, showRun } from '../../src/sandbox/certification/run.ts'
import { showOrder } from '../../src/ticketing/orders/show-order.ts'
import { type Lab, type Made, openLab, walkTo } from '../sandbox/lab.ts'
import { makeStep, orderOf, useTickets } from '../sandbox/walk.ts'
import { until } from '../until.ts'

/** Steps that wait for a notice: what completes them, and what they ignore. */

let lab: Lab
beforeAll(async () => {
  lab = await openLab()
})
afterAll(() => lab.close())

const CONSUMPTION = '/mtp/api/order/consume/notice'
const PRODUCT = '/mtp/api/deal/change/notice'

/** The remarks on notices that did not complete the step. */
const remarksIn = ({ events }: Made) =>
  events.flatMap(({ kind, data }) => ((kind === 'notice' || kind === 'rejected') && data.remark ? [data.remark] : []))

/** Lets the wait of the step run out. */
const outOfTime = async (runId: string): Promise<void> => {
  await lab.awaited(runId)
  lab.world.clock.advance(600)
}

describe('the consumption step', () => {
  /** One run for all: each attempt has an order of its own, as is shown below. */
  let runId: string
  beforeAll(async () => {
    runId = await lab.run()
    await walkTo(lab, runId, 'consumption')
  })

  it('waits on while only some tickets are used, and says so', async () => {
    const made = await lab.make(runId, 'consumption', async () => {
      await useTickets(lab, runId, 1)
      await useTickets(lab, runId, 1)
    })
    expect(made).toMatchObject({ outcome: 'passed', failures: [] })
    expect(remarksIn(made)).toEqual([{ id: 'partly-used', values: { used: '1', quantity: '2' } }])
  })

  it('names a partial notice that marks none of its codes as used', async () => {
    const made = await lab.make(runId, 'consumption', async () => {
      await lab.awaited(runId)
      const { order } = await showOrder(lab.world.deps, await orderOf(lab, runId, 'consumption'))
      const voucherList = order.vouchers.map(({ voucher }) => ({
        voucher,
        voucherInvalidTime: '2030-01-01 23:59:59',
        quantity: 1,
        status: 0,
      }))
      const quantities = { quantity: 2, usedQuantity: 1, refundedQuantity: 0 }
      const body = { orderId: order.order_id, partnerOrderId: order.partner_order_id, ...quantities, voucherList }
      expect(await lab.send(CONSUMPTION, { partnerId: 7001, body })).toMatchObject({ code: 200 })
      await useTickets(lab, runId)
    })
    expect(made.outcome).toBe('passed')
    expect(remarksIn(made)).toEqual([{ id: 'partly-used-unmarked', values: { used: '1', quantity: '2' } }])
  })

  /** A notice about the order of the step, refused because it says how many were used in words. */
  const refused = async () => {
    const orderId = await orderOf(lab, runId, 'consumption')
    const { order } = await showOrder(lab.world.deps, orderId)
    const numbers = { quantity: 2, usedQuantity: 'both', refundedQuantity: 0 }
    const body = { orderId, partnerOrderId: order.partner_order_id, ...numbers }
    expect(await lab.send(CONSUMPTION, { partnerId: 7001, body })).toMatchObject({ code: 300 })
    lab.world.clock.advance(1)
  }

  it('counts a notice that was refused once it is corrected and sent again', async () => {
    const made = await lab.make(runId, 'consumption', async () => {
      await lab.awaited(runId)
      await refused()
      await refused()
      await useTickets(lab, runId)
    })
    expect(made).toMatchObject({ outcome: 'passed', failures: [] })
    const again = { id: 'refused-send-again', values: {} }
    expect(remarksIn(made)).toEqual([again, again])
  })

  it('fails with the reason when a refused notice is not corrected in time', async () => {
    const made = await lab.make(runId, 'consumption', async () => {
      await lab.awaited(runId)
      await refused()
      await until(async () => {
        const open = await findOpenAttempt(lab.world.deps.db, runId)
        const lines = await eventsOfAttempt(lab.world.deps.db, open?.attempt_id ?? '')
        return lines.some(({ kind }) => kind === 'rejected')
      })
      await outOfTime(runId)
    })
    expect(made.outcome).toBe('failed')
    expect(made.failures).toMatchObject([
      { id: 'notice-accepted', actual: expect.stringContaining('body.usedQuantity') },
    ])
  })

  it('fails with the number that was used when the rest is not used in time', async () => {
    const made = await lab.make(runId, 'consumption', async () => {
      await useTickets(lab, runId, 1)
      await outOfTime(runId)
    })
    expect(made.outcome).toBe('failed')
    expect(made.failures).toMatchObject([{ id: 'quantities', expected: '2', actual: '1' }])
  })

  it('has an order of its own each time: nothing that came before can pass or fail it', async () => {
    await lab.make(runId, 'consumption', async () => {
      await useTickets(lab, runId, 1)
      await outOfTime(runId)
    })
    const former = await orderOf(lab, runId, 'consumption')
    const second = await lab.make(runId, 'consumption', async () => {
      const { about } = await lab.awaited(runId)
      expect(about.orderId).not.toBe(String(former))
      // The other visitor of the former order comes late.
      await lab.control('consume', { orderId: former, quantity: 1 })
      await useTickets(lab, runId)
    })
    expect(second).toMatchObject({ outcome: 'passed', failures: [] })
    const now = await orderOf(lab, runId, 'consumption')
    expect(remarksIn(second)).toEqual([{ id: 'other-order', values: { said: String(former), wanted: String(now) } }])
    const third = await lab.make(runId, 'consumption', () => outOfTime(runId))
    expect(third).toMatchObject({ outcome: 'failed', failures: [{ id: 'notice-arrived' }] })
    expect((await makeStep(lab, runId, 'consumption')).outcome).toBe('passed')
  })

  it('is not failed by a refused notice about an earlier order, which the log names', async () => {
    const former = await orderOf(lab, runId, 'main')
    const made = await lab.make(runId, 'consumption', async () => {
      await lab.awaited(runId)
      const body = { orderId: former, partnerOrderId: 'P-of-nobody', quantity: 2, usedQuantity: 2, refundedQuantity: 0 }
      expect((await lab.send(CONSUMPTION, { partnerId: 7001, body })).code).toBe(300)
      lab.world.clock.advance(1)
      await useTickets(lab, runId)
    })
    expect(made).toMatchObject({ outcome: 'passed', failures: [] })
    expect(remarksIn(made)).toMatchObject([{ id: 'other-order', values: { said: String(former) } }])
  })

  it('is not failed by refused notices about unknown orders, which the log names', async () => {
    const unknown = ['4242424242', '18446744073709551617', 'ORDER-7']
    const made = await lab.make(runId, 'consumption', async () => {
      await lab.awaited(runId)
      for (const orderId of unknown) {
        const body = { orderId, partnerOrderId: 'P', quantity: 2, usedQuantity: 2, refundedQuantity: 0 }
        expect((await lab.send(CONSUMPTION, { partnerId: 7001, body })).code).toBe(300)
        lab.world.clock.advance(1)
      }
      await useTickets(lab, runId)
    })
    expect(made).toMatchObject({ outcome: 'passed', failures: [] })
    expect(remarksIn(made)).toMatchObject(unknown.map((id) => ({ id: 'other-order', values: { said: id } })))
  })

  it('says what came instead when nothing about its order comes in time', async () => {
    const made = await lab.make(runId, 'consumption', async () => {
      await lab.awaited(runId)
      const body = { orderId: 4242, partnerOrderId: 'P', quantity: 2, usedQuantity: 2, refundedQuantity: 0 }
      await lab.send(CONSUMPTION, { partnerId: 7001, body })
      await until(async () => {
        const open = await findOpenAttempt(lab.world.deps.db, runId)
        const lines = await eventsOfAttempt(lab.world.deps.db, open?.attempt_id ?? '')
        return lines.some(({ kind }) => kind === 'rejected')
      })
      await outOfTime(runId)
    })
    const orderId = await orderOf(lab, runId, 'consumption')
    expect(made.failures).toMatchObject([
      { id: 'notice-arrived', actual: `only a notice about order 4242, not ${orderId}` },
    ])
  })
})

describe('the product change step', () => {
  const change = (...body: { partnerDealId: string; status: number | string }[]) =>
    lab.send(PRODUCT, { partnerId: 7001, body })
  const wish = { functions: ['product-pull', 'pay-at-once', 'refund-at-once', 'product-change'] }
  const begin = async (): Promise<string> => {
    const runId = await lab.run({ ...wish, products: { main: 'DEMO-OPEN' } })
    await walkTo(lab, runId, 'product-change')
    return runId
  }

  it('is decided by the first right notice, whatever comes in the same moment', async () => {
    const runId = await begin()
    const made = await lab.make(runId, 'product-change', async () => {
      await lab.awaited(runId)
      await change({ partnerDealId: 'DEMO-OPEN', status: 2 })
      await change({ partnerDealId: 'DEMO-OPEN', status: 'often' })
      await change({ partnerDealId: 'DEMO-BOAT', status: 2 })
    })
    expect(made).toMatchObject({ outcome: 'passed', failures: [] })
  })

  it('waits on after a notice about another product, and names both', async () => {
    const runId = await begin()
    const made = await lab.make(runId, 'product-change', async () => {
      await lab.awaited(runId)
      await change({ partnerDealId: 'DEMO-BOAT', status: 5 })
      await change({ partnerDealId: 'DEMO-BOAT', status: 'never' })
      lab.world.clock.advance(1)
      await change({ partnerDealId: 'DEMO-BOAT', status: 1 }, { partnerDealId: 'DEMO-OPEN', status: 1 })
    })
    expect(made).toMatchObject({ outcome: 'passed', failures: [] })
    const other = { id: 'other-product', values: { said: 'DEMO-BOAT', wanted: 'DEMO-OPEN' } }
    expect(remarksIn(made)).toEqual([other, other])
  })
})

describe('the refund notice step', () => {
  let runId: string
  beforeAll(async () => {
    runId = await lab.run({
      functions: ['product-pull', 'price-calendar', 'pay-at-once', 'refund-after-review'],
      products: { main: 'DEMO-BOAT', review: 'DEMO-TOWER' },
    })
    await walkThrough(runId, 'refund-notice')
  })

  it('requests another refund when it is started again, and ignores notices about the former one', async () => {
    const before = new Set<string>()
    for (const _ of [1, 2]) {
      const ticking = setInterval(() => lab.world.clock.advance(1), 500)
      const made = await makeStep(lab, runId, 'refund-notice').finally(() => clearInterval(ticking))
      expect(made).toMatchObject({ outcome: 'passed', failures: [] })
      const orderId = await orderOf(lab, runId, 'review')
      before.add((await showOrder(lab.world.deps, orderId)).order.refunds[0]?.refund_id ?? '')
    }
    expect(before.size).toBe(2)
  })

  it('is not decided by a late notice about a former refund', async () => {
    /** Until the tickets are there that it asks to refund. */
    const awaited = () => {
      const ticking = setInterval(() => lab.world.clock.advance(1), 500)
      return lab.awaited(runId).finally(() => clearInterval(ticking))
    }
    const first = await lab.make(runId, 'refund-notice', async () => {
      await awaited()
      await outOfTime(runId)
    })
    expect(first).toMatchObject({ outcome: 'failed', failures: [{ id: 'notice-arrived' }] })
    const former = first.events.flatMap(({ kind, data }) =>
      kind === 'waiting' && data.about.refundId ? [data.about.refundId] : [],
    )[0]
    const second = await lab.make(runId, 'refund-notice', async () => {
      const { about } = await awaited()
      await lab.control('decide-refund', { refundId: former, approve: false })
      await lab.control('decide-refund', { refundId: about.refundId, approve: true })
    })
    expect(second).toMatchObject({ outcome: 'passed', failures: [] })
    expect(remarksIn(second)).toMatchObject([{ id: 'other-order' }])
  })

  /** Walks up to a step with what the demo partner has to do for those before. */
  async function walkThrough(runId: string, stepId: string): Promise<void> {
    for (;;) {
      const id = (await showRun(lab.world.deps, lab.partnerId, runId)).current?.step.id
      if (id === stepId || id === undefined) return
      expect((await makeStep(lab, runId, id)).failures, id).toEqual([])
      await nextStep(lab.world.deps, lab.partnerId, runId, id)
    }
  }
})
