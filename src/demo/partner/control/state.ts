import { type Product, pricesOnTheWire } from '../catalogue/product.ts'
import { findOrder } from '../order/issue.ts'
import { type Order, type Refund, ticketsThatAre } from '../order/order.ts'
import { quantitiesOf } from '../order/query.ts'
import { deposit } from '../order/stock.ts'
import { voucherCodes } from '../order/voucher.ts'
import type { Notice } from '../outbox.ts'
import type { Shop } from '../shop.ts'

export const describeNotice = ({ path, message, attempts, acknowledged, lastAnswer }: Notice) => ({
  path,
  message,
  attempts,
  acknowledged,
  lastAnswer,
})

const describeOrder = (order: Order) => ({
  orderId: order.orderId,
  partnerOrderId: order.partnerOrderId,
  partnerDealId: order.product.partnerDealId,
  travelDate: order.offer.date,
  state: order.state,
  quantity: order.quantity,
  unusedQuantity: ticketsThatAre(order, 'unused').length,
  ...quantitiesOf(order),
  vouchers: voucherCodes(order),
})

const describeRefund = ({ refundId, order, tickets, state, reason }: Refund) => ({
  refundId,
  orderId: order.orderId,
  quantity: tickets.length,
  state,
  reason,
})

export const describeProduct = ({ partnerDealId, entry, prices, ...behaviour }: Product) => ({
  partnerDealId,
  title: entry.title,
  ...behaviour,
  ...pricesOnTheWire(prices),
})

/** The state of the shop, for people to read. */
export function describeShop(shop: Shop) {
  const orders = [...shop.orders.keys()].flatMap((orderId) => findOrder(shop, orderId) ?? [])
  return {
    products: [...shop.products.values()].map((product) => ({
      ...describeProduct(product),
      platformStatus: shop.platformStatus.get(product.partnerDealId),
    })),
    orders: orders.map(describeOrder),
    refunds: [...shop.refunds.values()].map(describeRefund),
    notices: shop.outbox.notices.map(describeNotice),
    deposit: deposit(shop),
  }
}
