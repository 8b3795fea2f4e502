import { z } from 'zod'
import {
  dateTime,
  idText,
  int64,
  maybe,
  oneOf,
  price,
  sentText,
  sentUnlessEmpty,
  smallInt,
  text,
} from '../../platform/lib/json/fields.ts'
import { listOf } from '../../platform/lib/json/shape.ts'
import { partnerInterface, plainAnswer } from './interface.ts'
import { credentialType } from './people.ts'

const sentCredential = z.object({ credentialType: credentialType(), credentialNo: idText(), voucher: sentText() })

/** Nothing reads it, so a decided refund must not count as lost because of its form. */
const unreadTime = () => maybe(dateTime()).catch(undefined)

/** 200: refunded at once; 602: under review, the decision comes as a refund notice with the same refundId. */
export const orderRefund = partnerInterface({
  name: 'order-refund',
  defaultPath: '/order/refund',
  encrypted: true,
  request: z.object({
    orderId: int64(),
    refundId: text(),
    partnerOrderId: z.string(),
    partnerDealId: idText(),
    voucherList: listOf('vouchers', idText()).default([]),
    /** Only for real-name orders. */
    credentialList: sentUnlessEmpty(listOf('vouchers', sentCredential)),
    refundQuantity: smallInt(),
    unitPrice: price(),
    refundPrice: price(),
    refundFee: price(),
    refundTime: dateTime(),
  }),
  answer: z.looseObject({
    body: z.looseObject({
      orderId: maybe(int64()),
      refundId: maybe(idText()),
      partnerOrderId: maybe(idText()),
      requestTime: unreadTime(),
      responseTime: unreadTime(),
    }),
  }),
  pending: { 602: 'under review' },
  failures: {
    601: 'already refunded',
    604: 'wrong type of code',
    606: 'not enough tickets, or refund refused',
    607: 'product not refundable',
    699: 'other refund error',
  },
})

/** A refund by the platform: 1 by customer service, 2 payment never confirmed, 3 review timed out. */
export const orderRefunded = partnerInterface({
  name: 'order-refunded',
  defaultPath: '/order/refunded',
  encrypted: true,
  request: z.object({
    orderId: int64(),
    partnerOrderId: z.string(),
    refundSerialNo: text(),
    voucherList: listOf('vouchers', idText()).default([]),
    /** -1: everything */
    refundPrice: price(),
    refundMessageType: oneOf(1, 2, 3),
    reason: sentText(),
    refundTime: dateTime(),
    count: smallInt(),
  }),
  answer: plainAnswer,
})
