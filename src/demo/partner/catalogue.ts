import { levelPricesChanged } from './notices.ts'
import type { Notice } from './outbox.ts'
import { offersOf, type Product, pricesOnTheWire } from './product.ts'
import { deposit, productOf, type Shop, stockLeft } from './shop.ts'
import { type Answer, date, daysAfter, type Fields, fieldsOf, positive, refuse, text, texts, whole } from './wire.ts'

/** An open-date product has no calendar, so its entry has stock and prices. */
function entryOf({ entry, calendar, stock, prices }: Product): object {
  return calendar === 'open date' ? { ...entry, stock, ...pricesOnTheWire(prices) } : entry
}

/** Product pull. Products off sale are left out. */
export function queryProducts(shop: Shop, body: Fields): Answer {
  const onSale = [...shop.products.values()].filter((product) => product.onSale)
  if (body.method === 'page') return pageOf(onSale.map(entryOf), body)
  const wanted = texts(body, 'partnerDealIds')
  const found = onSale.filter((product) => wanted.includes(product.partnerDealId))
  return { totalSize: found.length, body: found.map(entryOf) }
}

/** Product status message: the state of each product on the platform's side. */
export function noteStatus(shop: Shop, body: unknown): Answer {
  for (const entry of Array.isArray(body) ? body : [body]) {
    const message = fieldsOf(entry, 'body')
    shop.platformStatus.set(text(message, 'partnerDealId'), whole(message, 'status'))
  }
  return {}
}

/** Balance query, in cents. This shop has one deposit for all products, and no credit account (-1). */
export function queryBalance(shop: Shop, body: Fields): Answer {
  const known = texts(body, 'partnerDealIds').filter((id) => shop.products.has(id))
  const balance = { prepaidAccountBalance: deposit(shop), creditAccountBalance: -1 }
  return { body: known.map((partnerDealId) => ({ partnerDealId, ...balance })) }
}

/** One page, counted from 1. totalSize is that of all pages, so that the platform knows when it has everything. */
function pageOf(all: readonly unknown[], body: Fields): Answer {
  const [page, size] = [positive(body, 'currentPage'), positive(body, 'pageSize')]
  return { totalSize: all.length, body: all.slice((page - 1) * size, page * size) }
}

/** The shop's places. Degrees × 10^6 as integers; locType 0 is GCJ-02, which Chinese maps use. */
const POIS = [
  {
    partnerPoiId: 'DEMO-LAKE',
    name: '西湖 West Lake',
    city: '杭州',
    address: '西湖区龙井路1号',
    phone: '0571-88880001',
    locType: 0,
    longitude: 120_148_872,
    latitude: 30_242_489,
  },
  {
    partnerPoiId: 'DEMO-TOWER-HILL',
    name: '雷峰塔 Leifeng Tower',
    city: '杭州',
    address: '西湖区南山路15号',
    phone: '0571-88880002',
    locType: 0,
    longitude: 120_148_990,
    latitude: 30_231_210,
  },
]

/** POI pull. */
export function queryPois(body: Fields): Answer {
  if (body.method === 'page') return pageOf(POIS, body)
  const wanted = texts(body, 'partnerPoiId')
  const found = POIS.filter((poi) => wanted.includes(poi.partnerPoiId))
  return { totalSize: found.length, body: found }
}

function rangeOf(body: Fields): [string, string] {
  const [first, last] = [date(body, 'startTime'), date(body, 'endTime')]
  return first <= last ? [first, last] : refuse(201, 'endTime is before startTime')
}

/** Price calendar: an entry per day on sale; empty for products without a day calendar. */
export function queryPrices(shop: Shop, body: Fields): Answer {
  const product = productOf(shop, body, 201)
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
  const product = productOf(shop, body, 201)
  const range = rangeOf(body)
  const { partnerDealId } = product
  if (whole(body, 'asyncType') === 1) {
    // For shops that must ask another system first: answer 999, and send the prices later.
    sendLevelPrices(shop, product, range)
    return { code: 999, describe: 'the calendar will follow', partnerDealId }
  }
  return { partnerDealId, body: levelEntries(shop, product, range) }
}

/** A year of notices, however long the requested range is. */
const MAX_NOTICES = 37
/** So that a notice has no more entries than it may have. */
const DAYS_A_NOTICE = 10

/** Sends a notice per few days, but none for days that are sold out entirely, which the platform would refuse. */
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
