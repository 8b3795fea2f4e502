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

/** What an order of the run is made of, with an id that belongs to the run. */
export async function runOrderInput(
  context: StepContext,
  role: OrderRole,
  partnerDealId: string,
  { idBits, ...changes }: OrderOptions = {},
): Promise<OrderInput> {
  const input = await orderInput(context, partnerDealId, changes)
  return { ...input, order_id: await context.newOrder(role, idBits) }
}
