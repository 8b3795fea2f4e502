import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nextStep, showRun } from '../../src/sandbox/certification/run.ts'
import { showOrder } from '../../src/ticketing/orders/show-order.ts'
import { type Lab, openLab, walkTo } from './lab.ts'
import { completeStep, orderOf } from './walk.ts'

/** Whatever people at the partner do too early, every step can still pass. */

let lab: Lab
beforeAll(async () => {
  lab = await openLab()
})
afterAll(() => lab.close())

describe('an order that was used too early', () => {
  it('is not queried, but replaced by a new one', async () => {
    const runId = await lab.run()
    await walkTo(lab, runId, 'order-query')
    const used = await orderOf(lab, runId, 'main')
    await lab.control('consume', { orderId: used, quantity: 2 })
    expect((await showOrder(lab.world.deps, used)).order.state).toBe('consumed')
    const result = await completeStep(lab, runId, 'order-query')
    expect(result.failures).toEqual([])
    expect(result.outcome).toBe('passed')
    expect(await orderOf(lab, runId, 'main')).not.toBe(used)
    await nextStep(lab.world.deps, lab.partnerId, runId, 'order-query')
    await walkTo(lab, runId, 'consumption')
    expect((await completeStep(lab, runId, 'consumption')).outcome).toBe('passed')
  })
})

describe('a refund that the partner rejects', () => {
  it('fails the step, which requests a new refund when it is run again', async () => {
    const chosen = {
      functions: ['pay-later', 'refund-after-review', 'price-calendar'],
      products: { main: 'DEMO-TOWER' },
    }
    const runId = await lab.run(chosen)
    for (;;) {
      const step = (await showRun(lab.world.deps, lab.partnerId, runId)).current?.step.id ?? ''
      if (step === 'refund-notice') break
      expect((await completeStep(lab, runId, step)).failures).toEqual([])
      await nextStep(lab.world.deps, lab.partnerId, runId, step)
    }
    const refused = await lab.runStep(runId, 'refund-notice', async () => {
      const { refundId } = (await lab.awaited(runId)).about // if decided earlier, the step would request another one
      await lab.control('decide-refund', { refundId, approve: false })
    })
    expect(refused.outcome).toBe('failed')
    const before = await orderOf(lab, runId, 'review')
    const result = await lab.runStep(runId, 'refund-notice', async () => {
      const ticking = setInterval(() => lab.world.clock.advance(1), 500)
      try {
        await expect.poll(() => orderOf(lab, runId, 'review')).not.toBe(before)
        const orderId = await orderOf(lab, runId, 'review')
        const refundOf = async () => (await showOrder(lab.world.deps, orderId)).order.refunds[0]
        await expect.poll(async () => (await refundOf().catch(() => undefined))?.state).toBe('reviewing')
        await lab.control('decide-refund', { refundId: (await refundOf())?.refund_id, approve: true })
      } finally {
        clearInterval(ticking)
      }
    })
    expect(result.failures).toEqual([])
    expect(result.outcome).toBe('passed')
  })
})
