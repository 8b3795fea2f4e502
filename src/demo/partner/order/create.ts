import { randomBytes } from 'node:crypto'
import { type Answer, refuse } from '../answer.ts'
import { type Offer, offersOf } from '../catalogue/offers.ts'
import type { Product } from '../catalogue/product.ts'
import { cents, date, type Fields, fieldsOf, has, int64, list, positive, text } from '../fields.ts'
import type { Shop } from '../shop.ts'
import type { Order } from './order.ts'
import { isEnough } from './stock.ts'

/** Order create: checks the request and holds the stock, once for one orderId. */
export function createOrder(shop: Shop, body: Fields): Answer {
  const orderId = int64(body, 'orderId')
  // The platform sends it again when a response was lost. It must get the same order: never a second one, never an
  // error.
  const known = shop.orders.get(orderId)
  if (known) return { body: { partnerOrderId: known.partnerOrderId } }
  if (shop.closedUnseen.has(orderId)) refuse(499, `order ${orderId} has been closed`)

  const product = productOf(shop, body)
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

function productOf(shop: Shop, body: Fields): Product {
  const id = text(body, 'partnerDealId')
  const product = shop.products.get(id)
  if (!product) refuse(421, `no product ${id}`)
  return product.onSale ? product : refuse(421, `product ${id} is not on sale`)
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

/** A customer may have looked at an old calendar. 410 makes the platform pull it again. */
function checkPrices({ prices }: Offer, body: Fields): void {
  if (cents(body, 'buyPrice') !== prices.settlement) refuse(410, 'buyPrice is not the settlementPrice of the calendar')
  if (cents(body, 'unitPrice') !== prices.mt) refuse(410, 'unitPrice is not the mtPrice of the calendar')
}
