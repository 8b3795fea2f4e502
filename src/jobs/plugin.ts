import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../deps.ts'
import { forOperatorsOnly } from '../lib/web/admin-auth.ts'
import { jobRoutes } from './routes.ts'

/** Where operators look after durable jobs. What runs them is src/jobs/worker.ts. */
export const jobsRoom: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  await app.register(
    async (admin) => {
      forOperatorsOnly(admin, deps.config)
      jobRoutes(admin, deps)
    },
    { prefix: '/admin/v1' },
  )
}
