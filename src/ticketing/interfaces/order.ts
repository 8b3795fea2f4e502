import { z } from 'zod'
import { problem } from '../../platform/lib/json/field-problem.ts'
import {
  date,
  dateTime,
  filledText,
  idText,
  int64,
  maybe,
  oneOf,
  price,
  sentDate,
  sentUnlessEmpty,
  smallInt,
  text,
  yesOrNo,
} from '../../platform/lib/json/fields.ts'
import { EVEN_IF_WRONG, LIST_LIMITS, listOf, requireField, type ShapeProblem } from '../../platform/lib/json/shape.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { partnerInterface, plainAnswer } from './interface.ts'
import { readableCredential, sentPerson } from './people.ts'
import { fieldsOfAnswer, jsonFields } from './read-answer.ts'

/** 0 none, 1 one code per ticket, 2 one per order. */
const voucherType = () => oneOf(0, 1, 2)

/** Lists without a documented format; they are kept as received (issue-tickets.ts). */
const additionalLists = {
  voucherAdditionalList: z.unknown().optional(),
  orderAdditionalList: z.unknown().optional(),
}

/** Keeps the pictures that are texts, each at the index of its code. */
const usablePictures = ({ input }: { input: unknown }): string[] | undefined =>
  Array.isArray(input)
    ? input.slice(0, LIST_LIMITS.vouchers).map((picture) => (typeof picture === 'string' ? picture : ''))
    : undefined

/** The ticket fields of order pay and pay notice. asyReturnVoucher: codes, or some of them, come later. */
export const issuedTickets = {
  voucherType: maybe(voucherType()),
  vouchers: maybe(listOf('vouchers', idText())),
  // These decide nothing, as the contract defines them, so the tickets are not lost with an invalid one.
  voucherPics: maybe(listOf('vouchers', z.string())).catch(usablePictures),
  realNameType: maybe(oneOf(0, 1)).catch(undefined),
  credentialList: maybe(listOf('vouchers', readableCredential)),
  asyReturnVoucher: maybe(yesOrNo()),
  ...additionalLists,
}
export type IssuedTickets = z.output<z.ZodObject<typeof issuedTickets>>

/** 0 unused, 1 used: losing the code of a refunded or void ticket does no harm. */
const VALID = [0, 1]

function codeOf(entry: unknown): string {
  const isEntry = typeof entry === 'object' && entry !== null
  const { voucher, status } = isEntry ? jsonFields(entry) : { voucher: entry, status: 0 }
  return VALID.includes(Number(filledText(status) ?? 0)) ? (filledText(voucher) ?? '').trim() : ''
}

/** A failure that comes with codes is not believed, or they would be lost. Undefined without codes. */
export function codesOfFailure(lists: Readonly<Record<string, unknown>>, failure: string): ShapeProblem | undefined {
  for (const [name, list] of Object.entries(lists)) {
    const count = new Set((Array.isArray(list) ? list : []).map(codeOf).filter((code) => code !== '')).size
    if (count > 0) return { path: `body.${name}`, problem: localized('codes-of-failure', { count, what: failure }) }
  }
  return undefined
}

/**
 * A voucher in a consumption notice or an answer to order query; status 0 unused, 1 used, 2 refunded, 3 void. An
 * invalid picture is left out: some programs send a list here too.
 */
export const voucherState = z.looseObject({
  voucher: idText(),
  voucherPics: maybe(z.string()).catch(undefined),
  voucherInvalidTime: dateTime(),
  quantity: smallInt().refine((count) => count >= 0, problem('must-not-be-negative')),
  status: oneOf(0, 1, 2, 3),
})

const echoed = { orderId: maybe(int64()), partnerOrderId: maybe(idText()) }

