import { z } from 'zod'
import { momentKey, pageInput, periodInput } from '../../platform/db/page.ts'
import { asMessage, problem, REQUIRED } from '../../platform/lib/json/field-problem.ts'
import {
  date,
  idText,
  int64,
  maybe,
  numericText,
  oneOf,
  positiveId,
  remark,
  smallInt,
} from '../../platform/lib/json/fields.ts'
import { stringifyLossless } from '../../platform/lib/json/lossless.ts'
import { listOf } from '../../platform/lib/json/shape.ts'
import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import {
  credential,
  issuedTickets,
  jsonFields,
  lenientProblems,
  levelPrice,
  voucherState,
} from '../interfaces/index.ts'
import { NOTICE_PATHS } from '../mws-wire/index.ts'

// The shape of the notices (REFERENCE "Payloads"). Whether their numbers fit together is checked by the operations.

/** `partnerId` is optional, but must belong to the caller (REFERENCE "What a signed call may do differently"). */
const envelope = { partnerId: maybe(numericText()), code: maybe(smallInt()).catch(undefined), describe: remark() }

const REMARKS = z.looseObject({ code: maybe(smallInt()), describe: maybe(z.string()) })

/** Whether a pay notice has invalid fields that decide nothing: they are left out, so that no ticket is lost. */
export const leavesFieldsOut = (json: unknown): boolean => {
  const { body } = jsonFields(json)
  return (
    lenientProblems(payNotice.shape.body, body).length > 0 ||
    [json, body].some((part) => !REMARKS.safeParse(part).success)
  )
}

/** Nothing reads it, so an invalid value must lose neither tickets nor a decision. */
const unreadTime = z.unknown().optional().meta({ wire: 'datetime' })

/** status: 0 taken off sale, 1 put on sale, 2 information changed, 5 price calendar changed. */
const dealChange = z.looseObject({ partnerDealId: idText(), status: oneOf(0, 1, 2, 5) })

const isSingle = (body: unknown): boolean => typeof body === 'object' && body !== null && !Array.isArray(body)

/** POST /mtp/api/deal/change/notice; a single entry counts as a list of one. */
export const dealChangeNotice = z.looseObject({
  ...envelope,
  body: z.preprocess(
    (body) => (isSingle(body) ? [body] : body),
    listOf('deals', dealChange).min(1, problem('must-have-entry')),
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
    voucherList: maybe(listOf('vouchers', voucherState)),
    useStartDate: maybe(date()),
    useEndDate: maybe(date()),
    credentialList: maybe(listOf('vouchers', credential)),
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
    requestTime: unreadTime,
    responseTime: unreadTime,
  }),
})

/**
 * POST /mtp/api/order/pay/notice, after an order pay that was answered with 598; issueType 1 issued, 2 failed (0 in an
 * old program). Programs differ in where code and describe stand. A failure has only the ids.
 */
export const payNotice = z.looseObject({
  ...envelope,
  issueType: oneOf(0, 1, 2),
  body: z.looseObject({
    orderId: int64(),
    partnerOrderId: idText(),
    ...issuedTickets,
    requestTime: unreadTime,
    code: envelope.code,
    describe: envelope.describe,
  }),
})

/** Characters; real ones are much shorter. */
const LONGEST_RESCHEDULE = 65_536

/** The problem of a reschedule notice's body, if it has one; its content is not read. */
function rescheduleProblem(body: unknown): LocalizedText | undefined {
  if (body === undefined) return REQUIRED
  if (typeof body !== 'string' && !isSingle(body)) return localized('must-be-text-or-object')
  if (body === '') return localized('must-be-filled')
  const text = typeof body === 'string' ? body : stringifyLossless(body as object)
  return text.length > LONGEST_RESCHEDULE ? localized('must-have-characters', { most: LONGEST_RESCHEDULE }) : undefined
}

/**
 * POST /mtp/api/order/reschedule/notice: only its envelope is known. The body is encrypted and in Base64, or an object,
 * from programs that encrypt the whole notice or nothing.
 */
export const rescheduleNotice = z.looseObject({
  ...envelope,
  body: z
    .unknown()
    .superRefine((body, context) => {
      const found = rescheduleProblem(body)
      if (found) context.addIssue({ code: 'custom', message: asMessage(found) })
    })
    .meta({ wire: 'text' }),
})

/** POST /mtp/api/level/price/notice/v2: complete days of one product's level price calendar. */
export const levelPriceNotice = z
  .looseObject({
    ...envelope,
    partnerDealId: idText(),
    startTime: date(),
    endTime: date(),
    body: listOf('levelPrices', levelPrice).min(1, problem('must-have-entry')),
  })
  .superRefine(({ startTime, endTime, body }, context) => {
    const refuse = (path: (string | number)[], text: LocalizedText) =>
      context.addIssue({ code: 'custom', path, message: asMessage(text) })
    if (endTime < startTime) refuse(['endTime'], localized('must-not-be-before', { day: 'startTime' }))
    else {
      const outside = body.findIndex(({ priceDate }) => priceDate < startTime || priceDate > endTime)
      if (outside >= 0)
        refuse(['body', outside, 'priceDate'], localized('not-between', { from: startTime, to: endTime }))
    }
    if (body.length > 0 && body.every(({ stock }) => stock === 0)) refuse(['body'], localized('must-have-stock'))
  })

export type PayNotice = z.output<typeof payNotice>

/** The notices of a partner, for an operator. */
export const noticeFilter = z.strictObject({
  partner_id: positiveId,
  kind: z.enum(Object.keys(NOTICE_PATHS) as [keyof typeof NOTICE_PATHS]).optional(),
  outcome: z.enum(['accepted', 'refused']).optional(),
  ...periodInput,
  ...pageInput(z.tuple([momentKey, z.uuid()]), { usual: 50, most: 200 }),
})
export type NoticeFilter = z.output<typeof noticeFilter>
