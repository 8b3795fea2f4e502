import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../deps.ts'
import { accountRoutes } from './account-routes.ts'

/** What concerns one person in all rooms: what apps know of them. */
export const peopleRoom: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  await app.register(accountRoutes, { deps })
}
