import { echo, RefusedRequest } from '../lib/web/rescode.ts'
import type { OrderRow, VoucherRow } from './order-store.ts'
import type { NewRefundRow, RefundRow } from './refund-store.ts'
import { REFUND_STATES, type RefundState } from './states.ts'
import { ticketsLeftOn } from './voucher-counts.ts'

/** The requested refund; fields that are left out mean all remaining tickets. */
export interface RefundInput {
  readonly quantity?: number | undefined
  readonly vouchers: readonly string[]
  readonly refund_price?: number | undefined
  readonly refund_fee?: number | undefined
  /** Whatever the product says of partial refunds. */
  readonly partly: boolean
}

export type RefundContent = Pick<NewRefundRow, 'refund_quantity' | 'vouchers' | 'refund_price' | 'refund_fee'>

/** Whether a refund may still take its tickets. */
export const isOpenRefund = ({ state }: { readonly state: RefundState }): boolean =>
  REFUND_STATES[state].next.length > 0

/**
 * The refund's content, or a refusal if the order has no such tickets left: those in other open refunds are reserved.
 */
export function refundContent(
  order: OrderRow,
  vouchers: readonly VoucherRow[],
  refunds: readonly RefundRow[],
  input: RefundInput,
): RefundContent {
  const open = refunds.filter(isOpenRefund)
  const reserved = open.reduce((sum, { refund_quantity }) => sum + refund_quantity, 0)
  const left = order.quantity - order.used_quantity - order.refunded_quantity - reserved
  const named = [...new Set(input.vouchers)]
  const known = new Map(vouchers.map((voucher) => [voucher.voucher, voucher]))
  const inOthers = new Set(open.flatMap((refund) => refund.vouchers))
  const chosen = named.map((voucher) => refundable(order, known.get(voucher), inOthers, voucher))
  const ofVouchers = chosen.reduce((sum, voucher) => sum + ticketsLeftOn(voucher), 0)
  const quantity = input.quantity ?? (named.length > 0 ? ofVouchers : left)
  if (named.length > 0) checkFits(chosen, ofVouchers, quantity)
  if (quantity < 1 || quantity > left) {
    throw new RefusedRequest(`order ${order.order_id} has ${left} tickets left to refund, not ${Math.max(quantity, 1)}`)
  }
  return {
    refund_quantity: quantity,
    vouchers: named.length > 0 ? named : unusedVouchers(vouchers, inOthers, { quantity, left }),
    refund_price: input.refund_price ?? Math.round(order.unit_price * 100 * quantity) / 100,
    refund_fee: input.refund_fee ?? 0,
  }
}

/**
 * The codes of this many tickets, if none were named: partners refund the codes that they are sent. Codes for one
 * ticket each, the one that all share, or everything that is left. None if that does not identify the tickets, as when
 * a partner reports how many were used but not which: then the partner chooses.
 */
function unusedVouchers(
  vouchers: readonly VoucherRow[],
  inOthers: ReadonlySet<string>,
  { quantity, left }: { readonly quantity: number; readonly left: number },
): string[] {
  const free = vouchers.filter((one) => one.state === 'unused' && (one.quantity > 1 || !inOthers.has(one.voucher)))
  const singles = free.filter((one) => one.quantity === 1)
  if (singles.length > left) return []
  const names = free.map(({ voucher }) => voucher)
  if (singles.length === free.length) return free.length >= quantity ? names.slice(0, quantity) : []
  const isOneForAll = free.length === 1
  const tickets = free.reduce((sum, one) => sum + ticketsLeftOn(one), 0)
  return tickets === quantity || (isOneForAll && tickets > quantity) ? names : []
}

/** Only a voucher for several tickets may be refunded in part; a voucher for one is refunded or not. */
function checkFits(chosen: readonly VoucherRow[], ofVouchers: number, quantity: number): void {
  const divisible = chosen.some((voucher) => voucher.quantity > 1)
  if (quantity <= ofVouchers && (divisible || quantity === ofVouchers)) return
  throw new RefusedRequest(`the vouchers are for ${ofVouchers} tickets, not ${quantity}`)
}

/** The voucher, or a refusal when it cannot be refunded. */
function refundable(
  order: OrderRow,
  found: VoucherRow | undefined,
  inOthers: ReadonlySet<string>,
  voucher: string,
): VoucherRow {
  if (!found) throw new RefusedRequest(`voucher ${echo(voucher)} is not of order ${order.order_id}`)
  if (found.state !== 'unused') throw new RefusedRequest(`voucher ${echo(voucher)} is ${found.state}`)
  // One voucher for several tickets may be refunded in parts.
  if (found.quantity === 1 && inOthers.has(voucher)) {
    throw new RefusedRequest(`voucher ${echo(voucher)} is in another refund`)
  }
  return found
}
