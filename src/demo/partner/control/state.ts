import { pricesOnTheWire } from '../catalogue/product.ts'
import { deposit } from '../order/deposit.ts'
import { findOrder } from '../order/find.ts'
import type { Order, Refund } from '../order/order.ts'
import { quantitiesOf } from '../order/query.ts'
import { voucherCodes } from '../order/voucher.ts'
import type { Notice } from '../outbox.ts'
import type { Shop } from '../shop.ts'

export const describeNotice = ({ path, message, attempts, acknowledged, lastAnswer }: Notice): object => ({
  path,
  message,
  attempts,
  acknowledged,
  lastAnswer,
})

const describeOrder = (order: Order): object => ({
  orderId: order.orderId,
  partnerOrderId: order.partnerOrderId,
  partnerDealId: order.product.partnerDealId,
  travelDate: order.offer.date,
  state: order.state,
  quantity: order.quantity,
  ...quantitiesOf(order),
  vouchers: voucherCodes(order),
})

const describeRefund = ({ refundId, order, tickets, state, reason }: Refund): object => ({
  refundId,
  orderId: order.orderId,
  quantity: tickets.length,
  state,
  reason,
})

/** Everything that the shop knows, for people to read. */
export function describeShop(shop: Shop): object {
  const orders = [...shop.orders.keys()].flatMap((orderId) => findOrder(shop, orderId) ?? [])
  return {
    products: [...shop.products.values()].map(({ partnerDealId, entry, onSale, stock, calendar, prices }) => ({
      partnerDealId,
      title: entry.title,
      onSale,
      stock,
      calendar,
      ...pricesOnTheWire(prices),
      platformStatus: shop.platformStatus.get(partnerDealId),
    })),
    orders: orders.map(describeOrder),
    refunds: [...shop.refunds.values()].map(describeRefund),
    notices: shop.outbox.notices.map(describeNotice),
    deposit: deposit(shop),
  }
}
