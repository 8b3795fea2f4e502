import type { Shop } from '../shop.ts'
import { isClosed, type Order } from './order.ts'

/** What an order takes from the deposit, in cents: nothing before its tickets are issued, less after refunds. */
const costOf = (order: Order): number =>
  isClosed(order) ? 0 : order.tickets.filter(({ state }) => state !== 'refunded').length * order.offer.prices.settlement

/** What is left of the money paid in, in cents. */
export function deposit(shop: Shop): number {
  let left = shop.paidIn
  for (const order of shop.orders.values()) left -= costOf(order)
  return left
}
