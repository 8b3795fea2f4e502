import type { Answer } from '../answer.ts'
import type { Fields } from '../fields.ts'
import type { Shop } from '../shop.ts'
import { orderOf } from './issue.ts'
import { type Order, ticketsThatAre, VOUCHER_TYPE } from './order.ts'
import { voucherList } from './voucher.ts'

/** There is no number for used or refunded: the quantities tell. */
const ORDER_STATUS = { created: 2, 'create failed': 3, issued: 4, paying: 5, 'pay failed': 6 } as const

/** The numbers of an order, cumulative: a notice that is late or lost does no harm, the next one says it all. */
export const quantitiesOf = (order: Order) => ({
  usedQuantity: ticketsThatAre(order, 'used').length,
  refundedQuantity: ticketsThatAre(order, 'refunded').length,
})

/**
 * Order query. After a time-out the platform asks this before it does anything again, so the response must be correct.
 */
export function queryOrder(shop: Shop, body: Fields): Answer {
  const order = orderOf(shop, body, 301)
  return {
    body: {
      orderId: order.orderId,
      partnerOrderId: order.partnerOrderId,
      orderStatus: ORDER_STATUS[order.state],
      orderQuantity: order.quantity,
      ...quantitiesOf(order),
      voucherType: VOUCHER_TYPE[order.product.vouchers],
      voucherList: voucherList(order),
    },
  }
}
