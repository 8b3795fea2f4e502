import { type Answer, refuse } from '../answer.ts'
import { offersOf } from '../catalogue/offers.ts'
import { date, type Fields, text } from '../fields.ts'
import type { Shop } from '../shop.ts'
import { orderOf } from './issue.ts'
import { type Order, ticketsThatAre } from './order.ts'
import { isEnough } from './stock.ts'
import { credentialList } from './voucher.ts'

/** Reschedule: the whole order moves to another day and keeps its vouchers. Once for one rescheduleNo. */
export function rescheduleOrder(shop: Shop, body: Fields): Answer {
  const order = orderOf(shop, body, 300)
  const rescheduleNo = text(body, 'rescheduleNo')
  if (!order.rescheduled.has(rescheduleNo)) {
    move(shop, order, date(body, 'originDate'), date(body, 'targetDate'))
    order.rescheduled.add(rescheduleNo)
  }
  return {
    body: {
      orderId: order.orderId,
      rescheduleNo,
      successCount: order.quantity,
      credentialVouchers: credentialList(order),
    },
  }
}

function move(shop: Shop, order: Order, from: string, to: string): void {
  const { product, quantity } = order
  if (product.calendar !== 'days') refuse(300, 'only day tickets can be moved')
  if (ticketsThatAre(order, 'unused').length !== quantity) refuse(300, 'some tickets are used, refunded or not issued')
  if (order.offer.date !== from) refuse(300, `originDate is not the order's date, ${order.offer.date}`)
  const [target] = offersOf(product, to, to, shop.now())
  if (!target) refuse(300, `${to} is not on sale`)
  if (target.prices.settlement !== order.offer.prices.settlement) refuse(300, `${to} has another price`)
  if (!isEnough(shop, product, target, quantity)) refuse(300, `not enough tickets on ${to}`)
  order.offer = target
}
