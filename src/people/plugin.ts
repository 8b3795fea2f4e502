import type { FastifyPluginAsync } from 'fastify'
import { withShareOf } from '../db/sql.ts'
import type { Deps } from '../deps.ts'
import { operatorRoutes } from '../lib/web/admin-auth.ts'
import { peopleRoutes } from './admin-routes.ts'
import { appsRoutes } from './apps-routes.ts'
import { dataRoutes } from './data-routes.ts'
import { profileRoutes } from './profile-routes.ts'
import { securityRoutes } from './security-routes.ts'

/** What concerns one person in all rooms: their own pages, all there is about them, its erasure. */
export const peopleRoom: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  await app.register(appsRoutes, { deps })
  await app.register(dataRoutes, { deps })
  await app.register(securityRoutes, { deps })
  await app.register(profileRoutes, { deps })
  await app.register(operatorRoutes(peopleRoutes), { deps: withShareOf(deps, 'operators') })
}
