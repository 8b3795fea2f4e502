import type { Db } from '../../platform/db/sql.ts'
import type { Cause } from '../../platform/history/index.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { echo, RefusedRequest } from '../../platform/lib/web/rescode.ts'
import { orderSave } from './change-order.ts'
import { illegalOrderTransition, noSuchOrder } from './errors.ts'
import { type ChangeableOrder, lockFreeOrders, lockOrder, type VoucherRow, vouchersOfAll } from './order-store.ts'
import { checkQuantities, type Quantities, type ReportedVoucher, withQuantities, withVouchers } from './quantities.ts'
import { codesByCount, lacksVoucherList, missingListChange } from './reported-codes.ts'

/**
 * Consumption reports of partners, in three steps within one transaction, so that reports about different orders can be
 * processed together: lock the orders, decide each report separately, write the results.
 */

/** Quantities are cumulative: used and refunded so far, out of the `quantity` tickets of the order. */
export interface ConsumptionReport extends Quantities {
  readonly orderId: bigint
  readonly partnerOrderId: string
  readonly vouchers?: readonly ReportedVoucher[] | undefined
}

/** The orders of a batch of reports with their vouchers, locked until the transaction ends. */
type LockedOrders = ReadonlyMap<bigint, { readonly order: ChangeableOrder; readonly vouchers: readonly VoucherRow[] }>

/**
 * Locks the orders of the reports; each report is about a different order. A single report waits for its order; of
 * several, those whose order is locked elsewhere are left out, so that one slow order does not delay the others.
 */
export async function lockReported(db: Db, reports: readonly ConsumptionReport[]): Promise<LockedOrders> {
  const ids = reports.map(({ orderId }) => orderId)
  const [first, ...others] = ids
  // Pipelined; the vouchers are still read under the lock.
  const [found, vouchers] = await Promise.all([
    first !== undefined && others.length === 0 ? lockOrder(db, first) : lockFreeOrders(db, ids),
    vouchersOfAll(db, ids),
  ])
  const locked = new Map([found ?? []].flat().map((order) => [order.order_id, { order, vouchers: [] as VoucherRow[] }]))
  for (const { order_id, ...voucher } of vouchers) locked.get(order_id)?.vouchers.push(voucher)
  return locked
}

/** Throws a RefusedRequest. `lacksCodes`: the report lacks the codes that its order requires. */
export function decideConsumption(
  orders: LockedOrders,
  partnerId: bigint,
  report: ConsumptionReport,
  at: { readonly cause: Cause; readonly now: Date },
) {
  checkQuantities(report)
  const { order, vouchers: before = [] } = orders.get(report.orderId) ?? {}
  const own = ownOrder(order, partnerId, report)
  if (report.quantity !== own.quantity) {
    const { order_id: order, quantity } = own
    throw new RefusedRequest(localized('other-quantity', { quantity: report.quantity, order, own: quantity }))
  }
  const quantities = withQuantities(own, report)
  // A failed payment can still become paid, but only a pay notice or an order query decides that.
  if (own.state === 'pay_failed' && quantities.state !== own.state)
    throw illegalOrderTransition(own.order_id, own.state, quantities.state)
  const lacking = lacksVoucherList(own, before, report.vouchers)
  const isOutdated = report.usedQuantity < own.used_quantity
  const codes = !lacking ? (report.vouchers ?? []) : isOutdated ? [] : codesByCount(before, own.quantity, quantities)
  const { vouchers, vouchers_open } = withVouchers(own, before, codes, { ...quantities, quantity: own.quantity })
  const partner_order_id = own.partner_order_id ?? report.partnerOrderId
  const update = { ...quantities, partner_order_id, vouchers, vouchers_open }
  const save = orderSave(own, update, at, before)
  if (!save || !lacking) return { save, lacksCodes: lacking }
  const changes = [...save.changes, missingListChange(own, before, codes)]
  return { save: { ...save, changes }, lacksCodes: true }
}

/**
 * Returns the order if both ids name it. The partnerOrderId must be the same text; an order that has none yet accepts
 * any. Another partner's order is reported as not found.
 */
export function ownOrder<Order extends Pick<ChangeableOrder, 'partner_id' | 'partner_order_id'>>(
  order: Order | undefined,
  partnerId: bigint,
  { orderId, partnerOrderId: given }: { readonly orderId: bigint; readonly partnerOrderId: string },
): Order {
  if (order?.partner_id !== partnerId) throw noSuchOrder(orderId)
  const { partner_order_id: own } = order
  if (own === null || own === given) return order
  throw new RefusedRequest(localized('other-partner-order', { given: echo(given), order: orderId, own: echo(own) }))
}
