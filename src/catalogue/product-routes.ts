import type { FastifyInstance } from 'fastify'
import { parseInput } from '../lib/json/input.ts'
import type { DepsFor } from '../lib/web/admin-auth.ts'
import { answerLossless } from '../lib/web/envelope.ts'
import { readBodiesExactly } from '../lib/web/exact-body.ts'
import type { CallDeps } from '../partner-calls/index.ts'
import { BY_API } from '../partner-calls/index.ts'
import { pullCatalogue } from './pull-catalogue.ts'
import { pullPrices } from './pull-prices.ts'
import { pullProduct } from './pull-product.ts'
import { listProducts, showProduct } from './show-product.ts'
import { onePartner, oneProduct, priceRange } from './wire.ts'

interface CatalogueRoute {
  Params: { partner_id: string }
}
interface ProductRoute {
  Params: { partner_id: string; partner_deal_id: string }
}

/** The operator's routes for products, below /admin/v1. */
export function productRoutes(app: FastifyInstance, depsFor: DepsFor<CallDeps>): void {
  readBodiesExactly(app)
  const catalogue = '/partners/:partner_id/products'
  const product = `${catalogue}/:partner_deal_id`

  app.get<CatalogueRoute>(catalogue, async (request, reply) =>
    answerLossless(request, reply, {
      products: await listProducts(depsFor(request), parseInput(onePartner, request.params)),
    }),
  )

  app.post<CatalogueRoute>(`${catalogue}/pull`, async (request, reply) =>
    answerLossless(
      request,
      reply,
      await pullCatalogue(depsFor(request), parseInput(onePartner, request.params), BY_API),
    ),
  )

  app.get<ProductRoute>(product, async (request, reply) =>
    answerLossless(request, reply, await showProduct(depsFor(request), parseInput(oneProduct, request.params))),
  )

  app.post<ProductRoute>(`${product}/pull`, async (request, reply) =>
    answerLossless(
      request,
      reply,
      await pullProduct(depsFor(request), parseInput(oneProduct, request.params), { cause: BY_API }),
    ),
  )

  app.post<ProductRoute>(`${product}/pull-prices`, async (request, reply) => {
    const range = parseInput(priceRange, { ...((request.body ?? {}) as object), ...request.params })
    return answerLossless(request, reply, await pullPrices(depsFor(request), range, { cause: BY_API }))
  })
}
