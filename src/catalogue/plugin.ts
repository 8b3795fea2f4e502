import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../deps.ts'
import { forOperatorsOnly } from '../lib/web/admin-auth.ts'
import { readBodiesExactly } from '../lib/web/exact-body.ts'
import { productRoutes } from './product-routes.ts'

/** Products and price calendars as partners send them; the only routes are those for operators. */
export const catalogueRoom: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  await app.register(
    async (admin) => {
      forOperatorsOnly(admin, deps.config)
      readBodiesExactly(admin)
      productRoutes(admin, deps)
    },
    { prefix: '/admin/v1' },
  )
}
