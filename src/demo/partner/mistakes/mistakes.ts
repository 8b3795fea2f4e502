import type english from '../../../../views/locales/demo-mistakes.en.json'
import { readTexts } from '../../../platform/lib/root.ts'

export type DemoMistake = keyof typeof english

/** Sellers' mistakes that can be switched on (control/) to try the platform's tests. Do not copy this folder. */
export const MISTAKE_GROUPS = {
  defence: ['wrong-signature-accepted', 'stale-date-accepted', 'unknown-client-accepted'],
  shop: [
    ...(['order-create-not-idempotent', 'out-of-stock-sold', 'pay-again-issues-again'] as const),
    ...(['query-forgets-paid-order', 'refund-twice-refunds-twice', 'close-twice-fails'] as const),
    ...(['unknown-order-found', 'old-price-accepted', 'orders-share-id', 'any-refund-accepted'] as const),
  ],
  fields: [
    ...(['prices-out-of-range', 'prices-of-another-product', 'vouchers-do-not-fit-type'] as const),
    ...(['refund-answers-another-refund', 'reschedule-count-wrong', 'answer-other-order-id'] as const),
    ...(['answer-rounded-order-id', 'answer-missing-field', 'answer-wrong-types', 'answer-scripts'] as const),
  ],
  answers: [
    ...(['answer-code-300', 'answer-other-partner-id', 'answer-echoes-secrets', 'answer-too-large'] as const),
    ...(['answer-http-500', 'answer-redirects', 'answer-slow', 'answer-wrong-content-type'] as const),
    ...(['answer-wrong-aes-key', 'answer-empty', 'answer-not-json'] as const),
  ],
  notices: [
    ...(['notice-not-sent', 'notice-wrong-signature', 'notice-local-time', 'notice-missing-field'] as const),
    ...(['pay-notice-code-missing', 'notice-rounded-order-id', 'notice-sent-twice'] as const),
  ],
} as const satisfies Readonly<Record<string, readonly DemoMistake[]>>

/** All mistakes, with what each does. */
export const MISTAKES = readTexts<DemoMistake>('demo-mistakes.en')

/** The mistakes that are switched on. */
export type Switches = Set<DemoMistake>
