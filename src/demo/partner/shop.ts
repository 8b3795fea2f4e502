import { ASSORTMENT } from './catalogue/assortment.ts'
import type { Product } from './catalogue/product.ts'
import type { Order, Refund } from './order/order.ts'
import type { Outbox } from './outbox.ts'

/**
 * The state of the shop. Here it is kept in memory and each request is handled in one go, so nothing can come in
 * between. With a database, do in one transaction what one function here does, and lock the order first.
 */
export interface Shop {
  readonly now: () => Date
  readonly outbox: Outbox
  readonly products: Map<string, Product>
  /** By the platform's order id, which is what makes order create idempotent. */
  readonly orders: Map<bigint, Order>
  /** Orders that were closed before their create arrived. */
  readonly closedUnseen: Set<bigint>
  /** By the platform's refund id, which is what makes refunds idempotent. */
  readonly refunds: Map<string, Refund>
  /** The platform's view of our products. */
  readonly platformStatus: Map<string, number>
  /** Cents that we have paid in beforehand. */
  paidIn: number
}

export const openShop = (now: () => Date, outbox: Outbox): Shop => ({
  now,
  outbox,
  products: new Map(ASSORTMENT.map((product) => [product.partnerDealId, product])),
  orders: new Map(),
  closedUnseen: new Set(),
  refunds: new Map(),
  platformStatus: new Map(),
  paidIn: 100_000_000,
})
