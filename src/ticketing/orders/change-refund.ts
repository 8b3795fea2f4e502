import { type Deps, inTransaction } from '../../platform/deps.ts'
import { type Cause, difference } from '../../platform/history/index.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { echo, RefusedRequest } from '../../platform/lib/web/rescode.ts'
import { changeOrder, contradict } from './change-order.ts'
import { ownOrder } from './consumption.ts'
import { illegalRefundTransition, noSuchRefund } from './errors.ts'
import { lockOrder, type OrderRow, type VoucherRow, vouchersOf } from './order-store.ts'
import { withQuantities } from './quantities.ts'
import {
  findRefund,
  type RefundRow,
  type RefundUpdate,
  refundedTickets,
  refundsOf,
  saveRefund,
} from './refund-store.ts'
import { isRefundTransition, REFUND_STATES, type RefundState } from './states.ts'
import { countedByState, soleCode, type TicketTotals, withClaims } from './voucher-counts.ts'

/** Moves a refund whose order is locked; a finished refund also changes tickets and vouchers of the order. */
export async function changeRefund(
  deps: Deps,
  order: OrderRow,
  refund: RefundRow,
  update: RefundUpdate,
  cause: Cause,
): Promise<RefundRow> {
  if (!isRefundTransition(refund.state, update.state))
    throw illegalRefundTransition(refund.refund_id, refund.state, update.state)
  const now = deps.clock.now()
  await saveRefund(deps.db, refund, update, difference(refund, update), { cause, now })
  const changed = { ...refund, ...update, updated_at: now }
  if (update.state === 'refunded') await moveRefundedTickets(deps, order, changed, cause)
  return changed
}

/**
 * Our refunds and the partner's cumulative count describe the same tickets, so the larger sum holds. The partner's
 * decision stands even if tickets were used meanwhile: those that are left become refunded, and operators see the
 * contradiction.
 */
async function moveRefundedTickets(deps: Deps, order: OrderRow, refund: RefundRow, cause: Cause): Promise<void> {
  const { order_id, quantity, used_quantity } = order
  const done = (await refundsOf(deps.db, order_id)).filter(({ state }) => state === 'refunded')
  const refunded = refundedTickets(done)
  const quantities = withQuantities(order, {
    usedQuantity: used_quantity,
    refundedQuantity: Math.min(refunded, quantity - used_quantity),
  })
  const before = await vouchersOf(deps.db, order_id)
  const used = before.find(({ voucher, state }) => state === 'used' && refund.vouchers.includes(voucher))
  const isTooMuch = used_quantity + refunded > quantity
  const contradiction = isTooMuch
    ? localized('more-than-tickets', { order: order_id, quantity, used: used_quantity, refunded })
    : used && localized('refunded-but-used', { refund: refund.refund_id, voucher: echo(used.voucher) })
  const kept = contradiction ? await contradict(deps, order, contradiction, cause) : order
  const totals = { ...quantities, quantity }
  const vouchers = refundedVouchers(before, ticketsByVoucher(refund, done), totals, isTooMuch)
  await changeOrder(deps, kept, { ...quantities, vouchers }, cause, before)
}

/** The codes that become refunded, in part or whole; once no ticket of the order is left, also the unused ones. */
function refundedVouchers(
  before: readonly VoucherRow[],
  named: ReadonlyMap<string, number>,
  totals: TicketTotals,
  isTooMuch: boolean,
): VoucherRow[] {
  const sole = soleCode(before, totals)
  if (sole) return [sole]
  const nothingLeft = totals.used_quantity + totals.refunded_quantity === totals.quantity
  const all = (voucher: VoucherRow) => (nothingLeft && voucher.state === 'unused' ? voucher.quantity : 0)
  const claims = new Map(
    before
      .filter(({ quantity }) => quantity > 1)
      .map((voucher) => ({ voucher, refunded: Math.max(all(voucher), named.get(voucher.voucher) ?? 0) }))
      .map(({ voucher, refunded }) => ({ voucher, refunded: Math.min(refunded, totals.refunded_quantity) }))
      .filter(({ refunded }) => refunded > 0)
      .map(({ voucher, refunded }) => [voucher.voucher, { used: 0, refunded }] as const),
  )
  const moved = singleTickets(before, named, totals, { nothingLeft, isTooMuch })
  return withClaims(moved, claims, totals).filter((voucher, index) => voucher !== before[index])
}

