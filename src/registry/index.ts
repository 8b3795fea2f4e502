import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../deps.ts'
import { forOperatorsOnly } from '../lib/admin-auth.ts'
import { noSuchPath } from '../lib/rescode.ts'
import { microAppRoutes } from './routes.ts'

/** Where micro-apps are kept: their hosts, scopes and secrets. */
export const registryRoom: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  await app.register(
    async (admin) => {
      forOperatorsOnly(admin, deps.config)
      admin.setNotFoundHandler(() => {
        throw noSuchPath()
      })
      microAppRoutes(admin, deps)
    },
    { prefix: '/admin/v1' },
  )
}
