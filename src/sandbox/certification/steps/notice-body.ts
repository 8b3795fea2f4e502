import type { OutputOf } from '../../../platform/lib/json/input.ts'
import { isRounded, jsonIn } from '../../../platform/lib/json/lossless.ts'
import { type LocalizedText, localized } from '../../../platform/lib/localized-text.ts'
import { addDays, beijingDate, beijingTime } from '../../../platform/lib/time-zone.ts'
import { jsonFields } from '../../../ticketing/interfaces/index.ts'
import type { createOrder } from '../../../ticketing/orders/index.ts'
import type { StepContext } from '../step-context.ts'

const bodyOf = (text: string): unknown => jsonFields(jsonIn(text)).body

/** A field of a notice's body as text, with every digit of a long id; undefined when it is not there. */
export function fieldIn(text: string, field: string): string | undefined {
  const value = jsonFields(bodyOf(text))[field]
  return value === undefined ? undefined : String(value)
}

/** The field's text in each entry of a body that is a list (or a single entry). */
export function fieldsIn(text: string, field: string): string[] {
  const body = bodyOf(text)
  const entries = Array.isArray(body) ? body : [body]
  return entries.flatMap((entry) => (jsonFields(entry)[field] === undefined ? [] : [String(jsonFields(entry)[field])]))
}

/** The entries of a list in a notice's body; none if it is not there. */
export function listIn(text: string, field: string): readonly unknown[] {
  const value = jsonFields(bodyOf(text))[field]
  return Array.isArray(value) ? value : []
}

/**
 * What a notice is about if it names another order: that of an attempt before, or one that is not known. An id that was
 * rounded on the way means this order; the notice has been refused, and the step fails with it.
 */
export function otherOrder(wanted: bigint, body: string): LocalizedText | undefined {
  const named = fieldIn(body, 'orderId')
  if (named === undefined || named === String(wanted) || isRounded(named, wanted)) return undefined
  return localized('other-order', { said: named, wanted: String(wanted) })
}

export type Order = OutputOf<typeof createOrder>['order']

/** The notices that steps wait for, whole and with everything that is known, for a person to copy and send. */

/** `status` of a voucher. */
const UNUSED = 0
const USED = 1

/** Days until a voucher ends of which neither an end nor a travel date is known. */
const SOME_DAYS = 365

export const wantedProductChange = ({ partner }: StepContext, partnerDealId: string, status: string): object => ({
  partnerId: partner.partner_id,
  body: [{ partnerDealId, status: Number(status) }],
})

/** So many tickets of the order are used; all if left out. */
export const wantedConsumption = ({ partner, deps }: StepContext, order: Order, used = order.quantity): object => {
  let counted = 0
  const last = order.travel_date ?? addDays(beijingDate(deps.clock.now()), SOME_DAYS)
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

/** The tickets of the order are issued, one code each. */
export const wantedPay = ({ partner }: StepContext, order: Order): object => ({
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

export const wantedApproval = ({ partner, deps }: StepContext, order: Order, refundId: string): object => ({
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
