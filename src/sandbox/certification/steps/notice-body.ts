import { filledText } from '../../../platform/lib/json/fields.ts'
import type { OutputOf } from '../../../platform/lib/json/input.ts'
import { isRounded, jsonIn } from '../../../platform/lib/json/lossless.ts'
import { type LocalizedText, localized } from '../../../platform/lib/localized-text.ts'
import { addDays, beijingDate, beijingTime } from '../../../platform/lib/time-zone.ts'
import { jsonFields } from '../../../ticketing/interfaces/index.ts'
import type { createOrder } from '../../../ticketing/orders/index.ts'
import type { StepContext } from '../step-context.ts'

const bodyOf = (text: string): unknown => jsonFields(jsonIn(text)).body

/** A field of a notice's body as text, long ids exact; undefined if it is missing, or neither text nor number. */
export function fieldIn(text: string, field: string): string | undefined {
  return filledText(jsonFields(bodyOf(text))[field])
}

/** The field as text from each entry of a body that is a list or a single entry. */
export function fieldsIn(text: string, field: string): string[] {
  const body = bodyOf(text)
  const entries = Array.isArray(body) ? body : [body]
  return entries.flatMap((entry) => filledText(jsonFields(entry)[field]) ?? [])
}

/** The entries of a list in a notice's body; empty if it is missing. */
export function listIn(text: string, field: string): readonly unknown[] {
  const value = jsonFields(bodyOf(text))[field]
  return Array.isArray(value) ? value : []
}

/**
 * Describes the order that a notice names, if it is another one, such as that of an earlier attempt. An id that was
 * rounded on the way counts as this order: the notice was refused, and the step fails with that reason.
 */
export function otherOrder(wanted: bigint, body: string): LocalizedText | undefined {
  const named = fieldIn(body, 'orderId')
  if (named === undefined || named === String(wanted) || isRounded(named, wanted)) return undefined
  return localized('other-order', { said: named, wanted: String(wanted) })
}

export type Order = OutputOf<typeof createOrder>['order']

/** Complete examples of the notices that steps wait for, to be copied and sent. */

/** `status` of a voucher. */
const UNUSED = 0
const USED = 1

/** Validity of a voucher with neither an end nor a travel date. */
const DEFAULT_VALIDITY_DAYS = 365

export const expectedProductChange = ({ partner }: StepContext, partnerDealId: string, status: string): object => ({
  partnerId: partner.partner_id,
  body: [{ partnerDealId, status: Number(status) }],
})

/** `used` tickets of the order are used, by default all. */
export const expectedConsumption = ({ partner, deps }: StepContext, order: Order, used = order.quantity): object => {
  let counted = 0
  const last = order.travel_date ?? addDays(beijingDate(deps.clock.now()), DEFAULT_VALIDITY_DAYS)
  const voucherList = order.vouchers.map(({ voucher, quantity, invalid_at }) => {
    const status = counted < used ? USED : UNUSED
    counted += quantity
    return { voucher, voucherInvalidTime: invalid_at ?? `${last} 23:59:59`, quantity, status }
  })
  return {
    partnerId: partner.partner_id,
    body: {
      orderId: order.order_id,
      partnerOrderId: order.partner_order_id ?? '',
      quantity: order.quantity,
      usedQuantity: used,
      refundedQuantity: 0,
      ...(voucherList.length > 0 ? { voucherList } : {}),
    },
  }
}

/** All tickets of the order are issued, with one code each. */
export const expectedPay = ({ partner }: StepContext, order: Order): object => ({
  partnerId: partner.partner_id,
  issueType: 1,
  code: 200,
  describe: 'success',
  body: {
    orderId: order.order_id,
    partnerOrderId: order.partner_order_id ?? '',
    voucherType: 1,
    vouchers: Array.from({ length: order.quantity }, (_, index) => `${order.order_id}-${index + 1}`),
    voucherPics: [],
    realNameType: 0,
  },
})

export const expectedApproval = ({ partner, deps }: StepContext, order: Order, refundId: string): object => ({
  partnerId: partner.partner_id,
  code: 200,
  describe: 'success',
  body: {
    orderId: order.order_id,
    refundId,
    partnerOrderId: order.partner_order_id ?? '',
    responseTime: beijingTime(deps.clock.now()),
  },
})
