import { pageNamed } from '../../platform/db/page.ts'
import type { Deps } from '../../platform/deps.ts'
import { historyOfOrder } from '../../platform/history/index.ts'
import { type OutputOf, operation } from '../../platform/lib/json/input.ts'
import { HIDDEN, maskedReason } from '../../platform/lib/masked-reason.ts'
import { callsOf } from '../partner-calls/index.ts'
import { shownOrder } from './order-result.ts'
import { listOrders as readOrders } from './show-store.ts'
import { orderFilter } from './wire.ts'

/** Throws for an order that does not exist. */
export async function showOrder(deps: Deps, orderId: bigint) {
  const order = await shownOrder(deps, orderId)
  return { order, history: await historyOfOrder(deps.db, orderId), calls: await callsOf(deps.db, order) }
}

export type OrderStory = OutputOf<typeof showOrder>

export const listOrders = operation(orderFilter, (deps: Deps, filter) =>
  pageNamed('orders', readOrders(deps.db, filter)),
)

/** The fields for operators who may not see personal data: nothing that opens a gate, or that a partner wrote. */
const SHOWN = {
  order: [
    ...[
      'order_id',
      'partner_id',
      'partner_deal_id',
      'partner_order_id',
      'sandbox',
      'state',
      'state_since',
      'last_code',
    ],
    ...['close_type', 'quantity', 'used_quantity', 'refunded_quantity', 'buy_price', 'unit_price', 'total_price'],
    ...['travel_date', 'created_at', 'updated_at', 'data_removed_at', 'additional_left_out'],
  ],
  voucher: ['state', 'quantity', 'used_quantity', 'refunded_quantity', 'invalid_at'],
  refund: [
    ...['partner_id', 'refund_id', 'order_id', 'state', 'refund_quantity', 'refund_price', 'refund_fee'],
    ...['decision_code', 'created_at', 'updated_at'],
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>

type RecordName = keyof typeof SHOWN

/** Keeps null and the number of entries, so that it shows whether there is a value. */
const hidden = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(() => HIDDEN)
  return value === null ? null : HIDDEN
}

const onlyShown = <Row extends object>(record: RecordName, row: Row): Row => {
  const shown: ReadonlySet<string> = new Set(SHOWN[record])
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, shown.has(name) ? value : hidden(value)]),
  ) as Row
}

const isRecord = (name: string): name is RecordName => Object.hasOwn(SHOWN, name)

const maskedChange = (row: OrderStory['history'][number]): OrderStory['history'][number] => {
  const { record, record_id, change } = row
  const shown: ReadonlySet<string> = new Set(isRecord(record) ? SHOWN[record] : [])
  return {
    ...row,
    record_id: record === 'voucher' ? HIDDEN : record_id,
    change: Object.fromEntries(
      Object.entries(change).map(([field, [before, after]]) => [
        field,
        shown.has(field) ? [before, after] : [hidden(before), hidden(after)],
      ]),
    ),
  }
}

export const maskedStory = ({ order, history, calls }: OrderStory): OrderStory => ({
  order: {
    ...onlyShown('order', order),
    vouchers: order.vouchers.map((voucher) => onlyShown('voucher', voucher)),
    refunds: order.refunds.map((refund) => onlyShown('refund', refund)),
  },
  history: history.map(maskedChange),
  calls: calls.map((call) => ({
    ...call,
    failure_detail: call.failure_detail === null ? null : maskedReason(call.failure_detail),
  })),
})
