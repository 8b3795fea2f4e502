import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../../deps.ts'
import { functionsRoutes } from './functions-routes.ts'
import { overviewRoutes } from './overview-routes.ts'
import { runRoutes } from './run-routes.ts'
import { streamRoutes } from './stream-routes.ts'

/** The pages of the test run, for partners that are signed in. */
export const runPages: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  await app.register(overviewRoutes, { deps })
  await app.register(functionsRoutes, { deps })
  await app.register(runRoutes, { deps })
  await app.register(streamRoutes, { deps })
}
