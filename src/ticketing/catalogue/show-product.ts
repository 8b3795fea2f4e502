import { pageNamed } from '../../platform/db/page.ts'
import type { Deps } from '../../platform/deps.ts'
import { historyOfProduct } from '../../platform/history/index.ts'
import { operation } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { beijingDate } from '../../platform/lib/time-zone.ts'
import { echo, RefusedRequest } from '../../platform/lib/web/rescode.ts'
import type { OnePartner } from '../partners/index.ts'
import { pricesFrom } from './price-store.ts'
import { findProduct, type ProductSummary, listProducts as readProducts } from './product-store.ts'
import { oneProduct, type ProductFilter } from './wire.ts'

const HISTORY = 50

/** Throws for an unknown product. */
export const showProduct = operation(oneProduct, async (deps: Deps, { partner_id, partner_deal_id }) => {
  const key = { partnerId: partner_id, partnerDealId: partner_deal_id }
  const product = await findProduct(deps.db, key)
  if (!product) {
    throw new RefusedRequest(localized('no-product', { product: echo(partner_deal_id) }), { status: 404 })
  }
  return {
    product,
    prices: await pricesFrom(deps.db, key, beijingDate(deps.clock.now())),
    history: await historyOfProduct(deps.db, partner_id, partner_deal_id, HISTORY),
  }
})

export const productPage = (deps: Deps, filter: ProductFilter) => pageNamed('products', readProducts(deps.db, filter))

const MOST_TO_CHOOSE_FROM = 1_000

/** Products of a partner, for a form to choose from. */
export const listProducts = async (deps: Deps, { partner_id }: OnePartner): Promise<ProductSummary[]> =>
  (await productPage(deps, { partner_id, limit: MOST_TO_CHOOSE_FROM })).products
