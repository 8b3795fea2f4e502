import type { FastifyPluginAsync } from 'fastify'
import type { Deps } from '../../deps.ts'
import { translator } from '../../lib/web/locale.ts'
import { localeOfRequest } from '../../lib/web/page.ts'
import { partnerOf, sendSandboxPage } from '../guard.ts'
import { historyPage } from './history-page.ts'
import { homePage } from './home-page.ts'

/** The sandbox's home, and the history of its runs. */
export const overviewRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  app.get('/', async (request, reply) => {
    const stages = await homePage(deps, partnerOf(request).partnerId, translator(localeOfRequest(request)))
    return sendSandboxPage(request, reply, 'sandbox/home', { stages })
  })

  app.get('/history', async (request, reply) => {
    const runs = await historyPage(deps, partnerOf(request).partnerId, translator(localeOfRequest(request)))
    return sendSandboxPage(request, reply, 'sandbox/history', { runs }, { section: 'history' })
  })
}
