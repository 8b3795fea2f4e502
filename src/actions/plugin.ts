import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { type DepsFor, operatorRoutes } from '../lib/web/admin-auth.ts'
import { AREA_A_HEADERS, JSON_TYPE } from '../lib/web/envelope.ts'
import { translator } from '../lib/web/locale.ts'
import { noSuchRoute } from '../lib/web/methods.ts'
import { localeOfRequest } from '../lib/web/page.ts'
import { ALL_ACTIONS } from './all.ts'
import { operatorsOpenApi } from './openapi.ts'
import { actionRoutes } from './routes.ts'

/** Every operation of operators that a room declares as a row, below /admin/v1, and their description. */
export const actionsRoom = operatorRoutes((app: FastifyInstance, depsFor: DepsFor<Deps>) => {
  // For the paths and methods that no room has below /admin/v1.
  app.setNotFoundHandler((request) => {
    throw noSuchRoute(request)
  })
  app.get('/openapi.json', (request, reply) => {
    const document = operatorsOpenApi(depsFor(request).config.PUBLIC_URL, translator(localeOfRequest(request)))
    return reply
      .headers({ ...AREA_A_HEADERS, 'Content-Type': JSON_TYPE, Vary: 'Accept-Language, Cookie' })
      .send(JSON.stringify(document, null, 2))
  })
  actionRoutes(app, depsFor, ALL_ACTIONS)
})
