import { refuse } from '../answer.ts'
import type { Product } from '../catalogue/product.ts'
import { cents, type Fields, has, text, whole } from '../fields.ts'
import { type Change, productChanged } from '../notices.ts'
import type { Notice } from '../outbox.ts'
import type { Shop } from '../shop.ts'

const PRICES = { marketPrice: 'market', mtPrice: 'mt', settlementPrice: 'settlement' } as const

/** A manager edits a product. Each kind of change has its own notice, as the platform wants it. */
export function changeProduct(shop: Shop, input: Fields): Notice[] {
  const id = text(input, 'partnerDealId')
  let product = shop.products.get(id) ?? refuse(400, `no product ${id}`)
  const changes = new Set<Change>()
  if (has(input, 'title')) {
    product = { ...product, entry: { ...product.entry, title: text(input, 'title') } }
    changes.add('information')
  }
  if (typeof input.onSale === 'boolean') {
    product = { ...product, onSale: input.onSale }
    changes.add(input.onSale ? 'on sale' : 'off sale')
  }
  const priced = withPrices(product, input)
  if (priced !== product) {
    product = priced
    // An open-date product has no calendar: its prices and stock are part of its information.
    changes.add(product.calendar === 'open date' ? 'information' : 'prices')
  }
  shop.products.set(id, product)
  return [...changes].map((change) => productChanged(shop, id, change))
}

function withPrices(product: Product, input: Fields): Product {
  const named = Object.entries(PRICES).filter(([field]) => has(input, field))
  if (named.length === 0 && !has(input, 'stock')) return product
  const prices = Object.fromEntries(named.map(([field, name]) => [name, cents(input, field)]))
  return {
    ...product,
    prices: { ...product.prices, ...prices },
    stock: has(input, 'stock') ? whole(input, 'stock') : product.stock,
  }
}

/** A new product, announced by the notice "put on sale" with an id that the platform does not know yet. */
export function addProduct(shop: Shop, input: Fields): Notice[] {
  const [partnerDealId, title] = [text(input, 'partnerDealId'), text(input, 'title')]
  const [pattern] = shop.products.values()
  if (!pattern || shop.products.has(partnerDealId)) refuse(400, `product ${partnerDealId} already exists`)
  shop.products.set(partnerDealId, {
    ...pattern,
    partnerDealId,
    entry: { ...pattern.entry, partnerDealId, title },
    onSale: true,
  })
  return [productChanged(shop, partnerDealId, 'on sale')]
}
