import { type Answer, refuse } from '../answer.ts'
import { date, type Fields, text, whole } from '../fields.ts'
import { levelPricesChanged } from '../notices.ts'
import { stockLeft } from '../order/stock.ts'
import type { Notice } from '../outbox.ts'
import type { Shop } from '../shop.ts'
import { daysAfter } from '../time.ts'
import { offersOf } from './offers.ts'
import { type Product, pricesOnTheWire } from './product.ts'

export function productOf(shop: Shop, body: Fields): Product {
  const id = text(body, 'partnerDealId')
  return shop.products.get(id) ?? refuse(201, `no product ${id}`)
}

function rangeOf(body: Fields): [string, string] {
  const [first, last] = [date(body, 'startTime'), date(body, 'endTime')]
  return first <= last ? [first, last] : refuse(201, 'endTime is before startTime')
}

/** Price calendar: an entry per day. Days that are not on sale are left out, and so is everything of other products. */
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

/** Level price calendar v2: an entry per day, session and seat level; partnerPrimaryKey comes back in order create. */
export function queryLevelPrices(shop: Shop, body: Fields): Answer {
  const product = productOf(shop, body)
  const range = rangeOf(body)
  const { partnerDealId } = product
  if (whole(body, 'asyncType') === 1) {
    // A shop that has to ask another system first says 999, and sends the prices when it has them.
    sendLevelPrices(shop, product, range)
    return { code: 999, describe: 'the calendar will follow', partnerDealId }
  }
  return { partnerDealId, body: levelEntries(shop, product, range) }
}

/** A year of notices at most, however long a range is asked for. */
const MAX_NOTICES = 37
/** One notice for so many days that its entries are no more than it may have. */
const DAYS_A_NOTICE = 10

/** A notice for some days at a time; days on which everything is sold out are not told, since the platform refuses these. */
export function sendLevelPrices(shop: Shop, product: Product, [first, last]: readonly [string, string]): Notice[] {
  const notices: Notice[] = []
  for (let from = first; from <= last && notices.length < MAX_NOTICES; from = daysAfter(from, DAYS_A_NOTICE)) {
    const end = daysAfter(from, DAYS_A_NOTICE - 1)
    const range = [from, end < last ? end : last] as const
    const entries = levelEntries(shop, product, range)
    const isOnSale = entries.some(({ stock }) => stock !== 0)
    if (isOnSale) notices.push(levelPricesChanged(shop, product.partnerDealId, range, entries))
  }
  return notices
}

function levelEntries(shop: Shop, product: Product, range: readonly [string, string]) {
  if (product.calendar !== 'levels') return []
  return offersOf(product, ...range, shop.now()).map((offer) => ({
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
}
