import type { FastifyPluginAsync } from 'fastify'
import { operatorRoutes } from '../../platform/lib/web/admin-auth.ts'
import { noSuchRoute } from '../../platform/lib/web/methods.ts'
import type { ServiceDeps } from '../jobs/index.ts'
import { ALL_ACTIONS } from './all.ts'
import { actionRoutes } from './routes.ts'

/** Every operation of operators that a room declares as a row, below /admin/v1. */
export const actionsRoom: FastifyPluginAsync<{ deps: ServiceDeps }> = async (room, { deps }) => {
  const routes = operatorRoutes<ServiceDeps>((app, depsFor) => {
    // For the paths and methods that no room has below /admin/v1.
    app.setNotFoundHandler((request) => {
      throw noSuchRoute(request)
    })
    actionRoutes(app, depsFor, ALL_ACTIONS)
  })
  await room.register(routes, { deps })
}
