import { echo, RefusedRequest } from '../lib/web/rescode.ts'
import type { ChangeableOrder, OrderUpdate, VoucherRow } from './order-store.ts'
import { ISSUED_STATES, laterVoucherState, type OrderState, stateByQuantities, VOUCHER_STATES } from './states.ts'

/** A voucher as a partner reports it; `status` is 0 unused, 1 used, 2 refunded, 3 void. */
export interface ReportedVoucher {
  readonly voucher: string
  readonly quantity: number
  readonly status: 0 | 1 | 2 | 3
  readonly picture?: string | undefined
  readonly invalidAt?: string | undefined
  /** Reported by the documents of this many people (`quantity`), which need not be everyone who shares it. */
  readonly ofPeople?: true
}

export interface Quantities {
  readonly quantity: number
  readonly usedQuantity: number
  readonly refundedQuantity: number
}

/** What can be refused without reading the order. */
export function checkQuantities({ quantity, usedQuantity, refundedQuantity }: Quantities): void {
  if (usedQuantity < 0) throw new RefusedRequest('usedQuantity must not be negative')
  if (refundedQuantity < 0) throw new RefusedRequest('refundedQuantity must not be negative')
  if (quantity < 1) throw new RefusedRequest('quantity must be at least 1')
  if (usedQuantity + refundedQuantity > quantity) {
    throw new RefusedRequest('usedQuantity and refundedQuantity together must not exceed quantity')
  }
}

/** Quantities are cumulative and reports come in any order, so of each the larger one holds (DECISIONS "Payloads"). */
export function withQuantities(
  order: ChangeableOrder,
  reported: Pick<Quantities, 'usedQuantity' | 'refundedQuantity'>,
): Pick<OrderUpdate, 'state' | 'used_quantity' | 'refunded_quantity'> {
  const used = Math.max(order.used_quantity, reported.usedQuantity)
  const refunded = Math.max(order.refunded_quantity, reported.refundedQuantity)
  if (used + refunded > order.quantity) {
    throw new RefusedRequest(
      `order ${order.order_id} has ${order.quantity} tickets; ${used} used and ${refunded} refunded are more than that`,
    )
  }
  const state: OrderState = stateByQuantities(order.quantity, used, refunded) ?? order.state
  return { state, used_quantity: used, refunded_quantity: refunded }
}

/**
 * The vouchers that the report adds or changes. An unknown voucher is refused, unless codes may still be added: then up
 * to one per ticket is accepted.
 */
export function withVouchers(
  order: ChangeableOrder,
  before: readonly VoucherRow[],
  reported: readonly ReportedVoucher[],
): Pick<OrderUpdate, 'vouchers' | 'vouchers_open'> {
  const known = new Set(before.map(({ voucher }) => voucher))
  const fresh = [...new Set(reported.map(({ voucher }) => voucher))].filter((voucher) => !known.has(voucher))
  const [foreign] = fresh
  if (foreign !== undefined) {
    if (!takesCodes(order, before)) throw foreignVoucher(order.order_id, foreign)
    const beyond = fresh[order.quantity - before.length]
    if (beyond !== undefined) {
      const why = `order ${order.order_id} has ${order.quantity} tickets`
      throw new RefusedRequest(`voucher ${echo(beyond)} is one too many: ${why}`)
    }
  }
  // Late codes may come one by one.
  const vouchers_open = order.vouchers_open || fresh.length > 0
  return { vouchers: mergedVouchers(before, reported), vouchers_open }
}

/**
 * Whether a code that the platform does not know may be this order's: a notice may come before the answer to order pay
 * has been read, and tickets without a code may get one later.
 */
export function takesCodes(order: ChangeableOrder, before: readonly VoucherRow[]): boolean {
  if (before.length >= order.quantity) return false
  return order.vouchers_open || (before.length === 0 && ISSUED_STATES.includes(order.state))
}

export const foreignVoucher = (orderId: bigint, voucher: string): RefusedRequest =>
  new RefusedRequest(`voucher ${echo(voucher)} is not of order ${orderId}`)

/** The reported vouchers, each once: a partner may send one code several times. */
export function mergedVouchers(before: readonly VoucherRow[], reported: readonly ReportedVoucher[]): VoucherRow[] {
  const known = new Map(before.map((voucher) => [voucher.voucher, voucher]))
  for (const report of reported) known.set(report.voucher, merged(known.get(report.voucher), report))
  return [...new Set(reported.map(({ voucher }) => voucher))].flatMap((voucher) => known.get(voucher) ?? [])
}

/** A voucher after one more report about it. */
function merged(was: VoucherRow | undefined, report: ReportedVoucher): VoucherRow {
  const isOfSome = report.ofPeople && was !== undefined && report.quantity < was.quantity
  const state = isOfSome ? was.state : VOUCHER_STATES[report.status]
  return {
    voucher: report.voucher,
    state: was ? laterVoucherState(was.state, state) : state,
    quantity: was?.quantity ?? report.quantity,
    picture: was?.picture ?? report.picture ?? null,
    invalid_at: was?.invalid_at ?? report.invalidAt ?? null,
  }
}
