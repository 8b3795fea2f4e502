import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MISTAKES } from '../../src/demo/partner/control/actions.ts'
import type { DemoMistake } from '../../src/demo/partner/mistakes/mistakes.ts'
import type { CheckId } from '../../src/sandbox/checks/checks.ts'
import { fieldReference } from '../../src/sandbox/portal/docs/reference.ts'
import { type Lab, openLab } from '../sandbox/lab.ts'
import { completeStep, EVERYTHING, walk } from '../sandbox/walk.ts'
import { until } from '../until.ts'

/** The step that each mistake fails, the check that fails, and what that check reports. */
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
 * Mistakes that fail no step, and the step that meets them. By contract a repeated notice gets the first answer, and
 * pages escape HTML in texts. The others only cause warnings, as in all extra tests (robustness.test.ts).
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

const ANCHORS = fieldReference('en').interfaces.flatMap(({ parts }) =>
  parts.flatMap((part) => part.fields.map(({ anchor }) => anchor)),
)

let lab: Lab
/** Counts distinct notices, because the partner keeps resending a refused one. */
const refusedCalls = async (): Promise<number> =>
  (await lab.world.pool.query('select count(distinct (path, body))::int as n from rejected_call')).rows[0].n
beforeAll(async () => {
  // Order ids of 19 digits, so that a partner that rounds them fails.
  lab = await openLab({ SANDBOX_WAIT_S: '120', ORDER_ID_BITS: '63' })
})
afterAll(() => lab.close())

describe('the mistakes of the demo partner', () => {
  it('each either fail a step or are listed as harmless', () => {
    expect([...Object.keys(FAILS), ...Object.keys(HARMLESS)].sort()).toEqual(Object.keys(MISTAKES).sort())
  })

  it('each fail their step with the expected check, and the step passes once they are fixed', async () => {
    const failed: string[] = []
    const walked = await walk(lab, EVERYTHING, async (runId, step) => {
      for (const [mistake, [where, check, says]] of Object.entries(FAILS)) {
        if (where !== step) continue
        await lab.mistakes(mistake)
        const refusedBefore = await refusedCalls()
        // Only here does a step time out, so the clock starts once the refused notice is stored.
        let clockTimer: NodeJS.Timeout | undefined
        const result = await completeStep(lab, runId, step, async () => {
          if (!check.startsWith('notice-')) return
          if (mistake !== 'notice-not-sent') {
            await until(async () => (await refusedCalls()) > refusedBefore)
            // A resent notice would be accepted once order query has brought the tickets.
            await lab.mistakes(mistake, 'notice-not-sent')
          }
          clockTimer = setInterval(() => lab.world.clock.advance(10), 50)
        }).finally(() => clearInterval(clockTimer))
        await lab.mistakes()
        expect(result.outcome, mistake).toBe('failed')
        const found = result.failures.find(({ id }) => id === check)
        expect(found, `${mistake}: ${JSON.stringify(result.failures)}`).toMatchObject(says)
        if (found?.path?.startsWith('body')) expect(ANCHORS, mistake).toContain(found.doc)
        failed.push(mistake)
      }
      await lab.mistakes(...Object.entries(HARMLESS).flatMap(([name, where]) => (where === step ? [name] : [])))
    })
    expect(walked.failed).toBeUndefined()
    expect(walked.warned).toEqual(expect.arrayContaining(['content-type', 'date-checked', 'client-checked']))
    expect(failed.sort()).toEqual(Object.keys(FAILS).sort())
  })
})
