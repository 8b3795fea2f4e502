import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../deps.ts'
import { forOperatorsOnly } from '../lib/web/admin-auth.ts'
import { jobRoutes } from './routes.ts'

/** Routes with which operators manage durable jobs. They are run by src/jobs/worker.ts. */
export const jobsRoom: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  await app.register(
    async (admin) => {
      forOperatorsOnly(admin, deps.config)
      jobRoutes(admin, deps)
    },
    { prefix: '/admin/v1' },
  )
}
