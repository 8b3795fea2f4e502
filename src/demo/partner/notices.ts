import { LEVEL_PRICES, type Notice } from './outbox.ts'
import { answerOf } from './refund.ts'
import { credentialList, issuedTickets, type Order, quantitiesOf, type Refund, type Shop, voucherList } from './shop.ts'

/** The notices that a seller sends to the platform. */

const CHANGE = { 'off sale': 0, 'on sale': 1, information: 2, prices: 5 } as const

export type Change = keyof typeof CHANGE

/** A product is new or has changed; the platform then pulls it. */
export const productChanged = (shop: Shop, partnerDealId: string, change: Change): Notice =>
  shop.outbox.post('/mtp/api/deal/change/notice', { body: [{ partnerDealId, status: CHANGE[change] }] })

/** Whole days of a level calendar. The entries are those of the interface, 40 at most. */
export const levelPricesChanged = (
  shop: Shop,
  partnerDealId: string,
  [startTime, endTime]: readonly [first: string, last: string],
  entries: readonly object[],
): Notice => shop.outbox.post(LEVEL_PRICES, { partnerDealId, startTime, endTime, body: entries })

/** A visitor has entered. Quantities are totals of the order so far, not of this visit. */
export const ticketsUsed = (shop: Shop, order: Order): Notice =>
  shop.outbox.post('/mtp/api/order/consume/notice', {
    body: {
      orderId: order.orderId,
      partnerOrderId: order.partnerOrderId,
      quantity: order.quantity,
      ...quantitiesOf(order),
      voucherList: voucherList(order),
      credentialList: credentialList(order),
    },
  })

/** The decision on a refund that was answered with 602: code 200, or 606 and the reason. */
export const refundDecided = (shop: Shop, refund: Refund): Notice =>
  shop.outbox.post('/mtp/api/order/refund/notice', answerOf(refund))

const ISSUED = 1

/** The tickets of a payment answered with 598. A failure would have issueType 2, the ids, and the reason in describe. */
export const ticketsIssued = (shop: Shop, order: Order): Notice =>
  shop.outbox.post('/mtp/api/order/pay/notice', {
    code: 200,
    describe: 'success',
    issueType: ISSUED,
    body: issuedTickets(order),
  })
