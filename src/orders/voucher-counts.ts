import type { OrderUpdate, VoucherRow } from './order-store.ts'
import { laterVoucherState, stateByQuantities, type VoucherState } from './states.ts'

/**
 * How many tickets of a code are used and refunded. Partners tell it in two ways that need not agree: by quantities of
 * the order, and by a status for each code, which a program may set as soon as the first of several tickets is used. The
 * quantities count (DECISIONS "Decided about calls to partners, products and orders").
 */

/** Tickets of an order. */
export type TicketTotals = Pick<OrderUpdate, 'used_quantity' | 'refunded_quantity'> & { readonly quantity: number }

/** Tickets that a report calls used and refunded, of one code. */
export interface ClaimedTickets {
  readonly used: number
  readonly refunded: number
}

type Counted = Pick<VoucherRow, 'state' | 'used_quantity' | 'refunded_quantity'>

/** Tickets of a code that are neither used nor refunded. */
export const ticketsLeftOn = ({ quantity, used_quantity, refunded_quantity, state }: VoucherRow): number =>
  quantity === 1 ? Number(state === 'unused') : quantity - used_quantity - refunded_quantity

/** Of a code for one ticket the state says all. */
export const countedByState = (state: VoucherState): Counted => ({
  state,
  used_quantity: Number(state === 'used'),
  refunded_quantity: Number(state === 'refunded'),
})

function counted(voucher: VoucherRow, used: number, refunded: number): VoucherRow {
  const byCount = stateByQuantities(voucher.quantity, used, refunded)
  const left = byCount === undefined || byCount === 'paid'
  const state = left ? 'unused' : byCount === 'consumed' ? 'used' : 'refunded'
  return {
    ...voucher,
    state: voucher.state === 'void' ? 'void' : state,
    used_quantity: used,
    refunded_quantity: refunded,
  }
}

/** The one code of an order stands for all of its tickets. */
export function soleCode(vouchers: readonly VoucherRow[], totals: TicketTotals): VoucherRow | undefined {
  const [only, ...others] = vouchers
  if (only === undefined || others.length > 0 || only.quantity === 1 || only.quantity !== totals.quantity)
    return undefined
  return counted(only, totals.used_quantity, totals.refunded_quantity)
}

/** A code for several tickets after a claim: no more than the order has, beside its other codes. Counts never fall. */
export function withClaim(
  voucher: VoucherRow,
  claimed: ClaimedTickets,
  others: readonly VoucherRow[],
  totals: TicketTotals,
): VoucherRow {
  const room = (field: 'used_quantity' | 'refunded_quantity') =>
    others.reduce((left, one) => left - one[field], totals[field])
  const { quantity, used_quantity: wasUsed, refunded_quantity: wasRefunded } = voucher
  const used = Math.max(wasUsed, Math.min(claimed.used, quantity - wasRefunded, room('used_quantity')))
  const refunded = Math.max(wasRefunded, Math.min(claimed.refunded, quantity - used, room('refunded_quantity')))
  return counted(voucher, used, refunded)
}

/** A code of which so many tickets are refunded by us; a code for one ticket is refunded or not. */
export function refundedInPart(
  voucher: VoucherRow,
  tickets: number,
  others: readonly VoucherRow[],
  totals: TicketTotals,
): VoucherRow {
  if (voucher.quantity > 1) return withClaim(voucher, { used: 0, refunded: tickets }, others, totals)
  if (tickets < 1) return voucher
  return { ...voucher, ...countedByState(laterVoucherState(voucher.state, 'refunded')) }
}
