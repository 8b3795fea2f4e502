import { type Answer, refuse } from '../answer.ts'
import { date, type Fields, text, whole } from '../fields.ts'
import { productChanged } from '../notices.ts'
import { stockLeft } from '../order/stock.ts'
import type { Shop } from '../shop.ts'
import { offersOf } from './offers.ts'
import { type Product, pricesOnTheWire } from './product.ts'

function productOf(shop: Shop, body: Fields): Product {
  const id = text(body, 'partnerDealId')
  return shop.products.get(id) ?? refuse(201, `no product ${id}`)
}

function rangeOf(body: Fields): [string, string] {
  const [first, last] = [date(body, 'startTime'), date(body, 'endTime')]
  return first <= last ? [first, last] : refuse(201, 'endTime is before startTime')
}

/** Price calendar: an entry a day. Days that are not on sale are left out, and so is everything of other products. */
export function queryPrices(shop: Shop, body: Fields): Answer {
  const product = productOf(shop, body)
  const range = rangeOf(body)
  if (product.calendar !== 'days') return { body: [] }
  const entries = offersOf(product, ...range, shop.now()).map((offer) => ({
    partnerDealId: product.partnerDealId,
    date: offer.date,
    ...pricesOnTheWire(offer.prices),
    stock: stockLeft(shop, product, offer),
  }))
  return { body: entries }
}

/** Level price calendar v2: an entry a day, session and seat level; partnerPrimaryKey comes back in order create. */
export function queryLevelPrices(shop: Shop, body: Fields): Answer {
  const product = productOf(shop, body)
  const range = rangeOf(body)
  const { partnerDealId } = product
  if (whole(body, 'asyncType') === 1) {
    // A shop that has to ask another system first says 999, and when it is ready that the calendar has changed.
    productChanged(shop, partnerDealId, 'prices')
    return { code: 999, describe: 'the calendar will follow', partnerDealId }
  }
  if (product.calendar !== 'levels') return { partnerDealId, body: [] }
  const entries = offersOf(product, ...range, shop.now()).map((offer) => ({
    partnerPrimaryKey: offer.key,
    skuInfo: {
      startTime: offer.seat?.startTime,
      endTime: offer.seat?.endTime,
      levelInfoList: [{ levelNo: offer.seat?.levelNo, levelName: offer.seat?.levelName }],
    },
    priceDate: offer.date,
    ...pricesOnTheWire(offer.prices),
    stock: stockLeft(shop, product, offer),
  }))
  return { partnerDealId, body: entries }
}
