import type { Deps } from '../deps.ts'
import { changeRefund } from './change-refund.ts'
import { ownOrder } from './consumption.ts'
import { noSuchRefund, TicketingRefusal } from './errors.ts'
import { type Pull, queuePull } from './follow-up.ts'
import type { Cause } from './history.ts'
import { lockOrder } from './order-store.ts'
import { markProduct, type SaleState } from './product-store.ts'
import { findRefund } from './refund-store.ts'
import { REFUND_STATES } from './states.ts'

export { applyConsumption, type ConsumptionReport } from './consumption.ts'
export { TicketingRefusal } from './errors.ts'
export type { Cause } from './history.ts'
export type { ReportedVoucher } from './quantities.ts'

/**
 * What partners report in their notices. Each of these runs inside the caller's transaction when `deps.db` is one,
 * refuses by throwing a TicketingRefusal, and has no second effect when it is told the same again.
 */

/** 0 taken off sale, 1 put on sale, 2 information changed, 5 price calendar changed. */
export interface ProductChange {
  readonly partnerDealId: string
  readonly status: 0 | 1 | 2 | 5
}

interface Effect {
  /** Undefined: nothing is said about the sale. */
  readonly saleState?: SaleState
  readonly pull?: Pull
}

const EFFECTS: Readonly<Record<ProductChange['status'], Effect>> = {
  0: { saleState: 'off_sale' },
  1: { saleState: 'on_sale', pull: 'pull-product' },
  2: { pull: 'pull-product' },
  5: { pull: 'pull-prices' },
}

const byText = (one: string, other: string): number => (one < other ? -1 : Number(one > other))

/** Creates or marks the products and queues what is to be pulled from the partner, all or nothing. */
export async function applyProductChange(
  deps: Deps,
  partnerId: bigint,
  changes: readonly ProductChange[],
  cause: Cause,
): Promise<void> {
  // Rows and jobs are locked in one order everywhere, so notices about the same products cannot block each other.
  const sorted = [...changes].sort((one, other) => byText(one.partnerDealId, other.partnerDealId))
  const at = { cause, now: deps.clock.now() }
  await deps.db.tx(async (db) => {
    for (const { partnerDealId, status } of sorted) {
      await markProduct(db, { partnerId, partnerDealId, saleState: EFFECTS[status].saleState ?? null }, at)
    }
    for (const task of ['pull-prices', 'pull-product'] as const) {
      const pulled = sorted.filter(({ status }) => EFFECTS[status].pull === task)
      const dealIds = new Set(pulled.map(({ partnerDealId }) => partnerDealId))
      for (const partnerDealId of dealIds) await queuePull(db, task, partnerId, partnerDealId)
    }
  })
}

/** The partner's decision on a refund that it had under review: 200 refunded, 606 and 699 refused. */
export interface RefundResult {
  readonly refundId: string
  readonly orderId: bigint
  readonly partnerOrderId: string
  readonly code: 200 | 606 | 699
  readonly describe: string
}

/** Ends a refund; the same decision again changes nothing, the opposite one is refused. */
export async function applyRefundResult(
  deps: Deps,
  partnerId: bigint,
  result: RefundResult,
  cause: Cause,
): Promise<void> {
  await deps.db.tx(async (db) => {
    const order = ownOrder(await lockOrder(db, result.orderId), partnerId, result.orderId)
    const refund = await findRefund(db, partnerId, result.refundId)
    if (!refund || refund.order_id !== order.order_id) throw noSuchRefund(result.refundId)
    const state = result.code === 200 ? 'refunded' : 'refused'
    if (refund.state === state) return
    if (REFUND_STATES[refund.state].next.length === 0) {
      throw new TicketingRefusal(`refund ${refund.refund_id} is ${refund.state} already; it cannot become ${state}`)
    }
    const update = { state, decision_code: result.code, reason: result.describe } as const
    await changeRefund({ ...deps, db }, order, refund, update, cause)
  })
}
