import type { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { InvalidInput } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { echo, RefusedRequest } from '../../platform/lib/web/rescode.ts'
import { findProduct } from '../catalogue/index.ts'
import { existingOrder } from './order-result.ts'
import type { OrderRow, VoucherRow } from './order-store.ts'
import { foreignVoucher } from './quantities.ts'
import { type NewRefundRow, type RefundRow, refundsOf } from './refund-store.ts'
import { REFUND_STATES, type RefundState } from './states.ts'
import { ticketsLeftOn } from './voucher-counts.ts'
import { type newRefund, ticketsPrice } from './wire.ts'

/** The requested refund: all remaining tickets, unless it names some. */
export type RefundInput = Pick<z.output<typeof newRefund>, 'quantity' | 'vouchers' | 'refund_price' | 'partly'> & {
  readonly refund_fee?: number
}

type RefundContent = Pick<NewRefundRow, 'refund_quantity' | 'vouchers' | 'refund_price' | 'refund_fee'>

/** Whether the partner may still refund these tickets. */
export const isOpenRefund = ({ state }: { readonly state: RefundState }): boolean =>
  REFUND_STATES[state].next.length > 0

function ticketsLeft(order: OrderRow, refunds: readonly RefundRow[]): number {
  const reserved = refunds.filter(isOpenRefund).reduce((sum, { refund_quantity }) => sum + refund_quantity, 0)
  return order.quantity - order.used_quantity - order.refunded_quantity - reserved
}

/** What exactly to refund; throws RefusedRequest if that cannot be. Tickets of other open refunds are reserved. */
export function refundContent(
  order: OrderRow,
  vouchers: readonly VoucherRow[],
  refunds: readonly RefundRow[],
  input: RefundInput,
): RefundContent {
  const open = refunds.filter(isOpenRefund)
  const left = ticketsLeft(order, refunds)
  const named = [...new Set(input.vouchers)]
  const known = new Map(vouchers.map((voucher) => [voucher.voucher, voucher]))
  const free = (voucher: VoucherRow) => freeTickets(voucher, open)
  const chosen = named.map((voucher) => refundable(order, known.get(voucher), free, voucher))
  const ofVouchers = chosen.reduce((sum, voucher) => sum + free(voucher), 0)
  const quantity = input.quantity ?? (named.length > 0 ? ofVouchers : left)
  if (named.length > 0) checkFits(chosen, ofVouchers, quantity)
  if (quantity < 1 || quantity > left) {
    const wanted = Math.max(quantity, 1)
    throw new RefusedRequest(localized('left-to-refund', { order: order.order_id, left, quantity: wanted }))
  }
  return {
    refund_quantity: quantity,
    vouchers: named.length > 0 ? named : unusedVouchers(vouchers, free, { quantity, left }),
    ...refundMoney(order, quantity, input),
  }
}

/** More than the tickets cost, and than their share of what was paid, is a mistake, such as fen for yuan. */
function refundMoney(
  { unit_price, total_price, quantity: all }: OrderRow,
  quantity: number,
  { refund_price = ticketsPrice(unit_price, quantity, 'refund_price'), refund_fee = 0 }: RefundInput,
): Pick<RefundContent, 'refund_price' | 'refund_fee'> {
  const most = Math.round(Math.max(unit_price, total_price / all) * 100 * quantity) / 100
  const money = { refund_price, refund_fee }
  const tooMuch = Object.entries(money).filter(([, yuan]) => yuan > most)
  if (tooMuch.length === 0) return money
  throw new InvalidInput(tooMuch.map(([field]) => ({ field, problem: localized('must-be-at-most', { most }) })))
}

/** Tickets of a code that no open refund claims. A refund of several codes claims all that is left of each. */
function freeTickets(voucher: VoucherRow, open: readonly RefundRow[]): number {
  const taken = open.filter(({ vouchers }) => vouchers.includes(voucher.voucher))
  return taken.reduce((left, { refund_quantity }) => Math.max(0, left - refund_quantity), ticketsLeftOn(voucher))
}

/**
 * Picks the codes of this many tickets, since partners refund the codes that they are sent: codes for one ticket each,
 * the one that all tickets share, or all that are left. None if that does not identify the tickets, for example if the
 * partner reported how many were used but not which: then the partner chooses.
 */
function unusedVouchers(
  vouchers: readonly VoucherRow[],
  free: (voucher: VoucherRow) => number,
  { quantity, left }: { readonly quantity: number; readonly left: number },
): string[] {
  const unused = vouchers.filter((voucher) => voucher.state === 'unused' && free(voucher) > 0)
  const names = unused.map(({ voucher }) => voucher)
  const tickets = unused.reduce((sum, voucher) => sum + free(voucher), 0)
  if (unused.every((voucher) => voucher.quantity === 1)) {
    return tickets <= left && tickets >= quantity ? names.slice(0, quantity) : []
  }
  if (vouchers.length === 1) return tickets >= quantity ? names : []
  return tickets === left && (unused.length === 1 || quantity === left) ? names : []
}

/** Only a single voucher can be refunded in part: of several, nobody would know how many tickets of which. */
function checkFits(chosen: readonly VoucherRow[], ofVouchers: number, quantity: number): void {
  if (quantity === ofVouchers || (chosen.length === 1 && quantity < ofVouchers)) return
  throw new RefusedRequest(localized('vouchers-for', { tickets: ofVouchers, quantity }))
}

/** The voucher; throws RefusedRequest if it cannot be refunded. */
function refundable(
  order: OrderRow,
  found: VoucherRow | undefined,
  free: (voucher: VoucherRow) => number,
  voucher: string,
): VoucherRow {
  if (!found) throw foreignVoucher(order.order_id, voucher)
  if (found.state !== 'unused') {
    throw new RefusedRequest(localized('voucher-is', { voucher: echo(voucher), state: found.state }))
  }
  if (free(found) === 0) throw new RefusedRequest(localized('voucher-in-refund', { voucher: echo(voucher) }))
  return found
}

export async function previewRefund(
  deps: Deps,
  orderId: bigint,
): Promise<{ tickets_left: number; partial_refunds: boolean }> {
  const order = await existingOrder(deps, orderId)
  const refunds = await refundsOf(deps.db, orderId)
  return { tickets_left: ticketsLeft(order, refunds), partial_refunds: await hasPartialRefunds(deps, order) }
}

/** Refuses, before anything is stored or sent, a partial refund that the product excludes. */
export async function checkPartialRefund(deps: Deps, order: OrderRow, refunded: number): Promise<void> {
  if (refunded === order.quantity || (await hasPartialRefunds(deps, order))) return
  throw new RefusedRequest(localized('not-partly', { product: echo(order.partner_deal_id) }))
}

/** Whether its product allows partial refunds, or is unknown. */
async function hasPartialRefunds(
  { db }: Deps,
  { partner_id: partnerId, partner_deal_id: partnerDealId }: Pick<OrderRow, 'partner_id' | 'partner_deal_id'>,
): Promise<boolean> {
  const product = await findProduct(db, { partnerId, partnerDealId })
  return product?.details.partlyRefund !== false
}
