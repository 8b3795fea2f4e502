import type { Answer } from '../answer.ts'
import { type Fields, fieldsOf, positive, text, texts, whole } from '../fields.ts'
import { deposit } from '../order/stock.ts'
import type { Shop } from '../shop.ts'
import { type Product, pricesOnTheWire } from './product.ts'

/** An open-date product has no calendar: its stock and prices are part of the entry. */
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

/** Product status message: how far each product has come on the platform's side. */
export function noteStatus(shop: Shop, body: unknown): Answer {
  for (const entry of Array.isArray(body) ? body : [body]) {
    const message = fieldsOf(entry, 'body')
    shop.platformStatus.set(text(message, 'partnerDealId'), whole(message, 'status'))
  }
  return {}
}

/** Balance query: cents; this shop has one deposit for all products, and no credit account (-1). */
export function queryBalance(shop: Shop, body: Fields): Answer {
  const known = texts(body, 'partnerDealIds').filter((id) => shop.products.has(id))
  const balance = { prepaidAccountBalance: deposit(shop), creditAccountBalance: -1 }
  return { body: known.map((partnerDealId) => ({ partnerDealId, ...balance })) }
}

/** One page; the first is page 1. totalSize counts all pages, so that the platform knows when it has everything. */
export function pageOf(all: readonly unknown[], body: Fields): Answer {
  const [page, size] = [positive(body, 'currentPage'), positive(body, 'pageSize')]
  return { totalSize: all.length, body: all.slice((page - 1) * size, page * size) }
}
