import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DemoMistake, MISTAKES } from '../../src/demo/partner/mistakes/mistakes.ts'
import type { CheckId } from '../../src/sandbox/checks/checks.ts'
import { type Lab, openLab } from '../sandbox/lab.ts'
import { EVERYTHING, makeStep, walk } from '../sandbox/walk.ts'
import { until } from '../until.ts'

/** The step that a mistake fails, the check that fails, and what it says. */
const FAILS: Readonly<Partial<Record<DemoMistake, [step: string, check: CheckId, says: object]>>> = {
  'wrong-signature-accepted': [
    'wrong-signature',
    'signature-checked',
    { actual: 'accepted a call with a wrong signature (code 200: "success")' },
  ],
  'order-create-not-idempotent': ['order-create-again', 'same-order', { path: 'body.partnerOrderId' }],
  'out-of-stock-sold': [
    'sold-out',
    'code',
    { expected: 'a code other than 200', actual: expect.stringContaining('200') },
  ],
  'pay-again-issues-again': ['order-pay-again', 'same-vouchers', { path: 'body.vouchers' }],
  'refund-twice-refunds-twice': ['refund-again', 'quantities', { expected: '1', actual: '2' }],
  'close-twice-fails': ['order-close-again', 'code', { actual: expect.stringContaining('closed already') }],
  'answer-not-json': ['product-pull', 'json', { actual: expect.stringContaining('It works!') }],
  'answer-wrong-aes-key': ['balance-query', 'encryption', { actual: expect.stringContaining('does not decrypt') }],
  'answer-empty': ['heartbeat', 'json', { actual: 'an empty body' }],
  'answer-http-500': ['poi-pull', 'http-status', { expected: '200', actual: '500' }],
  'answer-code-300': ['balance-query', 'code', { actual: expect.stringContaining('300') }],
  'answer-missing-field': ['order-query', 'fields', { path: 'body.orderStatus', actual: 'missing' }],
  'answer-wrong-types': ['level-price-calendar', 'fields', { path: expect.stringContaining('body[0].') }],
  'answer-rounded-order-id': ['order-pay-again', 'order-id', { actual: expect.stringContaining('rounded') }],
  'answer-redirects': ['product-status', 'http-status', { actual: expect.stringContaining('302') }],
  'answer-too-large': ['price-calendar', 'answer-size', { expected: 'at most 1 MiB' }],
  'answer-slow': ['refunded-message', 'reached', { actual: expect.stringContaining('within 10 s') }],
  'notice-wrong-signature': ['product-change', 'notice-arrived', { actual: expect.stringContaining('not verified') }],
  'query-forgets-paid-order': ['order-query', 'code', { actual: expect.stringContaining('301') }],
  'prices-out-of-range': ['price-calendar', 'in-range', { actual: '2099-12-31' }],
  'prices-of-another-product': ['price-calendar', 'product-found', { path: 'body[0].partnerDealId' }],
  'vouchers-do-not-fit-type': [
    'order-pay',
    'vouchers',
    { path: 'body.vouchers', expected: expect.stringContaining('2') },
  ],
  'refund-answers-another-refund': ['refund-at-once', 'refund-id', { path: 'body.refundId' }],
  'reschedule-count-wrong': ['order-reschedule', 'reschedule-count', { path: 'body.successCount', expected: '2' }],
  'answer-other-order-id': ['order-pay-again', 'order-id', { path: 'body.orderId' }],
  'answer-other-partner-id': ['heartbeat', 'partner-id', { path: 'partnerId', expected: '7001' }],
  'answer-echoes-secrets': ['product-pull', 'no-secrets', { actual: '[secret]' }],
  'notice-missing-field': ['refund-notice', 'notice-accepted', { actual: expect.stringContaining('refundId') }],
  'pay-notice-code-missing': [
    'order-pay-later',
    'notice-accepted',
    { actual: expect.stringContaining('1 codes; order') },
  ],
  'notice-rounded-order-id': ['consumption', 'notice-accepted', { actual: expect.stringContaining('does not exist') }],
  'notice-not-sent': ['consumption', 'notice-arrived', { expected: 'POST /mtp/api/order/consume/notice' }],
  'notice-local-time': ['consumption', 'notice-arrived', { actual: expect.stringContaining('Date') }],
}

/**
 * What fails no step: the same notice again gets the first answer by contract; a text may hold HTML, which pages escape;
 * of a wrong content type, an old Date and an unknown clientId there is a warning, as of all that
 * the extra tests find (robustness.test.ts).
 */
const HARMLESS: Readonly<Partial<Record<DemoMistake, string>>> = {
  'stale-date-accepted': 'stale-date',
  'unknown-client-accepted': 'unknown-client',
  'notice-sent-twice': 'refund-notice',
  'answer-scripts': 'product-pull',
  'answer-wrong-content-type': 'heartbeat',
  'unknown-order-found': 'unknown-order',
  'old-price-accepted': 'price-changed',
  'orders-share-id': 'orders-at-once',
  'any-refund-accepted': 'refund-after-use',
}

let lab: Lab
/** Without repetitions: the partner keeps resending an earlier refused notice. */
const refusedCalls = async (): Promise<number> =>
  (await lab.world.pool.query('select count(distinct (path, body))::int as n from rejected_call')).rows[0].n
beforeAll(async () => {
  // With ids of 19 digits, so that a program that rounds them fails.
  lab = await openLab({ SANDBOX_WAIT_S: '120', ORDER_ID_BITS: '63' })
})
afterAll(() => lab.close())

describe('the mistakes of the demo partner', () => {
  it('each have their step, or are harmless', () => {
    expect([...Object.keys(FAILS), ...Object.keys(HARMLESS)].sort()).toEqual(Object.keys(MISTAKES).sort())
  })

  it('each fail that step with a check that names it; once mended, the step passes', async () => {
    const failed: string[] = []
    const walked = await walk(lab, EVERYTHING, async (runId, step) => {
      for (const [mistake, [where, check, says]] of Object.entries(FAILS)) {
        if (where !== step) continue
        await lab.mistakes(mistake)
        const refusedBefore = await refusedCalls()
        // Only here does a step wait until it times out: the partner has done its part, and its refused notice is stored.
        let passing: NodeJS.Timeout | undefined
        const made = await makeStep(lab, runId, step, async () => {
          if (!check.startsWith('notice-')) return
          if (mistake !== 'notice-not-sent') {
            await until(async () => (await refusedCalls()) > refusedBefore)
            // Sent again once order query has brought the tickets, it would be accepted.
            await lab.mistakes(mistake, 'notice-not-sent')
          }
          passing = setInterval(() => lab.world.clock.advance(10), 50)
        }).finally(() => clearInterval(passing))
        await lab.mistakes()
        expect(made.outcome, mistake).toBe('failed')
        const found = made.failures.find(({ id }) => id === check)
        expect(found, `${mistake}: ${JSON.stringify(made.failures)}`).toMatchObject(says)
        failed.push(mistake)
      }
      await lab.mistakes(...Object.entries(HARMLESS).flatMap(([name, where]) => (where === step ? [name] : [])))
    })
    expect(walked.failed).toBeUndefined()
    expect(walked.warned).toEqual(expect.arrayContaining(['content-type', 'date-checked', 'client-checked']))
    expect(failed.sort()).toEqual(Object.keys(FAILS).sort())
  })
})
