import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { showRun } from '../../src/sandbox/certification/run.ts'
import { STEPS } from '../../src/sandbox/certification/steps/index.ts'
import { acceptRun } from '../../src/sandbox/portal/notify/notifications.ts'
import { reportOfRun } from '../../src/sandbox/reports/report.ts'
import { showOrder } from '../../src/ticketing/orders/show-order.ts'
import { type Lab, openLab, type StepResult } from '../sandbox/lab.ts'
import { completeStep, orderOf, walk } from '../sandbox/walk.ts'

/** The extra tests of a run that has chosen robustness. */

const CHOICE = {
  functions: ['product-pull', 'price-calendar', 'pay-at-once', 'refund-at-once', 'order-close'],
  products: { main: 'DEMO-BOAT' },
}
const EXTRA = STEPS.filter(({ needs }) => needs.includes('robustness')).map(({ id }) => id)

/** Mistakes that make a step warn, and the check that warns. */
const WARNINGS: readonly (readonly [mistake: string, step: string, check: string, says: object])[] = [
  ['unknown-order-found', 'unknown-order', 'code', { expected: 'a code other than 200' }],
  ['old-price-accepted', 'price-changed', 'order-state', { expected: 'create_failed', actual: 'created' }],
  ['orders-share-id', 'orders-at-once', 'distinct-orders', { expected: '10', actual: '1' }],
  ['order-create-not-idempotent', 'lost-answer', 'same-order', { path: 'body.partnerOrderId' }],
  ['pay-again-issues-again', 'lost-answer', 'same-vouchers', { path: 'body.vouchers' }],
  ['any-refund-accepted', 'refund-of-rest', 'code', { actual: expect.stringContaining('200') }],
  ['any-refund-accepted', 'refund-after-use', 'code', { actual: expect.stringContaining('200') }],
  ['any-refund-accepted', 'foreign-code', 'code', { actual: expect.stringContaining('200') }],
]

let lab: Lab
beforeAll(async () => {
  lab = await openLab()
})
afterAll(() => lab.close())

describe('the extra tests', () => {
  it('are not part of a run that did not choose them', async () => {
    const runId = await lab.run(CHOICE)
    const { steps } = await showRun(lab.world.deps, lab.partnerId, runId)
    expect(steps.map(({ step }) => step.id).filter((id) => EXTRA.includes(id))).toEqual([])
  })

  /** Without an accepted notice nothing was tested, which does not hold up the run. */
  const expectNotTested = async (runId: string): Promise<void> => {
    for (const mistake of ['notice-not-sent', 'notice-missing-field']) {
      await lab.mistakes(mistake)
      let clockTimer: NodeJS.Timeout | undefined
      const none = await completeStep(lab, runId, 'refund-of-rest', async () => {
        clockTimer = setInterval(() => lab.world.clock.advance(30), 100)
      }).finally(() => clearInterval(clockTimer))
      await lab.mistakes()
      expect(none.outcome, mistake).toBe('not_tested')
      const { current } = await showRun(lab.world.deps, lab.partnerId, runId)
      expect(current).toMatchObject({ state: 'not_tested', done: true })
    }
  }

  it('are passed by the demo partner without warnings, and a mistake only causes a warning', async () => {
    const results = new Map<string, StepResult>()
    const walked = await walk(
      lab,
      { ...CHOICE, functions: [...CHOICE.functions, 'robustness'] },
      async (runId, step) => {
        if (!EXTRA.includes(step)) return
        for (const [mistake, where, check, says] of WARNINGS) {
          if (where !== step) continue
          await lab.mistakes(mistake)
          const wrong = await completeStep(lab, runId, step)
          await lab.mistakes()
          expect(wrong.outcome, mistake).toBe('passed')
          const found = wrong.failures.find(({ id }) => id === check)
          expect(found, `${mistake}: ${JSON.stringify(wrong.failures)}`).toMatchObject({ level: 'warning', ...says })
        }
        if (step === 'refund-of-rest') await expectNotTested(runId)
        results.set(step, await completeStep(lab, runId, step))
      },
    )
    expect(walked.failed).toBeUndefined()
    expect([...results.keys()]).toEqual(EXTRA)
    for (const [step, { failures }] of results) expect(failures, step).toEqual([])

    const lost = results.get('lost-answer')?.events ?? []
    expect(lost.flatMap(({ kind, data }) => (kind === 'fault' ? [data.fault.values.interface] : []))).toEqual([
      'order-create',
      'order-pay',
    ])
    const { order } = await showOrder(lab.world.deps, await orderOf(lab, walked.runId, 'lost'))
    expect(order).toMatchObject({ state: 'paid', vouchers: [{}, {}] })
    const rest = await showOrder(lab.world.deps, await orderOf(lab, walked.runId, 'partly-used'))
    expect(rest.order).toMatchObject({ used_quantity: 1, refunded_quantity: 1 })
    const codes = await lab.world.pool.query(
      `select failure, count(*)::int as calls from partner_call
       where order_id = any(select order_id from sandbox_order where role = 'lost') and failure is not null group by 1`,
    )
    expect(codes.rows).toContainEqual({ failure: 'broken', calls: expect.any(Number) })

    // A step that tested nothing does not prevent acceptance, but the report lists it apart from the passed steps.
    const { pool, deps } = lab.world
    const named = [walked.runId, 'lost-answer', 'not_tested']
    await pool.query('update sandbox_attempt set outcome = $3 where run_id = $1 and step_id = $2', named)
    expect(await acceptRun(deps, lab.partnerId, walked.runId)).toMatchObject({ passed: true })
    const { steps, not_tested } = JSON.parse((await reportOfRun(deps, walked.runId))?.content ?? '{}')
    expect(not_tested).toEqual(['lost-answer'])
    expect(steps.map(({ id }: { id: string }) => id)).toEqual(walked.steps.filter((id) => id !== 'lost-answer'))
  })
})
