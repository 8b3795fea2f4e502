import { z } from 'zod'
import { int64, numericText, parseLossless, smallInt } from '../lib/lossless.ts'
import { echo } from '../lib/rescode.ts'
import { problemsText, readShape } from '../lib/shape.ts'
import { date, dateTime, idText, maybe, oneOf } from '../ticketing/interfaces/fields.ts'
import { credential } from '../ticketing/interfaces/people.ts'
import { voucherState } from '../ticketing/interfaces/voucher.ts'

// The shape of the three notices (spec: area B payloads). What their numbers mean together is the operations' business.

/** `partnerId` is optional; when present it must belong to the caller's clientId (decisions, section 3). */
const envelope = { partnerId: maybe(numericText()), code: maybe(smallInt()), describe: maybe(z.string()) }

/** status: 0 taken off sale, 1 put on sale, 2 information changed, 5 price calendar changed. */
const dealChange = z.looseObject({ partnerDealId: idText(), status: oneOf(0, 1, 2, 5) })

const isSingle = (body: unknown): boolean => typeof body === 'object' && body !== null && !Array.isArray(body)

/** POST /mtp/api/deal/change/notice; a single entry counts as a list of one. */
export const dealChangeNotice = z.looseObject({
  ...envelope,
  body: z.preprocess(
    (body) => (isSingle(body) ? [body] : body),
    z.array(dealChange).min(1, 'must have at least one entry'),
  ),
})

/** POST /mtp/api/order/consume/notice; quantities are cumulative. */
export const consumeNotice = z.looseObject({
  ...envelope,
  body: z.looseObject({
    orderId: int64(),
    partnerOrderId: idText(),
    quantity: smallInt(),
    usedQuantity: smallInt(),
    refundedQuantity: smallInt(),
    voucherList: maybe(z.array(voucherState)),
    useStartDate: maybe(date()),
    useEndDate: maybe(date()),
    credentialList: maybe(z.array(credential)),
  }),
})

/** POST /mtp/api/order/refund/notice; code 200 refunded, 606 and 699 not. */
export const refundNotice = z.looseObject({
  ...envelope,
  code: oneOf(200, 606, 699),
  describe: z.string(),
  body: z.looseObject({
    orderId: int64(),
    refundId: idText(),
    partnerOrderId: idText(),
    requestTime: maybe(dateTime()),
    responseTime: maybe(dateTime()),
  }),
})

export type DealChangeNotice = z.output<typeof dealChangeNotice>
export type ConsumeNotice = z.output<typeof consumeNotice>
export type RefundNotice = z.output<typeof refundNotice>

/** Reads the bytes of a notice; the problem is the text for `describe`, naming field and problem. */
export function readNotice<Notice extends z.ZodType>(
  notice: Notice,
  bytes: Uint8Array,
): { notice: z.output<Notice> } | { problem: string } {
  const json = parseLossless(bytes)
  if ('problem' in json) return { problem: `HTTP body: ${echo(json.problem)}` }
  const read = readShape(notice, json.value)
  return 'problems' in read ? { problem: problemsText(read.problems) } : { notice: read.value }
}
