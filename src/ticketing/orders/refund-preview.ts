import type { Deps } from '../../platform/deps.ts'
import { ticketsLeft } from './new-refund.ts'
import { existingOrder } from './order-result.ts'
import { hasPartialRefunds } from './partial-refund.ts'
import { refundsOf } from './refund-store.ts'

/** What a refund may take, before it is asked for. */
export async function previewRefund(
  deps: Deps,
  orderId: bigint,
): Promise<{ tickets_left: number; partial_refunds: boolean }> {
  const order = await existingOrder(deps, orderId)
  const refunds = await refundsOf(deps.db, orderId)
  return { tickets_left: ticketsLeft(order, refunds), partial_refunds: await hasPartialRefunds(deps, order) }
}
