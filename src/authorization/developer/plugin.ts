import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { failureAnswerOf } from '../../platform/lib/web/envelope.ts'
import { sendErrorPage } from '../../platform/lib/web/page.ts'
import type { OutboundDeps } from '../../platform/outbound/index.ts'
import { limitPages } from '../../platform/throttle/index.ts'
import { appRoutes } from './app-routes.ts'
import { failureRoutes } from './failure-routes.ts'
import { helperRoutes } from './helper-routes.ts'
import { homeRoutes } from './home-routes.ts'
import { developerRoutes } from './routes.ts'
import { secretRoutes } from './secret-routes.ts'
import { teamRoutes } from './team-routes.ts'
import { usageRoutes } from './usage-routes.ts'
import { webhookRoutes } from './webhook-routes.ts'

/** Public documentation: how to connect, the reference of both dialects, OpenAPI. */
const documents: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  app.addHook('onRequest', limitPages(app, deps.config))
  app.setErrorHandler((error, request, reply) => sendErrorPage(request, reply, failureAnswerOf(error, request), true))
  await app.register(developerRoutes, { deps })
}

/** Documentation for developers of micro-apps, and pages for managing their apps. */
export const developerRoom: FastifyPluginAsync<{ deps: OutboundDeps }> = async (app, { deps }) => {
  await app.register(documents, { deps })
  if (deps.config.DEVELOPERS === 'off') return
  const ofApps = [appRoutes, secretRoutes, failureRoutes, webhookRoutes, usageRoutes]
  for (const pages of [homeRoutes, teamRoutes, helperRoutes, ...ofApps]) await app.register(pages, { deps })
}
