import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../deps.ts'
import { forOperatorsOnly, operatorDepsFor } from '../lib/web/admin-auth.ts'
import { noSuchRoute } from '../lib/web/methods.ts'
import { microAppRoutes } from './routes.ts'

/** Where micro-apps are kept: their hosts, redirect URIs, scopes and secrets. */
export const registryRoom: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  await app.register(
    async (admin) => {
      forOperatorsOnly(admin)
      // For the paths and methods that no room has below it.
      admin.setNotFoundHandler((request) => {
        throw noSuchRoute(request)
      })
      microAppRoutes(admin, operatorDepsFor(deps))
    },
    { prefix: '/admin/v1' },
  )
}
