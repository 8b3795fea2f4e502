import { describe, expect, it } from 'vitest'
import { parseLossless } from '../../src/platform/lib/json/lossless.ts'
import { obstacleTo, readWritten, strictBody } from '../../src/sandbox/portal/play/body.ts'
import { INTERFACES } from '../../src/ticketing/interfaces/index.ts'
import { orderRefund } from '../../src/ticketing/interfaces/refund.ts'
import type { NamedOrder } from '../../src/ticketing/orders/trial-store.ts'
import { fuzzSettings, randomAt } from '../fuzz/random.ts'
import { attackingBody, touched } from './play-bodies.ts'

const order = (id: bigint, fields: Partial<NamedOrder> = {}): NamedOrder => ({
  order_id: id,
  partner_id: 7001n,
  partner_order_id: `P-${id}`,
  sold: false,
  vouchers: [`${id}-a`, `${id}-b`],
  refund_ids: [],
  ...fields,
})
const OWN = order(6_123_456_789_012_345n)
const SOLD = order(6_123_456_789_012_399n, { sold: true })
const FOREIGN = order(6_999_456_789_012_345n, { partner_id: 7002n })
const ORDERS = [OWN, SOLD, FOREIGN]
const BODIES = 10_000

/** Decides as bodyToSend does, with these orders. */
function decide(written: string, reads = false) {
  const read = readWritten(written)
  if ('kind' in read) return read
  const body = strictBody(orderRefund, read.value, 7001n)
  if ('kind' in body) return body
  const named = ORDERS.find(({ order_id }) => order_id === body.orderId)
  return obstacleTo(body, named, { partnerId: 7001n, reads }) ?? body
}

describe('what a live partner may send from the playground', () => {
  it.each([
    ['changes', [SOLD, FOREIGN], false],
    ['reads', [FOREIGN], true],
  ] as const)(
    `reaches no forbidden order with any of ${BODIES} bodies to an interface that %s`,
    (_what, forbidden, reads) => {
      const { seed } = fuzzSettings()
      const wrong: string[] = []
      let [sent, refusedRightly] = [0, 0]
      for (let place = 0; place < BODIES; place++) {
        const random = randomAt(seed, place)
        const written = attackingBody(random, OWN, random.pick([SOLD, FOREIGN]))
        const decided = decide(written, reads)
        const text = 'text' in decided ? decided.text : written
        const read = parseLossless(Buffer.from(text))
        const reached = 'value' in read ? touched(text, read.value, forbidden) : []
        if ('text' in decided) {
          sent++
          if (reached.length > 0) wrong.push(written)
        } else if (reached.length > 0) refusedRightly++
      }
      expect(wrong).toEqual([])
      expect(sent).toBeGreaterThan(BODIES / 50)
      expect(refusedRightly).toBeGreaterThan(BODIES / 4)
    },
  )

  it('is written like the platform’s own requests', () => {
    const written = `{"body": {"refundQuantity": "1", "orderId": "${OWN.order_id}", "refundId": "0b1c2d3e-0000-4000-8000-000000000001",
      "partnerOrderId": "", "partnerDealId": 5, "unitPrice": "1.10", "refundPrice": 1, "refundFee": 0, "refundTime": "2026-05-07 10:00:00"}}`
    expect(decide(written)).toMatchObject({ orderId: OWN.order_id })
    const { text } = decide(written) as { text: string }
    expect(text).toContain(`{"partnerId":7001,"body":{"orderId":${OWN.order_id},"refundId"`)
    expect(text).toContain('"partnerDealId":"5"')
  })

  it('has no field that its interface does not know, at any depth', () => {
    for (const definition of INTERFACES) {
      const read = strictBody(definition, { partnerId: 1n, body: { orderId: 5n, surplus: 1 } }, 7001n)
      expect(read, definition.name).toMatchObject({ kind: 'fields' })
    }
    const item = { partnerDealId: 'x', status: 1, orderId: 5 }
    const status = INTERFACES.find(({ name }) => name === 'product-status')
    expect(status && strictBody(status, { body: [item] }, 7001n)).toEqual({
      kind: 'fields',
      detail: 'body[0].orderId is not a field of this interface',
    })
  })
})
