import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MISTAKES, type Mistake } from '../../src/demo/partner/mistakes/mistakes.ts'
import type { CheckId } from '../../src/sandbox/checks.ts'
import { type Lab, openLab } from './lab.ts'
import { EVERYTHING, makeStep, walk } from './walk.ts'

/** The step that a mistake fails, the check that fails in it, and what that check says. */
const FAILS: Readonly<Partial<Record<Mistake, [step: string, check: CheckId, says: object]>>> = {
  'wrong-signature-accepted': ['wrong-signature', 'code', { expected: '300', actual: expect.stringContaining('200') }],
  'stale-date-accepted': ['stale-date', 'code', { expected: '300', actual: expect.stringContaining('200') }],
  'unknown-client-accepted': ['unknown-client', 'code', { expected: '300', actual: expect.stringContaining('200') }],
  'order-create-not-idempotent': ['order-create-again', 'same-order', { path: 'body.partnerOrderId' }],
  'out-of-stock-sold': ['sold-out', 'code', { expected: '420', actual: expect.stringContaining('200') }],
  'pay-again-issues-again': ['order-pay-again', 'same-vouchers', { path: 'body.vouchers' }],
  'refund-twice-refunds-twice': ['refund-again', 'quantities', { expected: '1', actual: '2' }],
  'close-twice-fails': ['order-close-again', 'code', { actual: expect.stringContaining('closed already') }],
  'answer-not-json': ['product-pull', 'json', { actual: expect.stringContaining('It works!') }],
  'answer-empty': ['heartbeat', 'json', { actual: 'an empty body' }],
  'answer-http-500': ['poi-pull', 'http-status', { expected: '200', actual: '500' }],
  'answer-code-300': ['balance-query', 'code', { actual: expect.stringContaining('300') }],
  'answer-missing-field': ['order-query', 'fields', { path: 'body.orderStatus', actual: 'missing' }],
  'answer-wrong-types': ['level-price-calendar', 'fields', { path: expect.stringContaining('body[0].') }],
  'answer-rounded-order-id': ['order-pay', 'order-id', { path: 'body.orderId' }],
  'answer-redirects': ['product-status', 'http-status', { actual: expect.stringContaining('302') }],
  'answer-too-large': ['price-calendar', 'reached', { actual: expect.stringContaining('1 MiB') }],
  'answer-slow': ['refunded-message', 'reached', { actual: expect.stringContaining('too long') }],
  'notice-wrong-signature': ['product-change', 'notice-accepted', { actual: expect.stringContaining('signature') }],
  'notice-local-time': ['consumption', 'notice-accepted', { actual: expect.stringContaining('Date') }],
}

/** What the platform takes without harm, by contract: the same notice again gets the first answer. */
const HARMLESS: readonly Mistake[] = ['notice-sent-twice']

let lab: Lab
beforeAll(async () => {
  lab = await openLab()
})
afterAll(() => lab.close())

describe('the mistakes of the demo partner', () => {
  it('each have their step, or are harmless', () => {
    expect([...Object.keys(FAILS), ...HARMLESS].sort()).toEqual(Object.keys(MISTAKES).sort())
  })

  it('each fail that step with a check that names it; once mended, the step passes', async () => {
    const failed: string[] = []
    const walked = await walk(lab, EVERYTHING, async (runId, step) => {
      for (const [mistake, [where, check, says]] of Object.entries(FAILS)) {
        if (where !== step) continue
        await lab.mistakes(mistake)
        const made = await makeStep(lab, runId, step)
        await lab.mistakes()
        if (step === 'sold-out') await lab.control('change-product', { partnerDealId: 'DEMO-SOLD-OUT', stock: 0 })
        expect(made.outcome, mistake).toBe('failed')
        const found = made.failures.find(({ id }) => id === check)
        expect(found, `${mistake}: ${JSON.stringify(made.failures)}`).toMatchObject(says)
        failed.push(mistake)
      }
      await lab.mistakes(...(step === 'refund-notice' ? HARMLESS : []))
    })
    expect(walked.failed).toBeUndefined()
    expect(failed.sort()).toEqual(Object.keys(FAILS).sort())
  }, 120_000)
})
