import { findOffer } from '../../catalogue/index.ts'
import { said } from '../../lib/said.ts'
import type { NewOrder } from '../../orders/index.ts'
import { type OrderChanges, orderInput } from '../order-input.ts'
import type { OrderRole } from '../run-order-store.ts'
import type { StepContext } from '../step-context.ts'

/** In what an order of a step differs from the usual one. */
export interface OrderOptions extends OrderChanges {
  /** Bits of the order's id; ORDER_ID_BITS if left out. */
  readonly idBits?: number
}

/** A new order that platform and partner can make. */
export type OrderInput = NewOrder & { readonly order_id: bigint }

/** What an order of the run is made of, with an id that belongs to the run. Fails the step when no price is known. */
export async function runOrderInput(
  context: StepContext,
  role: OrderRole,
  partnerDealId: string,
  { idBits, ...changes }: OrderOptions = {},
): Promise<OrderInput> {
  const input = await orderInput(context, partnerDealId, changes)
  await requireOffer(context, input)
  return { ...input, order_id: await context.newOrder(role, idBits) }
}

/** The product and its price, pulled or chosen: without them there is nothing to order. */
async function requireOffer({ deps, require }: StepContext, input: NewOrder): Promise<void> {
  const { partner_id: partnerId, partner_deal_id: product, travel_date: date = null, partner_primary_key } = input
  const key = { partnerId, partnerDealId: product, date, primaryKey: partner_primary_key ?? '' }
  const offer = await findOffer(deps.db, key)
  const prices = [input.unit_price ?? offer?.unit_price, input.buy_price ?? offer?.buy_price]
  const isKnown = offer !== undefined && prices.every((price) => price !== undefined && price !== null)
  if (isKnown) return
  const expected = date === null ? said('price-of', { product }) : said('price-on', { product, day: date })
  await require('platform', false, { expected, actual: said('missing') })
}
