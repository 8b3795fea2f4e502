import type { Deps } from '../deps.ts'
import { changeRefund } from './change-refund.ts'
import { checkPartnerOrderId, ownOrder } from './consumption.ts'
import { type ProductNews, type PullKind, saveNews } from './due-store.ts'
import { noSuchRefund, TicketingRefusal } from './errors.ts'
import { queuePulls } from './follow-up.ts'
import type { Cause } from './history.ts'
import { lockOrder } from './order-store.ts'
import type { SaleState } from './product-store.ts'
import { findRefund } from './refund-store.ts'
import { REFUND_STATES } from './states.ts'

export { applyConsumption, type ConsumptionReport } from './consumption.ts'
export { TicketingRefusal } from './errors.ts'
export type { Cause } from './history.ts'
export { applyLevelPrices } from './level-prices.ts'
export { applyPayResult } from './pay-result.ts'
export type { Entry } from './product-store.ts'
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
  readonly pull?: PullKind
}

const EFFECTS: Readonly<Record<ProductChange['status'], Effect>> = {
  0: { saleState: 'off_sale' },
  1: { saleState: 'on_sale', pull: 'product' },
  2: { pull: 'product' },
  5: { pull: 'prices' },
}

/** Creates or marks the products and notes what is to be pulled from the partner, all or nothing. */
export async function applyProductChange(
  deps: Deps,
  partnerId: bigint,
  changes: readonly ProductChange[],
  cause: Cause,
): Promise<void> {
  const news = newsOf(changes)
  await deps.db.tx(async (db) => {
    await saveNews(db, partnerId, news, { cause, now: deps.clock.now() })
    if (news.some(({ pulls }) => pulls.length > 0)) await queuePulls(db, partnerId)
  })
}

/** Each product once; of what is said about its sale the last counts. */
function newsOf(changes: readonly ProductChange[]): ProductNews[] {
  const news = new Map<string, { saleState: SaleState | null; pulls: Set<PullKind> }>()
  for (const { partnerDealId, status } of changes) {
    const one = news.get(partnerDealId) ?? { saleState: null, pulls: new Set() }
    const { saleState = one.saleState, pull } = EFFECTS[status]
    one.saleState = saleState
    if (pull) one.pulls.add(pull)
    news.set(partnerDealId, one)
  }
  return [...news].map(([partnerDealId, { saleState, pulls }]) => ({ partnerDealId, saleState, pulls: [...pulls] }))
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
    checkPartnerOrderId(order, result.partnerOrderId)
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
