import { z } from 'zod'
import { filterText, idKey, momentKey, pageInput, periodInput } from '../../platform/db/page.ts'
import { problem } from '../../platform/lib/json/field-problem.ts'
import { date, isPayable, money, positiveId, storable, text } from '../../platform/lib/json/fields.ts'
import { InvalidInput } from '../../platform/lib/json/input.ts'
import { LIST_LIMITS, listOf } from '../../platform/lib/json/shape.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { visitor } from '../interfaces/index.ts'
import { ORDER_STATE_NAMES } from './states.ts'

/** Input of operators. Names are those of the columns; 64-bit ids come as number or text and are kept exact. */

const count = z.int().min(1).max(LIST_LIMITS.vouchers)

export const newOrder = z.strictObject({
  partner_id: positiveId,
  /** The idempotency key: the same id is the same order. A new one if it is left out. */
  order_id: positiveId.optional(),
  partner_deal_id: storable,
  quantity: count.default(1),
  /** Missing for open-date tickets. */
  travel_date: date().optional(),
  /** Taken from the pulled product or price calendar if left out. */
  unit_price: money.optional(),
  buy_price: money.optional(),
  /** unit_price × quantity if left out. */
  total_price: money.optional(),
  mt_deal_id: positiveId.optional(),
  visitors: listOf('visitors', visitor).optional(),
  contact_person: visitor.optional(),
  /** Only for level price calendars. */
  partner_primary_key: storable.optional(),
  level_ids: listOf('levels', storable).optional().meta({ flag: 'level-id' }),
})
export type NewOrder = z.output<typeof newOrder>

export const oneOrder = z.strictObject({ order_id: positiveId })

export const newRefund = z.strictObject({
  order_id: positiveId,
  /** The idempotency key: the same id is the same refund. A new one if it is left out. */
  refund_id: storable.optional(),
  /** All tickets that are left, or those of `vouchers`, if left out. */
  quantity: count.optional(),
  vouchers: listOf('vouchers', storable).default([]).meta({ flag: 'voucher' }),
  /** unit_price × quantity if left out. */
  refund_price: money.optional(),
  refund_fee: money.default(0),
  /** Asks for a part of an order though its product has no partial refunds. */
  partly: z.boolean().default(false),
})

const { order_id, refund_id, quantity, vouchers, refund_price, partly } = newRefund.shape

/** 1 by customer service, 2 payment never confirmed, 3 review timed out. */
export const newRefundedMessage = z.strictObject({
  order_id,
  /** With type 3 the refund under review. */
  refund_id,
  type: z.literal([1, 2, 3]),
  ...{ quantity, vouchers, refund_price },
  reason: text().max(500).optional(),
  partly,
})
export type NewRefundedMessage = z.output<typeof newRefundedMessage>

export const orderFilter = z.strictObject({
  partner_id: positiveId.optional(),
  state: z.enum(ORDER_STATE_NAMES).optional(),
  /** True: only orders of the sandbox; false: only live ones. */
  sandbox: z
    .union([z.boolean(), z.stringbool({ truthy: ['true'], falsy: ['false'] })], problem('must-be-boolean'))
    .optional()
    .meta({ off: 'live' }),
  partner_order_id: filterText(255).optional(),
  ...periodInput,
  ...pageInput(z.tuple([momentKey, idKey]), { usual: 50 }),
})
export type OrderFilter = z.output<typeof orderFilter>

/** The price of some tickets, in whole fen so that 0.1 × 3 is 0.3. Throws InvalidInput for `field` if it is out of range. */
export function ticketsPrice(unitPrice: number, quantity: number, field: string): number {
  const total = Math.round(unitPrice * 100 * quantity) / 100
  if (!isPayable(total)) throw new InvalidInput([{ field, problem: localized('must-be-payable') }])
  return total
}
