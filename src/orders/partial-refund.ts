import { findProduct } from '../catalogue/index.ts'
import type { Deps } from '../deps.ts'
import { localized } from '../lib/localized-text.ts'
import { echo, RefusedRequest } from '../lib/web/rescode.ts'
import type { OrderRow } from './order-store.ts'

/** Warns before a partner is asked for what its product excludes; nothing has been stored or sent yet. */
export async function refusePartOf(
  { db }: Deps,
  { partner_id: partnerId, partner_deal_id: partnerDealId, quantity }: OrderRow,
  refunded: number,
): Promise<void> {
  if (refunded === quantity) return
  const product = await findProduct(db, { partnerId, partnerDealId })
  if (product?.details.partlyRefund !== false) return
  throw new RefusedRequest(localized('not-partly', { product: echo(partnerDealId) }))
}
