import type { FastifyPluginAsync } from 'fastify'
import { translator } from '../../../platform/lib/web/locale.ts'
import { localeOfRequest } from '../../../platform/lib/web/page.ts'
import type { RunDeps } from '../../certification/index.ts'
import { partnerOf, sendSandboxPage } from '../guard.ts'
import { functionsRoutes } from './functions-routes.ts'
import { historyPage } from './history-page.ts'
import { homePage } from './home-page.ts'
import { runRoutes } from './run-routes.ts'
import { streamRoutes } from './stream-routes.ts'

/** The pages of the test run, for partners that are signed in. */
export const runPages: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  await app.register(overviewRoutes, { deps })
  await app.register(functionsRoutes, { deps })
  await app.register(runRoutes, { deps })
  await app.register(streamRoutes, { deps })
}

/** The sandbox's home, and the history of its runs. */
const overviewRoutes: FastifyPluginAsync<{ deps: RunDeps }> = async (app, { deps }) => {
  app.get('/', async (request, reply) => {
    const page = await homePage(deps, partnerOf(request).partnerId, translator(localeOfRequest(request)))
    return sendSandboxPage(request, reply, 'sandbox/home', { page })
  })

  app.get('/history', async (request, reply) => {
    const runs = await historyPage(deps, partnerOf(request).partnerId, translator(localeOfRequest(request)))
    return sendSandboxPage(request, reply, 'sandbox/history', { runs }, { section: 'history' })
  })
}
