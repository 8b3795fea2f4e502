import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../deps.ts'
import { forOperatorsOnly } from '../lib/admin-auth.ts'
import { readBodiesExactly } from '../lib/exact-body.ts'
import { productRoutes } from './product-routes.ts'
import { orderRoutes } from './routes.ts'

/** Products and orders, and the calls to partners: to the network it shows the operators' routes only. */
export const ticketingRoom: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  await app.register(
    async (admin) => {
      forOperatorsOnly(admin, deps.config)
      readBodiesExactly(admin)
      orderRoutes(admin, deps)
      productRoutes(admin, deps)
    },
    { prefix: '/admin/v1' },
  )
}
