import { randomBytes } from 'node:crypto'
import { ticketsIssued } from './notices.ts'
import { type Offer, offersOf, type Product } from './product.ts'
import {
  credentialList,
  deposit,
  findOrder,
  isClosed,
  isEnough,
  issue,
  issuedTickets,
  type Order,
  orderOf,
  productOf,
  quantitiesOf,
  type Shop,
  ticketsThatAre,
  VOUCHER_TYPE,
  voucherList,
} from './shop.ts'
import {
  type Answer,
  cents,
  date,
  type Fields,
  fieldsOf,
  has,
  int64,
  list,
  positive,
  refuse,
  text,
  whole,
} from './wire.ts'

/** Order create: checks the request and holds the stock, once per orderId. */
export function createOrder(shop: Shop, body: Fields): Answer {
  const orderId = int64(body, 'orderId')
  // The platform repeats it if a response was lost. It must get the same order: never a second one, never an error.
  const known = shop.orders.get(orderId)
  if (known) return { body: { partnerOrderId: known.partnerOrderId } }
  if (shop.closedUnseen.has(orderId)) refuse(499, `order ${orderId} has been closed`)

  const product = productOf(shop, body, 421)
  if (!product.onSale) refuse(421, `product ${product.partnerDealId} is not on sale`)
  const quantity = positive(body, 'quantity')
  const visitors = list(body, 'visitors').map((visitor) => fieldsOf(visitor, 'visitors'))
  checkBookingRules(product, quantity, visitors)
  const offer = offerOf(shop, product, body)
  checkPrices(offer, body)
  if (!isEnough(shop, product, offer, quantity)) refuse(420, 'out of stock')

  const order: Order = {
    orderId,
    partnerOrderId: `DP${randomBytes(8).toString('hex')}`,
    product,
    offer,
    quantity,
    visitors,
    state: 'created',
    issuesAt: 0,
    tickets: [],
    rescheduled: new Set(),
  }
  shop.orders.set(orderId, order)
  return { body: { partnerOrderId: order.partnerOrderId } }
}

function checkBookingRules({ entry }: Product, quantity: number, visitors: readonly Fields[]): void {
  if (quantity < entry.minBuyCount) refuse(422, `at least ${entry.minBuyCount} tickets`)
  if (entry.maxBuyCount > 0 && quantity > entry.maxBuyCount) refuse(422, `at most ${entry.maxBuyCount} tickets`)
  if (entry.visitorInfoType === 2 && visitors.length < 1) refuse(422, 'one visitor is needed')
  if (entry.visitorInfoType === 3 && visitors.length !== quantity) refuse(422, 'each ticket needs its visitor')
}

function offerOf(shop: Shop, product: Product, body: Fields): Offer {
  if (product.calendar !== 'open date' && !has(body, 'travelDate')) refuse(422, 'travelDate is needed')
  const day = has(body, 'travelDate') ? date(body, 'travelDate') : ''
  const offers = offersOf(product, day, day, shop.now())
  const key = product.calendar === 'levels' ? text(body, 'partnerPrimaryKey') : offers[0]?.key
  return offers.find((offer) => offer.key === key) ?? refuse(410, 'not in the calendar; pull it again')
}

/** The customer may have seen an old calendar. 410 makes the platform pull it again. */
function checkPrices({ prices }: Offer, body: Fields): void {
  if (cents(body, 'buyPrice') !== prices.settlement) refuse(410, 'buyPrice is not the settlementPrice of the calendar')
  if (cents(body, 'unitPrice') !== prices.mt) refuse(410, 'unitPrice is not the mtPrice of the calendar')
}

const ISSUING_TAKES_MS = 3_000

/** Order pay: the customer has paid the platform, so issue the tickets. A repeated call returns the same tickets. */
export function payOrder(shop: Shop, body: Fields): Answer {
  const order = orderOf(shop, body, 599)
  if (isClosed(order)) refuse(599, 'the order is closed')
  if (order.state === 'created') begin(shop, order)
  // Not a failure: the platform waits, and queries the order.
  if (order.state === 'paying') return { code: 598, describe: 'issuing' }
  return { body: issuedTickets(order) }
}

function begin(shop: Shop, order: Order): void {
  if (deposit(shop) < order.quantity * order.offer.prices.settlement) refuse(501, 'the deposit is used up')
  if (order.product.issues === 'at once') {
    issue(order)
    return
  }
  order.state = 'paying'
  if (order.product.issues === 'later') {
    order.issuesAt = shop.now().getTime() + ISSUING_TAKES_MS
    return
  }
  order.issuesAt = Number.POSITIVE_INFINITY
  setTimeout(() => issueByNotice(shop, order), ISSUING_TAKES_MS).unref()
}

/** Until the platform has the notice, the order still counts as being paid. */
async function issueByNotice(shop: Shop, order: Order): Promise<void> {
  if (order.state !== 'paying') return
  issue(order)
  order.state = 'paying'
  await ticketsIssued(shop, order).firstAttempt
  if (order.state === 'paying') order.state = 'issued'
}

/** There is no status for used or refunded: the quantities say that. */
const ORDER_STATUS = { created: 2, 'create failed': 3, issued: 4, paying: 5, 'pay failed': 6 } as const

/** After a time-out the platform queries before it repeats anything, so the response must be correct. */
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

/** Reschedule: moves the whole order to another day and keeps its vouchers, once per rescheduleNo. */
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

const CREATE_FAILED = 2

/** Order close: the platform is done with the order. Closing again succeeds, as the first response may be lost. */
export function closeOrder(shop: Shop, body: Fields): Answer {
  const orderId = int64(body, 'orderId')
  const closeType = whole(body, 'closeType')
  const order = findOrder(shop, orderId)
  if (!order) {
    // Its create may still be on the way: it must not open an order that the platform has given up.
    shop.closedUnseen.add(orderId)
    return {}
  }
  if (isClosed(order)) return {}
  if (ticketsThatAre(order, 'used').length > 0) refuse(300, 'tickets of this order have been used')
  order.state = closeType === CREATE_FAILED ? 'create failed' : 'pay failed'
  return {}
}