/** `orderId` is the idempotency key: the same id must return the same partnerOrderId. */
export const orderCreate = partnerInterface({
  name: 'order-create',
  defaultPath: '/order/create',
  encrypted: true,
  request: z.object({
    orderId: int64(),
    partnerDealId: idText(),
    mtDealId: int64(),
    buyPrice: price(),
    unitPrice: price(),
    totalPrice: price(),
    quantity: smallInt(),
    travelDate: sentDate(),
    visitors: listOf('visitors', sentPerson).default([]),
    contactPerson: sentPerson.optional(),
    partnerPrimaryKey: sentUnlessEmpty(z.string()),
    levelIds: sentUnlessEmpty(listOf('levels', idText())),
  }),
  answer: z.looseObject({ body: z.looseObject({ partnerOrderId: idText() }) }),
  failures: {
    410: 'data or price wrong, pull the calendar again',
    420: 'out of stock',
    421: 'product paused, expired or unknown',
    422: 'against a booking rule',
    499: 'other create error',
  },
})

/** Issues the tickets. voucherType may only be missing while codes are still to come. */
export const orderPay = partnerInterface({
  name: 'order-pay',
  defaultPath: '/order/pay',
  encrypted: true,
  request: z.object({ orderId: int64(), partnerOrderId: z.string() }),
  answer: z.looseObject({
    body: z
      .looseObject({ ...echoed, ...issuedTickets })
      .superRefine((body, context) => {
        if (body.asyReturnVoucher === true) return
        const message = localized('required-because-not', { field: 'asyReturnVoucher', value: 'true' })
        requireField(body, context, 'voucherType', message)
      }, EVEN_IF_WRONG)
      .meta({ requiredWhen: { voucherType: 'asyReturnVoucher ≠ true' } }),
  }),
  contradicted: (json, code) => {
    const { vouchers, credentialList } = fieldsOfAnswer(json)
    return codesOfFailure({ vouchers, credentialList }, `code ${code}`)
  },
  pending: { 598: 'issuing' },
  failures: { 501: 'balance too low', 502: 'no earlier success found', 599: 'other pay error' },
})

/** orderStatus on the wire. 4 also covers used and refunded, which the quantities tell. */
export const ORDER_STATUS = { created: 2, createFailed: 3, issued: 4, paying: 5, payFailed: 6 } as const

export const orderQuery = partnerInterface({
  name: 'order-query',
  defaultPath: '/order/query',
  reads: true,
  encrypted: true,
  request: z.object({ orderId: int64(), partnerOrderId: z.string() }),
  answer: z.looseObject({
    body: z.looseObject({
      ...echoed,
      orderStatus: oneOf(2, 3, 4, 5, 6),
      orderQuantity: smallInt(),
      usedQuantity: smallInt(),
      refundedQuantity: smallInt(),
      voucherType: maybe(voucherType()),
      voucherList: maybe(listOf('vouchers', voucherState)),
      credentialList: maybe(listOf('vouchers', readableCredential)),
      ...additionalLists,
    }),
  }),
  failures: { 301: 'no such order', 302: 'look-up failed', 399: 'other query error' },
})

/** closeType: 1 not paid, 2 create failed, 3 pay failed and refunded. An order that is closed already answers 200. */
export const orderClose = partnerInterface({
  name: 'order-close',
  defaultPath: '/order/close',
  encrypted: true,
  request: z.object({ orderId: int64(), closeType: oneOf(1, 2, 3) }),
  answer: plainAnswer,
})

export const orderReschedule = partnerInterface({
  name: 'order-reschedule',
  defaultPath: '/order/reschedule',
  request: z.object({
    orderId: int64(),
    partnerOrderId: z.string(),
    rescheduleType: smallInt(),
    rescheduleNo: text(),
    originDate: date(),
    targetDate: date(),
    rescheduleVisitors: listOf('visitors', z.object({ originVisitor: sentPerson, targetVisitor: sentPerson })).default(
      [],
    ),
    originLevelIds: sentUnlessEmpty(listOf('levels', idText())),
    targetLevelIds: sentUnlessEmpty(listOf('levels', idText())),
  }),
  answer: z.looseObject({
    body: z.looseObject({
      orderId: maybe(int64()),
      rescheduleNo: idText(),
      successCount: smallInt(),
      credentialVouchers: maybe(listOf('vouchers', z.unknown())),
    }),
  }),
})
