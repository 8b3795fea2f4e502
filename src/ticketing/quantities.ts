import { echo } from '../lib/rescode.ts'
import { TicketingRefusal } from './errors.ts'
import type { ChangeableOrder, OrderUpdate, VoucherRow } from './order-store.ts'
import { laterVoucherState, type OrderState, stateByQuantities, VOUCHER_STATES } from './states.ts'

/** A voucher as a partner reports it; `status` is 0 unused, 1 used, 2 refunded, 3 void. */
export interface ReportedVoucher {
  readonly voucher: string
  readonly quantity: number
  readonly status: 0 | 1 | 2 | 3
  readonly picture?: string | undefined
  readonly invalidAt?: string | undefined
}

export interface Quantities {
  readonly quantity: number
  readonly usedQuantity: number
  readonly refundedQuantity: number
}

/** What can be refused without a look at the order. */
export function checkQuantities({ quantity, usedQuantity, refundedQuantity }: Quantities): void {
  if (usedQuantity < 0) throw new TicketingRefusal('usedQuantity must not be negative')
  if (refundedQuantity < 0) throw new TicketingRefusal('refundedQuantity must not be negative')
  if (quantity < 1) throw new TicketingRefusal('quantity must be at least 1')
  if (usedQuantity + refundedQuantity > quantity) {
    throw new TicketingRefusal('usedQuantity and refundedQuantity together must not exceed quantity')
  }
}

/** Quantities are cumulative and reports come in any order, so of each the larger one holds (decisions, section 3). */
export function withQuantities(
  order: ChangeableOrder,
  reported: Pick<Quantities, 'usedQuantity' | 'refundedQuantity'>,
): Pick<OrderUpdate, 'state' | 'used_quantity' | 'refunded_quantity'> {
  const used = Math.max(order.used_quantity, reported.usedQuantity)
  const refunded = Math.max(order.refunded_quantity, reported.refundedQuantity)
  if (used + refunded > order.quantity) {
    throw new TicketingRefusal(
      `order ${order.order_id} has ${order.quantity} tickets; ${used} used and ${refunded} refunded are more than that`,
    )
  }
  const state: OrderState = stateByQuantities(order.quantity, used, refunded) ?? order.state
  return { state, used_quantity: used, refunded_quantity: refunded }
}

/**
 * The vouchers that the report adds or changes. One that is not the order's is refused, except while the platform cannot
 * know which there are: a notice may come before the answer to order pay has been read.
 */
export function withVouchers(
  order: ChangeableOrder,
  before: readonly VoucherRow[],
  reported: readonly ReportedVoucher[],
): VoucherRow[] {
  const known = new Map(before.map((voucher) => [voucher.voucher, voucher]))
  for (const report of reported) {
    const was = known.get(report.voucher)
    if (!was && !order.vouchers_open) {
      throw new TicketingRefusal(`voucher ${echo(report.voucher)} is not of order ${order.order_id}`)
    }
    known.set(report.voucher, merged(was, report))
  }
  return [...known.values()].filter((voucher) => !before.includes(voucher))
}

/** A voucher after one more report about it. */
export function merged(was: VoucherRow | undefined, report: ReportedVoucher): VoucherRow {
  const state = VOUCHER_STATES[report.status]
  return {
    voucher: report.voucher,
    state: was ? laterVoucherState(was.state, state) : state,
    quantity: was?.quantity ?? report.quantity,
    picture: was?.picture ?? report.picture ?? null,
    invalid_at: was?.invalid_at ?? report.invalidAt ?? null,
  }
}
