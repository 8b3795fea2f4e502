import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addDays, beijingDate } from '../../src/platform/lib/time-zone.ts'
import { changeConditions, showRun, startRun } from '../../src/sandbox/certification/run.ts'
import { NO_CONDITIONS } from '../../src/sandbox/test-plan/conditions.ts'
import { type Lab, openLab, type StepResult, simpleChoice, walkTo } from '../sandbox/lab.ts'
import { completeStep, orderOf, walk } from '../sandbox/walk.ts'

/** Conditions of a run: a later date, and calls that are repeated, slow or out of order. */

const CHOICE = {
  functions: ['product-pull', 'price-calendar', 'pay-at-once', 'refund-at-once', 'order-close'],
  products: { main: 'DEMO-BOAT' },
}

let lab: Lab
beforeAll(async () => {
  lab = await openLab()
})
afterAll(() => lab.close())

const today = () => beijingDate(lab.world.clock.now())
const change = (runId: string, wanted: object) =>
  changeConditions(lab.world.deps, lab.partnerId, runId, { ...NO_CONDITIONS, ...wanted })
const faultsOf = ({ events }: StepResult) =>
  events.flatMap(({ kind, data }) => (kind === 'fault' ? [data.fault.id] : []))

/** The calls about an order: each body, and how many milliseconds its Date header was off. */
const callsAbout = async (orderId: bigint, name: string) => {
  const { rows } = await lab.world.pool.query(
    `select request_body, request_headers, started_at from partner_call
     where order_id = $1 and interface = $2 order by started_at`,
    [orderId, name],
  )
  return rows.map(({ request_body, request_headers, started_at }) => ({
    body: JSON.parse(request_body).body,
    dateOff: Math.abs(Date.parse(request_headers.Date) - started_at.getTime()),
  }))
}

describe('a run that is set days ahead', () => {
  it('shifts the dates of prices, orders and refunds, but not the Date header', async () => {
    const runId = await lab.run({ ...CHOICE, conditions: { days_ahead: 7 } })
    await walkTo(lab, runId, 'price-calendar')
    const calendar = await completeStep(lab, runId, 'price-calendar')
    expect(calendar).toMatchObject({ outcome: 'passed', failures: [] })
    expect(faultsOf(calendar)).toEqual(['days-ahead'])
    const walked = await walk(lab, { ...CHOICE, conditions: { days_ahead: 7 } })
    expect(walked.failed).toBeUndefined()
    expect(walked.warned).toEqual([])
    const [create] = await callsAbout(await orderOf(lab, walked.runId, 'main'), 'order-create')
    expect(create?.body.travelDate).toBe(addDays(today(), 8))
    const [refund] = await callsAbout(await orderOf(lab, walked.runId, 'refund'), 'order-refund')
    expect(refund?.body.refundTime.slice(0, 10)).toBe(addDays(today(), 7))
    for (const call of [create, refund]) expect(call?.dateOff).toBeLessThan(1_000)
  })

  it('can be shifted midway, which takes effect when a step is next started', async () => {
    const runId = await lab.run(CHOICE)
    await walkTo(lab, runId, 'order-create')
    for (const days_ahead of [0, 5]) {
      await change(runId, { days_ahead })
      const result = await completeStep(lab, runId, 'order-create')
      expect(result.outcome).toBe('passed')
      expect(faultsOf(result)).toEqual(days_ahead > 0 ? ['days-ahead'] : [])
      const [create] = await callsAbout(await orderOf(lab, runId, 'main'), 'order-create')
      expect(create?.body.travelDate).toBe(addDays(today(), days_ahead + 1))
      lab.world.clock.advance(1)
    }
    const { run } = await showRun(lab.world.deps, lab.partnerId, runId)
    expect(run.choice).toMatchObject({ products: CHOICE.products, conditions: { days_ahead: 5 } })
  })

  it('rejects a shift out of range, and one of a run that is over', async () => {
    for (const days_ahead of [-1, 31, 1.5, 'x']) {
      await expect(lab.run({ ...CHOICE, conditions: { days_ahead } })).rejects.toThrow()
    }
    const runId = await lab.run(CHOICE)
    await startRun(lab.world.deps, lab.partnerId, simpleChoice())
    await expect(change(runId, { days_ahead: 1 })).rejects.toThrow('a newer run has replaced this one')
    await expect(changeConditions(lab.world.deps, 1n, runId, NO_CONDITIONS)).rejects.toThrow('no such run')
  })
})

