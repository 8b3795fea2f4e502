import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventsOfAttempt, findOpenAttempt } from '../../src/sandbox/certification/attempt-store.ts'
import { nextStep, showRun } from '../../src/sandbox/certification/run.ts'
import { showOrder } from '../../src/ticketing/orders/show-order.ts'
import { type Lab, openLab, type StepResult, walkTo } from '../sandbox/lab.ts'
import { completeStep, orderOf, useTickets } from '../sandbox/walk.ts'
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
const remarksIn = ({ events }: StepResult) =>
  events.flatMap(({ kind, data }) => ((kind === 'notice' || kind === 'rejected') && data.remark ? [data.remark] : []))

/** Lets the wait of the step run out. */
const letTimeOut = async (runId: string): Promise<void> => {
  await lab.awaited(runId)
  lab.world.clock.advance(600)
}

describe('the consumption step', () => {
  /** Shared by these tests: each attempt has its own order, as one of them shows. */
  let runId: string
  beforeAll(async () => {
    runId = await lab.run()
    await walkTo(lab, runId, 'consumption')
  })

  it('keeps waiting while only some tickets are used, and says so', async () => {
    const result = await lab.runStep(runId, 'consumption', async () => {
      await useTickets(lab, runId, 1)
      await useTickets(lab, runId, 1)
    })
    expect(result).toMatchObject({ outcome: 'passed', failures: [] })
    expect(remarksIn(result)).toEqual([{ id: 'partly-used', values: { used: '1', quantity: '2' } }])
  })

  it('points out a partial notice that marks no code as used', async () => {
    const result = await lab.runStep(runId, 'consumption', async () => {
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
    expect(result.outcome).toBe('passed')
    expect(remarksIn(result)).toEqual([{ id: 'partly-used-unmarked', values: { used: '1', quantity: '2' } }])
  })

  /** Sends a notice about the order of the step that is refused because its usedQuantity is a word. */
  const sendRefused = async () => {
    const orderId = await orderOf(lab, runId, 'consumption')
    const { order } = await showOrder(lab.world.deps, orderId)
    const numbers = { quantity: 2, usedQuantity: 'both', refundedQuantity: 0 }
    const body = { orderId, partnerOrderId: order.partner_order_id, ...numbers }
    expect(await lab.send(CONSUMPTION, { partnerId: 7001, body })).toMatchObject({ code: 300 })
    lab.world.clock.advance(1)
  }

  /** Waits until the running attempt has logged a refused notice. */
  const refusalLogged = () =>
    until(async () => {
      const open = await findOpenAttempt(lab.world.deps.db, runId)
      const events = await eventsOfAttempt(lab.world.deps.db, open?.attempt_id ?? '')
      return events.some(({ kind }) => kind === 'rejected')
    })

  it('accepts a corrected notice after refused ones', async () => {
    const result = await lab.runStep(runId, 'consumption', async () => {
      await lab.awaited(runId)
      await sendRefused()
      await sendRefused()
      await useTickets(lab, runId)
    })
    expect(result).toMatchObject({ outcome: 'passed', failures: [] })
    const again = { id: 'refused-send-again', values: {} }
    expect(remarksIn(result)).toEqual([again, again])
  })

  it('fails with the reason when a refused notice is not corrected in time', async () => {
    const result = await lab.runStep(runId, 'consumption', async () => {
      await lab.awaited(runId)
      await sendRefused()
      await refusalLogged()
      await letTimeOut(runId)
    })
    expect(result.outcome).toBe('failed')
    expect(result.failures).toMatchObject([
      { id: 'notice-accepted', actual: expect.stringContaining('body.usedQuantity') },
    ])
  })

  it('ends in time even if the clock is set back meanwhile', async () => {
    const result = await lab.runStep(runId, 'consumption', async () => {
      await lab.awaited(runId)
      lab.world.clock.advance(-3_600)
      await letTimeOut(runId)
    })
    lab.world.clock.advance(3_000)
    expect(result.failures).toMatchObject([{ id: 'notice-arrived' }])
  })

  it('fails with the number of used tickets when the others are not used in time', async () => {
    const result = await lab.runStep(runId, 'consumption', async () => {
      await useTickets(lab, runId, 1)
      await letTimeOut(runId)
    })
    expect(result.outcome).toBe('failed')
    expect(result.failures).toMatchObject([{ id: 'quantities', expected: '2', actual: '1' }])
  })

  it('creates an order per attempt, so that notices about earlier orders neither pass nor fail it', async () => {
    await lab.runStep(runId, 'consumption', async () => {
      await useTickets(lab, runId, 1)
      await letTimeOut(runId)
    })
    const former = await orderOf(lab, runId, 'consumption')
    const second = await lab.runStep(runId, 'consumption', async () => {
      const { about } = await lab.awaited(runId)
      expect(about.orderId).not.toBe(String(former))
      // The second ticket of the former order is used late.
      await lab.control('consume', { orderId: former, quantity: 1 })
      await useTickets(lab, runId)
    })
    expect(second).toMatchObject({ outcome: 'passed', failures: [] })
    const now = await orderOf(lab, runId, 'consumption')
    expect(remarksIn(second)).toEqual([{ id: 'other-order', values: { said: String(former), wanted: String(now) } }])
    const third = await lab.runStep(runId, 'consumption', () => letTimeOut(runId))
    expect(third).toMatchObject({ outcome: 'failed', failures: [{ id: 'notice-arrived' }] })
    expect((await completeStep(lab, runId, 'consumption')).outcome).toBe('passed')
  })

  it('is not failed by a refused notice about an earlier order, which the log names', async () => {
    const former = await orderOf(lab, runId, 'main')
    const result = await lab.runStep(runId, 'consumption', async () => {
      await lab.awaited(runId)
      const body = { orderId: former, partnerOrderId: 'P-of-nobody', quantity: 2, usedQuantity: 2, refundedQuantity: 0 }
      expect((await lab.send(CONSUMPTION, { partnerId: 7001, body })).code).toBe(300)
      lab.world.clock.advance(1)
      await useTickets(lab, runId)
    })
    expect(result).toMatchObject({ outcome: 'passed', failures: [] })
    expect(remarksIn(result)).toMatchObject([{ id: 'other-order', values: { said: String(former) } }])
  })

  it('is not failed by refused notices about unknown orders, which the log names', async () => {
    const unknown = ['4242424242', '18446744073709551617', 'ORDER-7']
    const result = await lab.runStep(runId, 'consumption', async () => {
      await lab.awaited(runId)
      for (const orderId of unknown) {
        const body = { orderId, partnerOrderId: 'P', quantity: 2, usedQuantity: 2, refundedQuantity: 0 }
        expect((await lab.send(CONSUMPTION, { partnerId: 7001, body })).code).toBe(300)
        lab.world.clock.advance(1)
      }
      await useTickets(lab, runId)
    })
    expect(result).toMatchObject({ outcome: 'passed', failures: [] })
    expect(remarksIn(result)).toMatchObject(unknown.map((id) => ({ id: 'other-order', values: { said: id } })))
  })

  it('says which notice arrived instead when none about its order arrives in time', async () => {
    const result = await lab.runStep(runId, 'consumption', async () => {
      await lab.awaited(runId)
      const body = { orderId: 4242, partnerOrderId: 'P', quantity: 2, usedQuantity: 2, refundedQuantity: 0 }
      await lab.send(CONSUMPTION, { partnerId: 7001, body })
      await refusalLogged()
      await letTimeOut(runId)
    })
    const orderId = await orderOf(lab, runId, 'consumption')
    expect(result.failures).toMatchObject([
      { id: 'notice-arrived', actual: `only a notice about order 4242, not ${orderId}` },
    ])
  })
})

describe('the product change step', () => {
  const change = (...body: { partnerDealId: string; status: number | string }[]) =>
    lab.send(PRODUCT, { partnerId: 7001, body })
  const chosen = { functions: ['product-pull', 'pay-at-once', 'refund-at-once', 'product-change'] }
  const begin = async (): Promise<string> => {
    lab.world.clock.advance(11)
    const runId = await lab.run({ ...chosen, products: { main: 'DEMO-OPEN' } })
    await walkTo(lab, runId, 'product-change')
    return runId
  }

  it('is passed by a notice that counts as a repeat of one from just before the start', async () => {
    const runId = await begin()
    await change({ partnerDealId: 'DEMO-OPEN', status: 5 })
    lab.world.clock.advance(5)
    const result = await lab.runStep(runId, 'product-change', async () => {
      await change({ partnerDealId: 'DEMO-OPEN', status: 5 })
      lab.world.clock.advance(600)
    })
    expect(result).toMatchObject({ outcome: 'passed', failures: [] })
  })

  it('is decided by the first correct notice, whatever else arrives at the same moment', async () => {
    const runId = await begin()
    const result = await lab.runStep(runId, 'product-change', async () => {
      await lab.awaited(runId)
      await change({ partnerDealId: 'DEMO-OPEN', status: 2 })
      await change({ partnerDealId: 'DEMO-OPEN', status: 'often' })
      await change({ partnerDealId: 'DEMO-BOAT', status: 2 })
    })
    expect(result).toMatchObject({ outcome: 'passed', failures: [] })
  })

  it('keeps waiting after a notice about another product, and names both products', async () => {
    const runId = await begin()
    const result = await lab.runStep(runId, 'product-change', async () => {
      await lab.awaited(runId)
      await change({ partnerDealId: 'DEMO-BOAT', status: 5 })
      await change({ partnerDealId: 'DEMO-BOAT', status: 'never' })
      lab.world.clock.advance(1)
      await change({ partnerDealId: 'DEMO-BOAT', status: 1 }, { partnerDealId: 'DEMO-OPEN', status: 1 })
    })
    expect(result).toMatchObject({ outcome: 'passed', failures: [] })
    const other = { id: 'other-product', values: { said: 'DEMO-BOAT', wanted: 'DEMO-OPEN' } }
    expect(remarksIn(result)).toEqual([other, other])
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

  it('requests a new refund each time it is started', async () => {
    const refundIds = new Set<string>()
    for (const _ of [1, 2]) {
      const ticking = setInterval(() => lab.world.clock.advance(1), 500)
      const result = await completeStep(lab, runId, 'refund-notice').finally(() => clearInterval(ticking))
      expect(result).toMatchObject({ outcome: 'passed', failures: [] })
      const orderId = await orderOf(lab, runId, 'review')
      refundIds.add((await showOrder(lab.world.deps, orderId)).order.refunds[0]?.refund_id ?? '')
    }
    expect(refundIds.size).toBe(2)
  })

  it('is not decided by a late notice about a former refund', async () => {
    /** Lets time pass until the tickets are issued whose refund the step requests. */
    const awaited = () => {
      const ticking = setInterval(() => lab.world.clock.advance(1), 500)
      return lab.awaited(runId).finally(() => clearInterval(ticking))
    }
    const first = await lab.runStep(runId, 'refund-notice', async () => {
      await awaited()
      await letTimeOut(runId)
    })
    expect(first).toMatchObject({ outcome: 'failed', failures: [{ id: 'notice-arrived' }] })
    const former = first.events.flatMap(({ kind, data }) =>
      kind === 'waiting' && data.about.refundId ? [data.about.refundId] : [],
    )[0]
    const second = await lab.runStep(runId, 'refund-notice', async () => {
      const { about } = await awaited()
      await lab.control('decide-refund', { refundId: former, approve: false })
      await lab.control('decide-refund', { refundId: about.refundId, approve: true })
    })
    expect(second).toMatchObject({ outcome: 'passed', failures: [] })
    expect(remarksIn(second)).toMatchObject([{ id: 'other-order' }])
  })

  /** Runs every step before this one, with what the demo partner has to do for it. */
  async function walkThrough(runId: string, stepId: string): Promise<void> {
    for (;;) {
      const id = (await showRun(lab.world.deps, lab.partnerId, runId)).current?.step.id
      if (id === stepId || id === undefined) return
      expect((await completeStep(lab, runId, id)).failures, id).toEqual([])
      await nextStep(lab.world.deps, lab.partnerId, runId, id)
    }
  }
})
