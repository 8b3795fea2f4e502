import { z } from 'zod'
import {
  date,
  dateTime,
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
import {
  EVEN_IF_WRONG,
  LIST_LIMITS,
  listOf,
  readShape,
  requireField,
  type ShapeProblem,
} from '../../platform/lib/json/shape.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { partnerInterface, plainAnswer } from './interface.ts'
import { readableCredential, sentPerson } from './people.ts'
import { jsonFields } from './read-answer.ts'

/** 0 none, 1 one code per ticket, 2 one per order. */
export const voucherType = () => oneOf(0, 1, 2)

/** Entries without a documented format; they are kept as they are (issue-tickets.ts). */
const additionalLists = {
  voucherAdditionalList: z.unknown().optional(),
  orderAdditionalList: z.unknown().optional(),
}

/** What decides nothing of the tickets, as the contract has it. */
const PICTURES = maybe(listOf('vouchers', z.string()))
const REAL_NAMES = maybe(oneOf(0, 1))

const TICKET_EXTRAS = z.looseObject({ voucherPics: PICTURES, realNameType: REAL_NAMES })

/** What is wrong with the fields of an issue that decide nothing. Such a field is left out, not to lose the tickets. */
export function ticketExtrasProblems(body: unknown): readonly ShapeProblem[] {
  const read = readShape(TICKET_EXTRAS, jsonFields(body))
  return 'problems' in read ? read.problems : []
}

/** The pictures that are texts, each at the place of its code. */
const usablePictures = ({ input }: { input: unknown }): string[] | undefined =>
  Array.isArray(input)
    ? input.slice(0, LIST_LIMITS.vouchers.most).map((picture) => (typeof picture === 'string' ? picture : ''))
    : undefined

/** The ticket fields of order pay and pay notice. asyReturnVoucher: codes, or some of them, come later. */
export const issuedTickets = {
  vouchers: maybe(listOf('vouchers', idText())),
  voucherPics: PICTURES.catch(usablePictures),
  realNameType: REAL_NAMES.catch(undefined),
  credentialList: maybe(listOf('vouchers', readableCredential)),
  asyReturnVoucher: maybe(yesOrNo()),
  ...additionalLists,
}

/** 0 unused, 1 used: of a ticket that is refunded or void no code is lost. */
const VALID = [0, 1]

function codeOf(entry: unknown): string {
  const isEntry = typeof entry === 'object' && entry !== null
  const { voucher, status } = isEntry ? jsonFields(entry) : { voucher: entry, status: 0 }
  return VALID.includes(Number(status ?? 0)) ? String(voucher ?? '').trim() : ''
}

/** A failure that brings codes is not believed, so that none is lost; undefined if `lists` have no code. */
export function codesOfFailure(lists: Readonly<Record<string, unknown>>, said: string): ShapeProblem | undefined {
  for (const [name, list] of Object.entries(lists)) {
    const count = new Set((Array.isArray(list) ? list : []).map(codeOf).filter((code) => code !== '')).size
    if (count > 0) return { path: `body.${name}`, problem: localized('codes-of-failure', { count, what: said }) }
  }
  return undefined
}

/** Tickets as an answer or notice issued them, once it is read. */
export interface IssuedTickets {
  readonly voucherType?: 0 | 1 | 2 | undefined
  readonly vouchers?: readonly string[] | undefined
  readonly voucherPics?: readonly string[] | undefined
  readonly credentialList?: readonly z.output<typeof readableCredential>[] | undefined
  readonly asyReturnVoucher?: boolean | undefined
  readonly voucherAdditionalList?: unknown
  readonly orderAdditionalList?: unknown
}

/**
 * A voucher as the consumption notice and the order query tell it; status 0 unused, 1 used, 2 refunded, 3 void. The
 * picture decides nothing: some send a list here too.
 */
export const voucherState = z.looseObject({
  voucher: idText(),
  voucherPics: maybe(z.string()).catch(undefined),
  voucherInvalidTime: dateTime(),
  quantity: smallInt(),
  status: oneOf(0, 1, 2, 3),
})

const echoed = { orderId: maybe(int64()), partnerOrderId: maybe(idText()) }

/** `orderId` is the idempotency key: the same id must return the same partnerOrderId. */
export const orderCreate = partnerInterface({
  name: 'order-create',
  title: 'Order create',
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

/** Issues the tickets. Which kind of codes they have is only left open where the codes come later. */
export const orderPay = partnerInterface({
  name: 'order-pay',
  title: 'Order pay (issue tickets)',
  defaultPath: '/order/pay',
  encrypted: true,
  request: z.object({ orderId: int64(), partnerOrderId: z.string() }),
  answer: z.looseObject({
    body: z
      .looseObject({ ...echoed, voucherType: maybe(voucherType()), ...issuedTickets })
      .superRefine((body, context) => {
        if (body.asyReturnVoucher === true) return
        requireField(
          body,
          context,
          'voucherType',
          localized('required-because-not', { field: 'asyReturnVoucher', value: 'true' }),
        )
      }, EVEN_IF_WRONG)
      .meta({ requiredWhen: { voucherType: 'asyReturnVoucher ≠ true' } }),
  }),
  contradicted: (json, code) => {
    const { vouchers, credentialList } = jsonFields(jsonFields(json).body ?? json)
    return codesOfFailure({ vouchers, credentialList }, `code ${code}`)
  },
  warnings: (json) =>
    ticketExtrasProblems(jsonFields(json).body ?? json).map(({ path, problem }) => ({ path: `body.${path}`, problem })),
  pending: { 598: 'issuing' },
  failures: { 501: 'balance too low', 502: 'no earlier success found', 599: 'other pay error' },
})

/** orderStatus on the wire; 4 also when used or refunded, the quantities tell. */
export const ORDER_STATUS = { created: 2, createFailed: 3, issued: 4, paying: 5, payFailed: 6 } as const

export const orderQuery = partnerInterface({
  name: 'order-query',
  title: 'Order query',
  defaultPath: '/order/query',
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
  title: 'Order close',
  defaultPath: '/order/close',
  encrypted: true,
  request: z.object({ orderId: int64(), closeType: oneOf(1, 2, 3) }),
  answer: plainAnswer,
})

export const orderReschedule = partnerInterface({
  name: 'order-reschedule',
  title: 'Reschedule',
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
