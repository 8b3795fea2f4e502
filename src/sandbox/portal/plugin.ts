import type { FastifyPluginAsync } from 'fastify'
import { FORM_OWNER } from '../../platform/lib/web/form-owner.ts'
import { acceptForms, refuseForeignForms } from '../../platform/lib/web/forms.ts'
import { noSuchRoute } from '../../platform/lib/web/methods.ts'
import { refuseUnreadableQuery } from '../../platform/lib/web/request-target.ts'
import { limitPages } from '../../platform/throttle/index.ts'
import type { RunDeps } from '../certification/index.ts'
import { sandboxApi } from './api/routes.ts'
import { docsRoutes } from './docs/routes.ts'
import { exportRoutes } from './exports/routes.ts'
import { ownersOnly, partnerOf, sendSandboxError, signedInOnly } from './guard.ts'
import { linkRoutes } from './members/link-routes.ts'
import { memberRoutes } from './members/member-routes.ts'
import { secretRoutes } from './members/secret-routes.ts'
import { functionsRoutes } from './pages/functions-routes.ts'
import { overviewRoutes } from './pages/overview-routes.ts'
import { runRoutes, shareRoutes, streamRoutes } from './pages/run-routes.ts'
import { playOrderRoutes, playRoutes } from './play/routes.ts'
import { reportRoutes } from './report-routes.ts'
import { signInRoutes } from './sign-in-routes.ts'
import { signatureToolRoutes } from './signature-tool-routes.ts'
import { starterRoutes } from './starter-routes.ts'
import { trafficRoutes } from './traffic/routes.ts'

const FORM_LIMIT = 64 * 1024

/**
 * The pages below /sandbox. Every action is a form; other request bodies are refused. Errors are pages with their
 * native HTTP status. The session cookie is SameSite=Lax and `refuseForeignForms` rejects forms from other origins, so
 * forms need no CSRF token; they only say whose page they were on (form-owner.ts).
 */
const sandboxPages: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  app.decorateRequest('partner', null)
  await acceptForms(app, FORM_LIMIT)
  app.addHook('onRequest', limitPages(app, deps.config))
  app.addHook('onRequest', refuseForeignForms(deps.config.PUBLIC_URL))
  app.addHook('preValidation', refuseUnreadableQuery)
  app.setErrorHandler((error, request, reply) => sendSandboxError(request, reply, error))
  app.setNotFoundHandler((request, reply) => sendSandboxError(request, reply, noSuchRoute(request)))
  await app.register(signInRoutes, { deps })
  await app.register(linkRoutes, { deps })
  await app.register(docsRoutes, { deps })
  await app.register(exportRoutes, { deps })
  await app.register(reportRoutes, { deps })
  await app.register(shareRoutes, { deps })
  await app.register(signedInPages, { deps })
}

/** Pages for signed-in partners: `partnerOf(request)` is the partner. */
const signedInPages: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  app.addHook('preValidation', signedInOnly(deps))
  app.addHook('preHandler', async (request) => {
    const { partnerId, memberId } = partnerOf(request)
    FORM_OWNER.bindFormsTo(deps.keys, request, `partner ${partnerId} ${memberId ?? ''}`)
  })
  await app.register(signatureToolRoutes, { deps })
  await app.register(starterRoutes, { deps })
  await app.register(overviewRoutes, { deps })
  await app.register(functionsRoutes, { deps })
  await app.register(runRoutes, { deps })
  await app.register(streamRoutes, { deps })
  await app.register(playRoutes, { deps })
  await app.register(playOrderRoutes, { deps })
  await app.register(trafficRoutes, { deps })
  await app.register(ownersPages, { deps })
}

const ownersPages: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  app.addHook('preValidation', ownersOnly)
  await app.register(memberRoutes, { deps })
  await app.register(secretRoutes, { deps })
}

/** The partner's sandbox: pages below /sandbox, the headless API of the test run below /sandbox/api. */
export const sandboxRoom: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  await app.register(sandboxPages, { deps, prefix: '/sandbox' })
  await app.register(sandboxApi, { deps, prefix: '/sandbox/api' })
}