/**
 * Moves codes for one ticket: first those named, then, once no ticket is left, all others, if the counts say whether
 * these are used or refunded. A used code stays used, whatever the refund names. If the refund is of too much, no more
 * codes are refunded than tickets. Otherwise the count may just be behind: it already holds what a notice reported
 * about another refund, which will be decided later.
 */
function singleTickets(
  before: readonly VoucherRow[],
  named: ReadonlyMap<string, number>,
  totals: TicketTotals,
  { nothingLeft, isTooMuch }: { readonly nothingLeft: boolean; readonly isTooMuch: boolean },
): VoucherRow[] {
  const isOpen = ({ quantity, state }: VoucherRow) => quantity === 1 && state === 'unused'
  const sum = (vouchers: readonly VoucherRow[], field: 'used_quantity' | 'refunded_quantity') =>
    vouchers.reduce((tickets, voucher) => tickets + voucher[field], 0)
  let room = totals.refunded_quantity - sum(before, 'refunded_quantity')
  const moved = before.map((voucher) => {
    if (!isOpen(voucher) || !named.has(voucher.voucher) || (isTooMuch && room < 1)) return voucher
    room -= 1
    return { ...voucher, ...countedByState('refunded') }
  })
  if (!nothingLeft) return moved
  const allUsesKnown = sum(moved, 'used_quantity') >= totals.used_quantity
  if (!allUsesKnown && room > 0) return moved
  const rest = countedByState(allUsesKnown ? 'refunded' : 'used')
  return moved.map((voucher) => (isOpen(voucher) ? { ...voucher, ...rest } : voucher))
}

/** A voucher for several tickets stays valid when some of them are refunded. */
function ticketsByVoucher(refund: RefundRow, done: readonly RefundRow[]): ReadonlyMap<string, number> {
  const tickets = new Map(refund.vouchers.map((voucher) => [voucher, 0]))
  for (const { vouchers, refund_quantity } of done) {
    for (const voucher of new Set(vouchers)) {
      const sum = tickets.get(voucher)
      if (sum !== undefined) tickets.set(voucher, sum + refund_quantity)
    }
  }
  return tickets
}

/** The partner's decision on a refund under review: 200 refunded, 606 and 699 refused. */
export interface RefundResult {
  readonly refundId: string
  readonly orderId: bigint
  readonly partnerOrderId: string
  readonly code: 200 | 606 | 699
  readonly describe: string
}

const isDecided = ({ state }: RefundRow): boolean => REFUND_STATES[state].next.length === 0

const decidedOtherwise = ({ refund_id, state }: RefundRow, to: RefundState) =>
  localized('refund-decided', { refund: refund_id, state, to })

/** Applies the answer to order refund. If a notice decided otherwise meanwhile, operators see the contradiction. */
export async function settleRefund(
  deps: Deps,
  order: OrderRow,
  refundId: string,
  update: RefundUpdate,
  cause: Cause,
): Promise<void> {
  const refund = await findRefund(deps.db, order.partner_id, refundId)
  if (!refund || refund.state === update.state) return
  if (isRefundTransition(refund.state, update.state)) await changeRefund(deps, order, refund, update, cause)
  else if (isDecided(refund) && update.decision_code !== null && update.state !== 'reviewing')
    await contradict(deps, order, decidedOtherwise(refund, update.state), cause)
}

/** Ends a refund. The same decision again changes nothing; the opposite one is refused. */
export async function applyRefundResult(
  deps: Deps,
  partnerId: bigint,
  result: RefundResult,
  cause: Cause,
): Promise<void> {
  await inTransaction(deps, async (inside, db) => {
    const order = ownOrder(await lockOrder(db, result.orderId), partnerId, result)
    const refund = await findRefund(db, partnerId, result.refundId)
    if (!refund || refund.order_id !== order.order_id) throw noSuchRefund(result.refundId)
    const state = result.code === 200 ? 'refunded' : 'refused'
    if (refund.state === state) return
    if (isDecided(refund)) throw new RefusedRequest(decidedOtherwise(refund, state))
    const update = { state, decision_code: result.code, reason: echo(result.describe) } as const
    await changeRefund(inside, order, refund, update, cause)
  })
}
