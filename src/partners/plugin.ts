import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../deps.ts'
import { type ActingFor, operatorRoutes } from '../lib/web/admin-auth.ts'
import { partnerRoutes } from './routes.ts'
import { noTestCall, type TestCallWith } from './secret.ts'

/** Where partners are kept: their URLs, contacts and secrets. */
export const partnersRoom: FastifyPluginAsync<{ deps: Deps; testCallWith?: TestCallWith }> = async (
  app,
  { deps, testCallWith = noTestCall },
) => {
  const routes = (admin: Parameters<typeof partnerRoutes>[0], as: ActingFor<Deps>): void =>
    partnerRoutes(admin, as, testCallWith)
  await app.register(operatorRoutes(routes), { deps })
}
