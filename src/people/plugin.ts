import type { FastifyPluginAsync } from 'fastify'
import { withShareOf } from '../db/sql.ts'
import type { Deps } from '../deps.ts'
import { operatorRoutes } from '../lib/web/admin-auth.ts'
import { peopleRoutes } from './admin-routes.ts'
import { myDataRoutes } from './my-data-routes.ts'

/** What concerns one person in all rooms: what apps know of them, all there is about them, its erasure. */
export const peopleRoom: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  await app.register(myDataRoutes, { deps })
  await app.register(operatorRoutes(peopleRoutes), { deps: withShareOf(deps, 'operators') })
}