describe('a platform that sends each call twice', () => {
  it('gets the same answer from the demo partner in every step', async () => {
    const repeatedSteps: string[] = []
    const walked = await walk(lab, { ...CHOICE, conditions: { sends_twice: true } })
    expect(walked.failed).toBeUndefined()
    expect(walked.warned).toEqual([])
    const { rows } = await lab.world.pool.query(
      `select data, step_id from sandbox_event join sandbox_attempt using (attempt_id)
       where sandbox_event.run_id = $1 and kind = 'check' and data->>'id' = 'same-answer'`,
      [walked.runId],
    )
    for (const { data, step_id } of rows) {
      expect(data, step_id).toMatchObject({ passed: true })
      repeatedSteps.push(step_id)
    }
    expect(repeatedSteps).toEqual(
      expect.arrayContaining(['order-create', 'order-pay', 'refund-at-once', 'order-close']),
    )
    expect(await callsAbout(await orderOf(lab, walked.runId, 'close'), 'order-create')).toHaveLength(2)
    const forged = await lab.world.pool.query(
      `select forged, count(*)::int as calls from partner_call where forged is not null group by 1`,
    )
    expect(new Set(forged.rows.map(({ calls }) => calls)).size).toBe(1)
  })

  it('warns about a partner that answers a repeated call differently', async () => {
    const runId = await lab.run({ ...CHOICE, conditions: { sends_twice: true } })
    await walkTo(lab, runId, 'order-create')
    await lab.mistakes('order-create-not-idempotent')
    const result = await completeStep(lab, runId, 'order-create')
    await lab.mistakes()
    expect(faultsOf(result)).toEqual(['sent-twice'])
    expect(result.outcome).toBe('passed')
    expect(result.failures).toMatchObject([{ id: 'same-answer', level: 'warning', path: 'body' }])
  })
})

const checksOf = ({ events }: StepResult, id: string) =>
  events.flatMap((event) => (event.kind === 'check' && event.data.id === id ? [event.data] : []))

describe('a platform that sends slowly', () => {
  it('sends each body in two parts, which does not count as response time of the seller', async () => {
    const runId = await lab.run({ ...CHOICE, conditions: { is_slow: true } })
    await walkTo(lab, runId, 'product-pull')
    const before = performance.now()
    const result = await completeStep(lab, runId, 'product-pull')
    expect(performance.now() - before).toBeGreaterThan(2_000)
    expect(faultsOf(result)).toEqual(['sent-slowly'])
    expect(result).toMatchObject({ outcome: 'passed', failures: [] })
    const { rows } = await lab.world.pool.query(
      `select duration_ms, code from partner_call order by started_at desc, arrival desc limit 1`,
    )
    expect(rows[0].duration_ms).toBeLessThan(2_000)
    expect(rows[0].code).toBe(200)
  })
})

describe('a platform that sends out of order', () => {
  it('gets no second order, payment or refund from the demo partner, in any step', async () => {
    const walked = await walk(lab, { ...CHOICE, conditions: { out_of_order: true } })
    expect(walked.failed).toBeUndefined()
    expect(walked.warned).toEqual([])
    expect(await callsAbout(await orderOf(lab, walked.runId, 'refund'), 'order-create')).toHaveLength(2)
    expect(await callsAbout(await orderOf(lab, walked.runId, 'refund'), 'order-pay')).toHaveLength(2)
  })

  it('warns about a partner that creates a second order from a late call', async () => {
    const runId = await lab.run({ ...CHOICE, conditions: { out_of_order: true } })
    await walkTo(lab, runId, 'order-pay')
    await lab.mistakes('order-create-not-idempotent')
    const result = await completeStep(lab, runId, 'order-pay')
    await lab.mistakes()
    expect(faultsOf(result)).toEqual(['sent-late'])
    expect(result.outcome).toBe('passed')
    expect(checksOf(result, 'same-answer')).toMatchObject([{ passed: false, level: 'warning', path: 'body' }])
  })
})
