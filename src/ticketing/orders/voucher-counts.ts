import type { OrderUpdate, VoucherRow } from './order-store.ts'
import { stateByQuantities, type VoucherState } from './states.ts'

/**
 * How many tickets of a code are used and refunded. Partners report that in two ways, which need not agree: by
 * quantities of the order, and by a status per code, which a program may set as soon as the first of several tickets is
 * used. The quantities decide (DECISIONS "Decided about calls to partners, products and orders").
 */

export type TicketTotals = Pick<OrderUpdate, 'used_quantity' | 'refunded_quantity'> & { readonly quantity: number }

export interface ClaimedTickets {
  readonly used: number
  readonly refunded: number
}

type Counted = Pick<VoucherRow, 'state' | 'used_quantity' | 'refunded_quantity'>

export const ticketsLeftOn = ({ quantity, used_quantity, refunded_quantity, state }: VoucherRow): number =>
  quantity === 1 ? Number(state === 'unused') : quantity - used_quantity - refunded_quantity

/** The counts of a code for one ticket follow from its state. */
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

/** The only code of an order, if it is for all of its tickets, with the counts of the order. */
export function soleCode(vouchers: readonly VoucherRow[], totals: TicketTotals): VoucherRow | undefined {
  const [only, ...others] = vouchers
  if (only === undefined || others.length > 0 || only.quantity === 1 || only.quantity !== totals.quantity)
    return undefined
  return counted(only, totals.used_quantity, totals.refunded_quantity)
}

/**
 * The codes after a report about some of them. For a code for several tickets only what is certain is counted: the
 * order's tickets that its other codes cannot account for, and no more than is claimed. Once no ticket of the order is
 * left, all that is claimed counts. Counts never fall.
 */
export function withClaims(
  vouchers: readonly VoucherRow[],
  claims: ReadonlyMap<string, ClaimedTickets>,
  totals: TicketTotals,
): VoucherRow[] {
  const most = vouchers.map((voucher) => atMost(voucher, claims.get(voucher.voucher)))
  const sum = {
    used: most.reduce((tickets, { used }) => tickets + used, 0),
    refunded: most.reduce((tickets, { refunded }) => tickets + refunded, 0),
  }
  const nothingLeft = totals.used_quantity + totals.refunded_quantity === totals.quantity
  return vouchers.map((voucher, index) => {
    const claimed = most[index]
    if (!claimed || !claims.has(voucher.voucher) || voucher.quantity === 1) return voucher
    if (nothingLeft) return counted(voucher, claimed.used, claimed.refunded)
    const { used_quantity, refunded_quantity } = voucher
    const certain = (was: number, ofOrder: number, field: keyof ClaimedTickets) =>
      Math.max(was, Math.min(claimed[field], ofOrder - (sum[field] - claimed[field])))
    return counted(
      voucher,
      certain(used_quantity, totals.used_quantity, 'used'),
      certain(refunded_quantity, totals.refunded_quantity, 'refunded'),
    )
  })
}

/** The most tickets of a code that can be used and refunded, given what is claimed and what was counted before. */
function atMost(voucher: VoucherRow, claim: ClaimedTickets = { used: 0, refunded: 0 }): ClaimedTickets {
  const { quantity, state } = voucher
  // The counts of a code for one ticket follow from its state.
  const { used_quantity: wasUsed, refunded_quantity: wasRefunded } = quantity === 1 ? countedByState(state) : voucher
  const used = Math.max(wasUsed, Math.min(claim.used, quantity - wasRefunded))
  return { used, refunded: Math.max(wasRefunded, Math.min(claim.refunded, quantity - used)) }
}
