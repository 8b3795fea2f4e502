import type { Offer } from '../catalogue/offers.ts'
import type { Product } from '../catalogue/product.ts'
import type { Shop } from '../shop.ts'
import { isClosed, type Order, ticketsThatAre } from './order.ts'

const UNLIMITED = -1

/**
 * What is left of an offer; -1 is unlimited. Counted from the orders, so that it cannot drift away from them: an order
 * holds its tickets from create until it is closed, and a refund gives them back.
 */
export function stockLeft(shop: Shop, product: Product, offer: Offer): number {
  if (product.stock === UNLIMITED) return UNLIMITED
  let left = product.stock
  for (const order of shop.orders.values()) {
    const sameOffer = order.product.partnerDealId === product.partnerDealId && order.offer.key === offer.key
    if (sameOffer && !isClosed(order)) left -= order.quantity - ticketsThatAre(order, 'refunded').length
  }
  return Math.max(0, left)
}

export function isEnough(shop: Shop, product: Product, offer: Offer, quantity: number): boolean {
  const left = stockLeft(shop, product, offer)
  return left === UNLIMITED || left >= quantity
}

/** What an order takes from the deposit, in cents: nothing before its tickets are issued, less after refunds. */
const costOf = (order: Order): number =>
  isClosed(order) ? 0 : order.tickets.filter(({ state }) => state !== 'refunded').length * order.offer.prices.settlement

/** What is left of the money paid in, in cents. */
export function deposit(shop: Shop): number {
  let left = shop.paidIn
  for (const order of shop.orders.values()) left -= costOf(order)
  return left
}
