import { expect, it } from 'vitest'
import { sameAnswerFindings } from '../../src/sandbox/checks/index.ts'
import type { CallRecord } from '../../src/ticketing/partner-calls/index.ts'

const call = (body: object): CallRecord =>
  ({ interface: 'order-refund', code: 200, response_body: JSON.stringify({ code: 200, ...body }) }) as CallRecord
const isSame = (first: object, second: object) =>
  sameAnswerFindings({ first: call(first), again: call(second), isLate: false })[0]?.passed

it.each<[string, object, object, boolean]>([
  ['another id', { body: { partnerOrderId: 'P1' } }, { body: { partnerOrderId: 'P2' } }, false],
  ['another id beside the code', { partnerOrderId: 'P1' }, { partnerOrderId: 'P2' }, false],
  ['the id in a body and beside the code', { body: { partnerOrderId: 'P1' } }, { partnerOrderId: 'P1' }, true],
  ['fields in another order', { body: { orderId: 1, refundId: 'R' } }, { body: { refundId: 'R', orderId: 1 } }, true],
  [
    'another responseTime',
    { body: { refundId: 'R', responseTime: '2026-05-06 18:00:00' } },
    { body: { refundId: 'R', responseTime: '2026-05-06 18:00:01' } },
    true,
  ],
  ['another describe', { describe: 'success' }, { describe: 'done before' }, true],
])('compares two answers with %s', (_what, first, second, same) => {
  expect(isSame(first, second)).toBe(same)
})
