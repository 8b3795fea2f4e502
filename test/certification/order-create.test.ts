import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { DAY_S } from '../../src/platform/lib/clock.ts'
import { addDays, beijingDate } from '../../src/platform/lib/time-zone.ts'
import { linkOrder } from '../../src/sandbox/certification/run-store.ts'
import { newOrderId } from '../../src/ticketing/orders/create-order.ts'
import { showOrder } from '../../src/ticketing/orders/show-order.ts'
import { updatePartner } from '../../src/ticketing/partners/partner.ts'
import { type Lab, openLab, walkTo } from '../sandbox/lab.ts'
import { completeStep, orderOf } from '../sandbox/walk.ts'

/** The order create step when it is started again: each attempt has its own order. */

let lab: Lab
/** Hangs up on every caller, like a failing network. */
const deaf = createServer((request) => request.socket.destroy())
let deafUrl = ''
beforeAll(async () => {
  lab = await openLab()
  await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve))
  deafUrl = `http://127.0.0.1:${(deaf.address() as AddressInfo).port}`
})
afterAll(async () => {
  deaf.close()
  await lab.close()
})

const hangUpAt = (...names: string[]) =>
  updatePartner(lab.world.deps, lab.partnerId, {
    interface_urls: Object.fromEntries(names.map((name) => [name, `${deafUrl}/${name}`])),
  })
afterEach(async () => {
  await hangUpAt()
  await lab.mistakes()
})

const DATED = {
  functions: ['product-pull', 'price-calendar', 'pay-at-once', 'refund-at-once'],
  products: { main: 'DEMO-BOAT' },
}

const runAt = async (stepId: string, chosen: object = DATED): Promise<string> => {
  const runId = await lab.run(chosen)
  await walkTo(lab, runId, stepId)
  return runId
}

describe('order create when started again', () => {
  it('creates a new order after a lost answer', async () => {
    const { deps } = lab.world
    const runId = await runAt('order-create')
    await hangUpAt('order-create')
    const first = await completeStep(lab, runId, 'order-create')
    expect(first.outcome).toBe('failed')
    expect(first.failures.map(({ id }) => id)).toEqual(['reached', 'order-state'])
    const lost = await orderOf(lab, runId, 'main')
    expect((await showOrder(deps, lost)).order.state).toBe('create_unknown')
    await hangUpAt()
    expect(await completeStep(lab, runId, 'order-create')).toMatchObject({ outcome: 'passed', failures: [] })
    const fresh = await orderOf(lab, runId, 'main')
    expect(fresh).not.toBe(lost)
    expect((await showOrder(deps, fresh)).order.state).toBe('created')
    expect((await showOrder(deps, lost)).order.state).toBe('create_unknown')
  })

  it('does not strand a run whose process died before the order was stored', async () => {
    const { db, clock } = lab.world.deps
    const runId = await runAt('order-pay')
    lab.world.clock.advance(1)
    await linkOrder(db, { orderId: newOrderId(53), runId, role: 'main' }, clock.now())
    expect(await completeStep(lab, runId, 'order-pay')).toMatchObject({ outcome: 'passed', failures: [] })
  })

  it('says which product data is missing, and how the calls for it failed', async () => {
    const runId = await runAt('order-create', { ...DATED, products: { main: 'DEMO-TOWER' } })
    await hangUpAt('product-pull', 'price-calendar')
    const result = await completeStep(lab, runId, 'order-create')
    expect(result.outcome).toBe('failed')
    expect(result.failures).toMatchObject([
      { id: 'reached', level: 'warning', actual: expect.stringContaining('the connection closed') },
      { id: 'reached', level: 'warning', actual: expect.stringContaining('the connection closed') },
      {
        id: 'platform',
        expected: expect.stringMatching(/^product DEMO-TOWER with its price on 20/),
        actual: 'missing',
      },
    ])
    // Nothing was ordered, so no order is linked to the run.
    expect(await orderOf(lab, runId, 'main')).toBe(0n)
  })

  it('says what to choose where a dated product has no price because no calendar is chosen', async () => {
    const functions = DATED.functions.filter((id) => id !== 'price-calendar')
    const travel_date = addDays(beijingDate(lab.world.clock.now()), 20) // no run has pulled its price
    const runId = await runAt('order-create', { ...DATED, functions, travel_date })
    const { failures } = await completeStep(lab, runId, 'order-create')
    expect(failures).toMatchObject([
      { id: 'platform', actual: 'missing: choose a price calendar, or enter both prices, under “Change functions”' },
    ])
  })

  it('warns about a partnerOrderId that another order of the run already has', async () => {
    const runId = await runAt('order-create')
    await lab.mistakes('orders-share-id')
    expect(await completeStep(lab, runId, 'order-create')).toMatchObject({ outcome: 'passed', failures: [] })
    const former = await orderOf(lab, runId, 'main')
    const again = await completeStep(lab, runId, 'order-create')
    expect(again).toMatchObject({
      outcome: 'passed',
      failures: [
        {
          id: 'distinct-orders',
          level: 'warning',
          path: 'body.partnerOrderId',
          actual: `DP-SHARED, which order ${former} has already`,
        },
      ],
    })
  })
})

describe('a run whose travel date is over', () => {
  it.each(['price-calendar', 'order-create'])('says so in the step %s', async (step) => {
    const travel_date = addDays(beijingDate(lab.world.clock.now()), 2)
    const runId = await runAt(step, { ...DATED, travel_date })
    lab.world.clock.advance(2 * DAY_S)
    expect(await completeStep(lab, runId, step)).toMatchObject({ outcome: 'passed' })
    lab.world.clock.advance(DAY_S)
    const result = await completeStep(lab, runId, step)
    expect(result.outcome).toBe('failed')
    expect(result.failures).toEqual([
      {
        id: 'platform',
        passed: false,
        actual: `the travel date ${travel_date} is over; start a run with a later one`,
      },
    ])
  })
})
