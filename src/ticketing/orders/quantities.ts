import { problemText } from '../../platform/lib/json/shape.ts'
import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { echo, RefusedRequest } from '../../platform/lib/web/rescode.ts'
import type { ChangeableOrder, OrderUpdate, VoucherRow } from './order-store.ts'
import { ISSUED_STATES, laterVoucherState, type OrderState, stateByQuantities, VOUCHER_STATES } from './states.ts'
import { type ClaimedTickets, countedByState, soleCode, type TicketTotals, withClaims } from './voucher-counts.ts'

/** A voucher as a partner reports it; `status` is 0 unused, 1 used, 2 refunded, 3 void. */
export interface ReportedVoucher {
  readonly voucher: string
  readonly quantity: number
  readonly status: 0 | 1 | 2 | 3
  readonly picture?: string | undefined
  readonly invalidAt?: string | undefined
  /** Derived from the documents of `quantity` people, who need not be everyone that shares the code. */
  readonly ofPeople?: true
}

export const USED = 1
const REFUNDED = 2

/** Whether the partner reports the code as unused or used. */
export const isValidCode = ({ status }: ReportedVoucher): boolean => status <= USED

export interface Quantities {
  readonly quantity: number
  readonly usedQuantity: number
  readonly refundedQuantity: number
}

const refuse = (path: string, problem: LocalizedText) => new RefusedRequest(problemText({ path, problem }))

/** Throws RefusedRequest for quantities that no order can have. */
export function checkQuantities({ quantity, usedQuantity, refundedQuantity }: Quantities): void {
  if (usedQuantity < 0) throw refuse('usedQuantity', localized('must-not-be-negative'))
  if (refundedQuantity < 0) throw refuse('refundedQuantity', localized('must-not-be-negative'))
  if (quantity < 1) throw refuse('quantity', localized('must-be-at-least', { least: 1 }))
  if (usedQuantity + refundedQuantity > quantity) throw new RefusedRequest(localized('too-many-together'))
}

/** Quantities are cumulative and reports come in any order, so the larger one holds (REFERENCE "Payloads"). */
export function withQuantities(
  order: ChangeableOrder,
  reported: Pick<Quantities, 'usedQuantity' | 'refundedQuantity'>,
): Pick<OrderUpdate, 'state' | 'used_quantity' | 'refunded_quantity'> {
  const used = Math.max(order.used_quantity, reported.usedQuantity)
  const refunded = Math.max(order.refunded_quantity, reported.refundedQuantity)
  if (used + refunded > order.quantity) {
    throw new RefusedRequest(
      localized('more-than-tickets', { order: order.order_id, quantity: order.quantity, used, refunded }),
    )
  }
  const state: OrderState = stateByQuantities(order.quantity, used, refunded) ?? order.state
  return { state, used_quantity: used, refunded_quantity: refunded }
}

/** Unknown vouchers are refused, unless codes may still be added: then at most one per ticket is accepted. */
export function withVouchers(
  order: ChangeableOrder,
  before: readonly VoucherRow[],
  reported: readonly ReportedVoucher[],
  totals: TicketTotals,
): Pick<OrderUpdate, 'vouchers' | 'vouchers_open'> {
  const known = new Set(before.map(({ voucher }) => voucher))
  const fresh = [...new Set(reported.map(({ voucher }) => voucher))].filter((voucher) => !known.has(voucher))
  const [foreign] = fresh
  if (foreign !== undefined) {
    if (!takesCodes(order, before)) throw foreignVoucher(order.order_id, foreign)
    const beyond = fresh[order.quantity - before.length]
    if (beyond !== undefined) {
      const { order_id, quantity } = order
      throw new RefusedRequest(localized('one-voucher-too-many', { voucher: echo(beyond), order: order_id, quantity }))
    }
  }
  // Late codes may come one by one.
  const vouchers_open = order.vouchers_open || fresh.length > 0
  return { vouchers: mergedVouchers(before, reported, totals), vouchers_open }
}

/** Whether an unknown code may belong to this order: codes may come later, or a notice about them first. */
export function takesCodes(order: ChangeableOrder, before: readonly VoucherRow[]): boolean {
  if (before.length >= order.quantity) return false
  return order.vouchers_open || (before.length === 0 && ISSUED_STATES.includes(order.state))
}

export const foreignVoucher = (orderId: bigint, voucher: string): RefusedRequest =>
  new RefusedRequest(localized('foreign-voucher', { voucher: echo(voucher), order: orderId }))

/** The vouchers that a report changes, each once though it may occur several times. `totals`: after the report. */
export function mergedVouchers(
  before: readonly VoucherRow[],
  reported: readonly ReportedVoucher[],
  totals: TicketTotals,
): VoucherRow[] {
  const known = new Map(before.map((voucher) => [voucher.voucher, voucher]))
  const reports = new Map<string, [ReportedVoucher, ...ReportedVoucher[]]>()
  for (const report of reported) {
    const entries = reports.get(report.voucher)
    if (entries) entries.push(report)
    else reports.set(report.voucher, [report])
  }
  // Every other code is for at least one ticket.
  const most = Math.max(1, totals.quantity + 1 - new Set([...known.keys(), ...reports.keys()]).size)
  const claims = new Map<string, ClaimedTickets>()
  for (const [voucher, entries] of reports) {
    const { row, claim } = merged(known.get(voucher), entries, most)
    known.set(voucher, row)
    claims.set(voucher, claim)
  }
  const sole = soleCode([...known.values()], totals)
  return sole ? [sole] : withClaims([...known.values()], claims, totals).filter(({ voucher }) => reports.has(voucher))
}

/** A voucher after the entries of a report about it, and the tickets that these claim. */
function merged(
  was: VoucherRow | undefined,
  entries: readonly [ReportedVoucher, ...ReportedVoucher[]],
  most: number,
): { readonly row: VoucherRow; readonly claim: ClaimedTickets } {
  const [first] = entries
  const quantity = was?.quantity ?? quantityOf(entries, most)
  const isOfSome = first.ofPeople && was !== undefined && first.quantity < was.quantity
  const latest = isOfSome ? 'unused' : entries.map(({ status }) => VOUCHER_STATES[status]).reduce(laterVoucherState)
  const voucher: VoucherRow = {
    voucher: first.voucher,
    ...(was ?? countedByState('unused')),
    quantity,
    picture: was?.picture ?? first.picture ?? null,
    invalid_at: was?.invalid_at ?? first.invalidAt ?? null,
  }
  const state = laterVoucherState(voucher.state, latest)
  const claimed = (status: ReportedVoucher['status']) =>
    isOfSome ? 0 : entries.reduce((sum, entry) => sum + (entry.status === status ? entry.quantity : 0), 0)
  const claim = { used: claimed(USED), refunded: claimed(REFUNDED) }
  if (quantity === 1) return { row: { ...voucher, ...countedByState(state) }, claim }
  return { row: latest === 'void' ? { ...voucher, state } : voucher, claim }
}

/** Tickets of a new code. Its entries are either about all of them, or about a part each. */
function quantityOf(entries: readonly ReportedVoucher[], most: number): number {
  const [first = 1, ...rest] = entries.map(({ quantity }) => Math.max(1, quantity))
  if (rest.length === 0 || (first > 1 && rest.every((quantity) => quantity === first))) return first
  return Math.min(
    most,
    rest.reduce((sum, quantity) => sum + quantity, first),
  )
}
