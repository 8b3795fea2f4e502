import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../deps.ts'
import { memberRoutes } from './admin-routes.ts'

/** The people of a partner: the operator's routes. Their own pages are the sandbox's. */
export const membersRoom: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  await app.register(memberRoutes, { deps, prefix: '/admin/v1' })
}
