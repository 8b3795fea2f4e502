import type { Deps } from '../../platform/deps.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { echo, RefusedRequest } from '../../platform/lib/web/rescode.ts'
import { findProduct } from '../catalogue/index.ts'
import { ticketsLeft } from './new-refund.ts'
import { existingOrder } from './order-result.ts'
import type { OrderRow } from './order-store.ts'
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

/** Warns before a partner is asked for what its product excludes; nothing has been stored or sent yet. */
export async function refusePartOf(deps: Deps, order: OrderRow, refunded: number): Promise<void> {
  if (refunded === order.quantity || (await hasPartialRefunds(deps, order))) return
  throw new RefusedRequest(localized('not-partly', { product: echo(order.partner_deal_id) }))
}

/** Whether its product allows that, or is not known. */
async function hasPartialRefunds(
  { db }: Deps,
  { partner_id: partnerId, partner_deal_id: partnerDealId }: Pick<OrderRow, 'partner_id' | 'partner_deal_id'>,
): Promise<boolean> {
  const product = await findProduct(db, { partnerId, partnerDealId })
  return product?.details.partlyRefund !== false
}
