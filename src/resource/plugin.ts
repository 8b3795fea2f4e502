import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../deps.ts'
import { resourceRoutes } from './routes.ts'

/** A4–A6. Unknown paths and wrong methods here are answered by the oauth room, which owns /oauth/v2/. */
export const resourceRoom: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  await app.register(resourceRoutes, {
    deps,
    prefix: '/oauth/v2/api/resource',
  })
}
