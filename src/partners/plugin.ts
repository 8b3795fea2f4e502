import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../deps.ts'
import { type DepsFor, operatorRoutes } from '../lib/web/admin-auth.ts'
import { partnerRoutes } from './routes.ts'
import { noTestCall, type TestCallWith } from './secret.ts'

/** Where partners are kept: their URLs, contacts and secrets. */
export const partnersRoom: FastifyPluginAsync<{ deps: Deps; testCallWith?: TestCallWith }> = async (
  app,
  { deps, testCallWith = noTestCall },
) => {
  const routes = (admin: Parameters<typeof partnerRoutes>[0], depsFor: DepsFor<Deps>): void =>
    partnerRoutes(admin, depsFor, testCallWith)
  await app.register(operatorRoutes(routes), { deps })
}
