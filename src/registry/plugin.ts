import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../deps.ts'
import { forOperatorsOnly } from '../lib/web/admin-auth.ts'
import { noSuchPath } from '../lib/web/rescode.ts'
import { partnerRoutes } from './partner-routes.ts'
import { noTestCall, type TestCallWith } from './partner-secret.ts'
import { microAppRoutes } from './routes.ts'

/** Where micro-apps and partners are kept: their hosts or URLs, scopes and secrets. */
export const registryRoom: FastifyPluginAsync<{ deps: Deps; testCallWith?: TestCallWith }> = async (
  app,
  { deps, testCallWith = noTestCall },
) => {
  await app.register(
    async (admin) => {
      forOperatorsOnly(admin, deps.config)
      admin.setNotFoundHandler(() => {
        throw noSuchPath()
      })
      const operated: Deps = { ...deps, actor: 'operator' }
      microAppRoutes(admin, operated)
      await admin.register(async (partners) => partnerRoutes(partners, operated, testCallWith(operated)))
    },
    { prefix: '/admin/v1' },
  )
}
