import type { FastifyPluginAsync } from 'fastify'
import { acceptForms, refuseForeignForms } from '../../platform/lib/web/forms.ts'
import { noSuchRoute } from '../../platform/lib/web/methods.ts'
import { refuseUnreadableQuery } from '../../platform/lib/web/request-target.ts'
import { noSuchPath } from '../../platform/lib/web/rescode.ts'
import { limitPages } from '../../platform/throttle/index.ts'
import type { ServiceDeps } from '../jobs/index.ts'
import type { GatherMetrics } from '../metrics/index.ts'
import { refuseForgedForms, sendConsoleError, signedInOnly } from './guard.ts'
import { consoleRoutes } from './routes.ts'
import { authenticatorRoutes, ownSignInRoutes, signInRoutes } from './sign-in-routes.ts'

interface Options {
  readonly deps: ServiceDeps
  readonly gather: GatherMetrics
}

const FORM_LIMIT = 64 * 1024

/**
 * The operators' pages below /console. Every change is a form, protected three times against CSRF: by the origin
 * (`refuseForeignForms`), by the cookie (SameSite=Lax) and by a mark of the operator. Other bodies are refused.
 */
export const consoleRoom: FastifyPluginAsync<Options> = async (app, { deps, gather }) => {
  await app.register(
    async (pages) => {
      pages.decorateRequest('consoleOperator', null)
      await acceptForms(pages, FORM_LIMIT)
      pages.addHook('onRequest', limitPages(pages, deps.config))
      pages.addHook('onRequest', async (request) => {
        if (!app.isForOperators(request)) throw noSuchPath()
        app.refuseForeignHost(request)
      })
      pages.addHook('onRequest', refuseForeignForms(deps.config.PUBLIC_URL))
      pages.addHook('preValidation', refuseUnreadableQuery)
      pages.setErrorHandler((error, request, reply) => sendConsoleError(request, reply, error))
      pages.setNotFoundHandler((request, reply) => sendConsoleError(request, reply, noSuchRoute(request)))
      await pages.register(signInRoutes, { deps })
      await pages.register(async (inside) => {
        inside.addHook('preValidation', signedInOnly(deps, { pending: true }))
        inside.addHook('preHandler', refuseForgedForms(deps))
        await inside.register(authenticatorRoutes, { deps })
      })
      await pages.register(async (inside) => {
        inside.addHook('preValidation', signedInOnly(deps, { pending: false }))
        inside.addHook('preHandler', refuseForgedForms(deps))
        await inside.register(ownSignInRoutes, { deps })
        await inside.register(consoleRoutes, { deps, gather })
      })
    },
    { prefix: '/console' },
  )
}
