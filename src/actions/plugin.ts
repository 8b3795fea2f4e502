import type { FastifyPluginAsync } from 'fastify'
import type { ServiceDeps } from '../jobs/index.ts'
import { operatorRoutes } from '../lib/web/admin-auth.ts'
import { AREA_A_HEADERS, JSON_TYPE } from '../lib/web/envelope.ts'
import { perLocale, translator } from '../lib/web/locale.ts'
import { noSuchRoute } from '../lib/web/methods.ts'
import { localeOfRequest } from '../lib/web/page.ts'
import { ALL_ACTIONS } from './all.ts'
import { operatorsOpenApi } from './openapi.ts'
import { actionRoutes } from './routes.ts'

/** Every operation of operators that a room declares as a row, below /admin/v1, and their description. */
export const actionsRoom: FastifyPluginAsync<{ deps: ServiceDeps }> = async (room, { deps }) => {
  const { PUBLIC_URL } = deps.config
  const document = perLocale((locale) => JSON.stringify(operatorsOpenApi(PUBLIC_URL, translator(locale)), null, 2))
  const routes = operatorRoutes<ServiceDeps>((app, depsFor) => {
    // For the paths and methods that no room has below /admin/v1.
    app.setNotFoundHandler((request) => {
      throw noSuchRoute(request)
    })
    app.get('/openapi.json', (request, reply) =>
      reply
        .headers({ ...AREA_A_HEADERS, 'Content-Type': JSON_TYPE, Vary: 'Accept-Language, Cookie' })
        .send(document(localeOfRequest(request))),
    )
    actionRoutes(app, depsFor, ALL_ACTIONS)
  })
  await room.register(routes, { deps })
}
