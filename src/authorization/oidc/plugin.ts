import type { FastifyPluginAsync } from 'fastify'
import { noSuchRoute } from '../../platform/lib/web/methods.ts'
import type { OutboundDeps } from '../../platform/outbound/index.ts'
import { limitPages } from '../../platform/throttle/index.ts'
import type { TokenDeps } from '../oauth/index.ts'
import type { UpstreamDeps } from '../upstream/index.ts'
import { authorizeRoutes } from './authorize-routes.ts'
import { ClientKeys } from './client-keys.ts'
import { RegisteredOrigins } from './cors-guard.ts'
import { discoveryRoutes } from './discovery-routes.ts'
import { sendStandardErrorPage } from './error-routes.ts'
import { logoutRoutes } from './logout-routes.ts'
import { SigningKeys } from './signing-key-cache.ts'
import { standardTokenRoutes } from './token-routes.ts'

/** The standard dialect: OAuth 2.0 and OpenID Connect over the grants of area A. */
export const oidcRoom: FastifyPluginAsync<{ deps: OutboundDeps & TokenDeps & UpstreamDeps }> = async (
  app,
  { deps: given },
) => {
  const deps = { ...given, signingKeys: new SigningKeys(given) }
  const origins = new RegisteredOrigins(deps)
  await app.register(discoveryRoutes, { deps, origins })
  await app.register(
    async (room) => {
      room.setNotFoundHandler({ preHandler: limitPages(app, deps.config) }, (request, reply) =>
        sendStandardErrorPage(noSuchRoute(request), request, reply),
      )
      await room.register(authorizeRoutes, { deps })
      await room.register(standardTokenRoutes, {
        deps: { ...deps, clientKeys: new ClientKeys(deps) },
        origins,
      })
      await room.register(logoutRoutes, { deps })
    },
    { prefix: '/oauth2' },
  )
}
