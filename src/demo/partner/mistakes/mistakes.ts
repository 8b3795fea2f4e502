/**
 * Mistakes that sellers make, to be switched on one by one (control/), so that the platform's tests can be tested.
 * Nothing of this folder belongs into a shop: leave it out when you copy the example.
 */
export const MISTAKE_GROUPS = {
  defence: {
    'wrong-signature-accepted': 'does not compare the signature',
    'stale-date-accepted': 'does not look at the Date',
    'unknown-client-accepted': 'does not look at the clientId',
  },
  shop: {
    'order-create-not-idempotent': 'a second create of an order makes a new partnerOrderId',
    'out-of-stock-sold': 'sells what it does not have',
    'pay-again-issues-again': 'a second pay issues other vouchers',
    'query-forgets-paid-order': 'order query does not know an order that is paid',
    'refund-twice-refunds-twice': 'a repeated refundId gives back further tickets',
    'close-twice-fails': 'a second close is answered with 300',
  },
  fields: {
    'prices-out-of-range': 'a calendar also has a day outside of the range that was asked for',
    'prices-of-another-product': 'a calendar is that of another product',
    'vouchers-do-not-fit-type':
      'pay gives a voucher too few (or one too many where there are none) for its voucherType',
    'refund-answers-another-refund': 'the answer of a refund names another refundId',
    'reschedule-count-wrong': 'reschedule says success, with a successCount that is not the number of tickets',
    'answer-other-order-id': 'the answer names another orderId',
    'answer-rounded-order-id': 'reads order ids with a plain JSON parser, so long ones lose their last digits',
    'answer-missing-field': 'leaves out a required field of the answer',
    'answer-wrong-types': 'lists where texts belong, words where numbers belong',
    'answer-scripts': 'HTML and a script in title, subTitle, name and describe',
  },
  answers: {
    'answer-code-300': 'says 300 to everything',
    'answer-other-partner-id': 'the answer names another partnerId',
    'answer-echoes-secrets': 'repeats the Authorization header and its own clientSecret, in the body and in a header',
    'answer-too-large': 'the answer is longer than 2 MiB',
    'answer-http-500': 'HTTP status 500',
    'answer-redirects': 'HTTP status 302 to another address',
    'answer-slow': 'answers after 20 seconds',
    'answer-wrong-content-type': 'the answer is JSON but says that it is text/html',
    'answer-wrong-aes-key': 'encrypts its answers, with another key than the one agreed on',
    'answer-empty': 'the answer has no body',
    'answer-not-json': 'the answer is an HTML page',
  },
  notices: {
    'notice-not-sent': 'sends no notices; they go out when this is switched off',
    'notice-wrong-signature': 'signs notices with another secret',
    'notice-local-time': 'writes Beijing time into the Date of notices and calls it GMT',
    'notice-missing-field': 'leaves out usedQuantity, refundId, issueType and the status of a product',
    'pay-notice-code-missing': 'a pay notice has a voucher too few for its voucherType',
    'notice-rounded-order-id': 'reads order ids with a plain JSON parser, so notices name an order that does not exist',
    'notice-sent-twice': 'sends each notice twice at the same moment',
  },
} as const

type Groups = typeof MISTAKE_GROUPS

export type MistakeGroup = keyof Groups

export type Mistake = { [Group in MistakeGroup]: keyof Groups[Group] }[MistakeGroup]

/** All of them, with what each does. */
export const MISTAKES: Readonly<Record<Mistake, string>> = Object.assign({}, ...Object.values(MISTAKE_GROUPS))

/** The mistakes that are made at the moment. */
export type Switches = Set<Mistake>
