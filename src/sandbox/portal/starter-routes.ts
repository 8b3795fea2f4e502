import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { NO_STORE_HEADERS } from '../../platform/lib/web/envelope.ts'
import { translator } from '../../platform/lib/web/locale.ts'
import { localeOfRequest } from '../../platform/lib/web/page.ts'
import { noSuchPath } from '../../platform/lib/web/rescode.ts'
import { partnerOf, sendSandboxPage } from './guard.ts'
import { PRODUCT_ROLES } from './pages/functions-form.ts'
import { productLabels } from './pages/functions-page.ts'
import { STARTER_PRODUCTS, STARTERS, starterFor } from './starters.ts'

const named = z.object({ file: z.string() })

/** Programs to start from, for partners that are signed in: the files hold their ids. */
export const starterRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  app.get('/starters', (request, reply) => {
    const labels = productLabels(translator(localeOfRequest(request)))
    const products = PRODUCT_ROLES.map((role) => ({ label: labels[role], id: STARTER_PRODUCTS[role] }))
    return sendSandboxPage(request, reply, 'sandbox/starters', { starters: STARTERS, products }, { section: 'docs' })
  })

  app.get('/starters/:file', async (request, reply) => {
    const { file } = named.parse(request.params)
    const source = starterFor(deps, partnerOf(request), file)
    if (source === undefined) throw noSuchPath()
    return reply
      .headers(NO_STORE_HEADERS)
      .header('Content-Disposition', `attachment; filename="${file}"`)
      .type('text/plain; charset=utf-8')
      .send(source)
  })
}
