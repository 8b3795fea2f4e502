import { isDeepStrictEqual } from 'node:util'
import type { Deps } from '../../platform/deps.ts'
import { type Cause, type Change, changeOf, OPERATOR, wasSentForPayment } from '../../platform/history/index.ts'
import type { Detail } from '../../platform/lib/localized-text.ts'
import type { CallCause } from '../partner-calls/index.ts'
import { illegalOrderTransition } from './errors.ts'
import {
  type ChangeableOrder,
  type OrderRow,
  type OrderSave,
  type OrderUpdate,
  saveContradiction,
  saveOrders,
  type VoucherRow,
} from './order-store.ts'
import { isOrderTransition } from './states.ts'

/**
 * Changes a locked order and writes the differences with their history, if there are any. Throws for a transition that
 * states.ts does not have. Consumption notices do the same for many orders at once, with `orderSave`.
 */
export async function changeOrder(
  deps: Deps,
  order: OrderRow,
  update: Partial<OrderUpdate>,
  cause: Cause,
  vouchersBefore: readonly VoucherRow[] = [],
): Promise<OrderRow> {
  const now = deps.clock.now()
  const save = orderSave(order, update, { cause, now }, vouchersBefore)
  if (!save) return order
  await saveOrders(deps.db, [save])
  const { vouchers: _, ...fields } = save.update
  const moved = fields.state !== order.state
  return {
    ...order,
    ...fields,
    state_since: moved ? now : order.state_since,
    revision: order.revision + (moved ? 1 : 0),
    updated_at: now,
  }
}

/** Moves a created order to `pay_unknown` if it was sent for payment: that seemed not to have arrived, but has. */
export const reopenPayment = async (deps: Deps, order: OrderRow, cause: Cause): Promise<OrderRow> =>
  order.state === 'created' && (await wasSentForPayment(deps.db, order.order_id))
    ? changeOrder(deps, order, { state: 'pay_unknown', vouchers_open: true }, cause)
    : order

export async function contradict(
  { db, clock }: Deps,
  order: OrderRow,
  contradiction: Detail | null,
  cause: Cause,
): Promise<OrderRow> {
  if (isDeepStrictEqual(contradiction, order.contradiction)) return order
  await saveContradiction(db, order, contradiction, { cause, now: clock.now() })
  return { ...order, contradiction }
}

/** Prepares a change of an order; undefined if nothing differs. */
export function orderSave(
  order: ChangeableOrder,
  update: Partial<OrderUpdate>,
  { cause, now }: { cause: Cause; now: Date },
  vouchersBefore: readonly VoucherRow[] = [],
): OrderSave | undefined {
  const after: OrderUpdate = { ...unchanged(order), ...update }
  if (!isOrderTransition(order.state, after.state))
    throw illegalOrderTransition(order.order_id, order.state, after.state)
  const { vouchers, vouchers_open, ...visible } = after
  const before = new Map(vouchers.length > 0 ? vouchersBefore.map((voucher) => [voucher.voucher, voucher]) : [])
  const changes = [
    ...changeOf('order', String(order.order_id), order, visible),
    ...vouchers.flatMap((voucher) => voucherChange(voucher, before.get(voucher.voucher) ?? null)),
  ]
  if (changes.length === 0 && vouchers_open === order.vouchers_open) return undefined
  return { order, update: after, changes, cause, now }
}

const unchanged = (order: ChangeableOrder): OrderUpdate => ({
  state: order.state,
  used_quantity: order.used_quantity,
  refunded_quantity: order.refunded_quantity,
  partner_order_id: order.partner_order_id,
  last_code: order.last_code,
  last_describe: order.last_describe,
  vouchers_open: order.vouchers_open,
  close_type: order.close_type,
  vouchers: [],
})

/** Counts are recorded only for a known code for several tickets: otherwise they follow from state and quantity. */
function voucherChange(
  { voucher, used_quantity, refunded_quantity, ...fields }: VoucherRow,
  was: VoucherRow | null,
): readonly Change[] {
  const counts = fields.quantity > 1 && was !== null ? { used_quantity, refunded_quantity } : {}
  return changeOf('voucher', voucher, was, { ...fields, ...counts })
}

/** The cause that the history records for changes before a call: a job by its id, or else OPERATOR. */
export const changedBy = ({ kind, ref }: CallCause): Cause =>
  kind === 'schedule' ? { kind: 'job', id: ref } : OPERATOR
