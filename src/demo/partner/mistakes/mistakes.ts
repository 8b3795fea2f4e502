/**
 * Mistakes that sellers make, to be switched on one by one (control/), so that the platform's tests can be tested.
 * Nothing of this folder belongs into a shop: leave it out when you copy the example.
 */
export const MISTAKES = {
  'wrong-signature-accepted': 'does not compare the signature',
  'stale-date-accepted': 'does not look at the Date',
  'unknown-client-accepted': 'does not look at the clientId',
  'order-create-not-idempotent': 'a second create of an order makes a new partnerOrderId',
  'out-of-stock-sold': 'sells what it does not have',
  'pay-again-issues-again': 'a second pay issues other vouchers',
  'refund-twice-refunds-twice': 'a repeated refundId gives back further tickets',
  'close-twice-fails': 'a second close is answered with 300',
  'answer-not-json': 'the answer is an HTML page',
  'answer-empty': 'the answer has no body',
  'answer-http-500': 'HTTP status 500',
  'answer-code-300': 'says 300 to everything',
  'answer-missing-field': 'leaves out a required field of the answer',
  'answer-wrong-types': 'lists where texts belong, words where numbers belong',
  'answer-rounded-order-id': 'reads order ids with a plain JSON parser, so long ones lose their last digits',
  'answer-redirects': 'HTTP status 302 to another address',
  'answer-too-large': 'the answer is longer than 2 MiB',
  'answer-slow': 'answers after 20 seconds',
  'notice-wrong-signature': 'signs notices with another secret',
  'notice-local-time': 'writes Beijing time into the Date of notices and calls it GMT',
  'notice-sent-twice': 'sends each notice twice at the same moment',
} as const

export type Mistake = keyof typeof MISTAKES

/** The mistakes that are made at the moment. */
export type Switches = Set<Mistake>
