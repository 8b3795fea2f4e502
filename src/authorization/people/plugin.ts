import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { appsRoutes, dataRoutes } from './data-routes.ts'
import { pictureRoutes, profileRoutes } from './profile-routes.ts'
import { securityRoutes } from './security-routes.ts'

/** One person across all rooms: their own pages, all data about them, its erasure. */
export const peopleRoom: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const pages = [appsRoutes, dataRoutes, securityRoutes, profileRoutes, pictureRoutes]
  for (const routes of pages) await app.register(routes, { deps })
}
