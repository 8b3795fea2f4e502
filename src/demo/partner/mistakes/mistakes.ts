/** Sellers' mistakes that can be switched on (control/) to try the platform's tests. Do not copy this folder. */
export const MISTAKE_GROUPS = {
  defence: {
    'wrong-signature-accepted': 'does not compare the signature',
    'stale-date-accepted': 'does not look at the Date',
    'unknown-client-accepted': 'does not look at the clientId',
  },
  shop: {
    'order-create-not-idempotent': 'a second create of an order makes a new partnerOrderId',
    'out-of-stock-sold': 'accepts orders for products that are sold out',
    'pay-again-issues-again': 'a second pay issues different vouchers',
    'query-forgets-paid-order': 'order query does not find a paid order',
    'refund-twice-refunds-twice': 'a repeated refundId refunds more tickets',
    'close-twice-fails': 'responds to a second close with 300',
    'unknown-order-found': 'order query finds orders that were never created',
    'old-price-accepted': 'accepts orders at prices that the calendar does not have',
    'orders-share-id': 'returns one partnerOrderId for all orders',
    'any-refund-accepted': 'responds with success to refunds that cannot be made',
  },
  fields: {
    'prices-out-of-range': 'a calendar has a day outside the requested range',
    'prices-of-another-product': 'returns the calendar of another product',
    'vouchers-do-not-fit-type':
      'pay returns one voucher fewer than voucherType requires (or one where there should be none)',
    'refund-answers-another-refund': 'the response to a refund has another refundId',
    'reschedule-count-wrong': 'reschedule reports success with a successCount other than the number of tickets',
    'answer-other-order-id': 'the response has another orderId',
    'answer-rounded-order-id': 'reads order ids with a plain JSON parser, so long ones lose their last digits',
    'answer-missing-field': 'leaves out a required field of the response',
    'answer-wrong-types': 'returns lists instead of texts and words instead of numbers',
    'answer-scripts': 'HTML and a script in title, subTitle, name and describe',
  },
  answers: {
    'answer-code-300': 'responds to everything with 300',
    'answer-other-partner-id': 'the response has another partnerId',
    'answer-echoes-secrets': 'repeats the Authorization header and its own clientSecret, in the body and in a header',
    'answer-too-large': 'the response is larger than 2 MiB',
    'answer-http-500': 'HTTP status 500',
    'answer-redirects': 'HTTP status 302 to another address',
    'answer-slow': 'responds after 20 seconds',
    'answer-wrong-content-type': 'the response is JSON but declared as text/html',
    'answer-wrong-aes-key': 'encrypts its responses with another key than the agreed one',
    'answer-empty': 'the response has no body',
    'answer-not-json': 'the response is an HTML page',
  },
  notices: {
    'notice-not-sent': 'sends no notices; they go out when this is switched off',
    'notice-wrong-signature': 'signs notices with another secret',
    'notice-local-time': 'writes Beijing time into the Date of notices but labels it GMT',
    'notice-missing-field': 'leaves out usedQuantity, refundId, issueType and the status of a product',
    'pay-notice-code-missing': 'a pay notice has one voucher fewer than voucherType requires',
    'notice-rounded-order-id': 'reads order ids with a plain JSON parser, so notices name an order that does not exist',
    'notice-sent-twice': 'sends each notice twice at the same moment',
  },
} as const

type Groups = typeof MISTAKE_GROUPS

export type MistakeGroup = keyof Groups

export type DemoMistake = { [Group in MistakeGroup]: keyof Groups[Group] }[MistakeGroup]

/** All mistakes, with what each does. */
export const MISTAKES: Readonly<Record<DemoMistake, string>> = Object.assign({}, ...Object.values(MISTAKE_GROUPS))

/** The mistakes that are switched on. */
export type Switches = Set<DemoMistake>
