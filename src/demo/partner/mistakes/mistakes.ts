/** Sellers' mistakes that can be switched on (control/) to try the platform's tests. Do not copy this folder. */
export const MISTAKE_GROUPS = {
  defence: ['wrong-signature-accepted', 'stale-date-accepted', 'unknown-client-accepted'],
  shop: [
    'order-create-not-idempotent',
    'out-of-stock-sold',
    'pay-again-issues-again',
    'query-forgets-paid-order',
    'refund-twice-refunds-twice',
    'close-twice-fails',
    'unknown-order-found',
    'old-price-accepted',
    'orders-share-id',
    'any-refund-accepted',
  ],
  fields: [
    'prices-out-of-range',
    'prices-of-another-product',
    'vouchers-do-not-fit-type',
    'refund-answers-another-refund',
    'reschedule-count-wrong',
    'answer-other-order-id',
    'answer-rounded-order-id',
    'answer-missing-field',
    'answer-wrong-types',
    'answer-scripts',
  ],
  answers: [
    'answer-code-300',
    'answer-other-partner-id',
    'answer-echoes-secrets',
    'answer-too-large',
    'answer-http-500',
    'answer-redirects',
    'answer-slow',
    'answer-wrong-content-type',
    'answer-wrong-aes-key',
    'answer-empty',
    'answer-not-json',
  ],
  notices: [
    'notice-not-sent',
    'notice-wrong-signature',
    'notice-local-time',
    'notice-missing-field',
    'pay-notice-code-missing',
    'notice-rounded-order-id',
    'notice-sent-twice',
  ],
} as const

export type DemoMistake = (typeof MISTAKE_GROUPS)[keyof typeof MISTAKE_GROUPS][number]

/** The mistakes that are switched on. */
export type Switches = Set<DemoMistake>
