import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../deps.ts'
import { forOperatorsOnly } from '../lib/web/admin-auth.ts'
import { readBodiesExactly } from '../lib/web/exact-body.ts'
import { orderRoutes } from './routes.ts'

/** Orders, refunds and consumption; the only routes are those for operators. */
export const ordersRoom: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  await app.register(
    async (admin) => {
      forOperatorsOnly(admin, deps.config)
      readBodiesExactly(admin)
      orderRoutes(admin, deps)
    },
    { prefix: '/admin/v1' },
  )
}
