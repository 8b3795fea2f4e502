import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { type DepsFor, operatorRoutes } from '../lib/web/admin-auth.ts'
import { partnerRoutes } from './routes.ts'
import type { TestCallWith } from './secret.ts'

/** Where partners are kept: their URLs, contacts and secrets. */
export async function partnersRoom<Given extends Deps>(
  app: FastifyInstance,
  { deps, testCallWith }: { readonly deps: Given; readonly testCallWith: TestCallWith<Given> },
): Promise<void> {
  const routes = (admin: FastifyInstance, depsFor: DepsFor<Given>): void => partnerRoutes(admin, depsFor, testCallWith)
  await app.register(operatorRoutes(routes), { deps })
}
