import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import type { OutputOf } from '../../platform/lib/json/input.ts'
import { isUuid } from '../../platform/lib/uuid.ts'
import type { Translate } from '../../platform/lib/web/locale.ts'
import { findRefused, refusedOfApp } from '../refusals/index.ts'
import { showMicroApp } from '../registry/index.ts'
import { findAppAccess } from '../teams/index.ts'
import { reasonOf } from './failure-texts.ts'
import { APP, developerPages, HOME } from './guard.ts'

/** Only the newest failures are shown. */
const PAGE_SIZE = 50
const MAX_PAGES = 20

/** One request by id, or a page of the list; unusable values count as absent. */
const pageQuery = z
  .object({
    request_id: z.string().trim().max(64).catch(''),
    page: z.coerce.number().int().min(1).max(MAX_PAGES).catch(1),
    /** Only requests of which it is proved that the app sent them. */
    proved: z.stringbool().catch(false),
  })
  .catch({ request_id: '', page: 1, proved: false })

type Refused = OutputOf<typeof refusedOfApp>[number]
type App = OutputOf<typeof showMicroApp>

/** Refused requests of an app: the failed check, sent and registered values, how to fix it. Nothing about people. */
export const failureRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { forDeveloper, forApp } = await developerPages(app, deps)

  const findOne = (request_id: string) => (isUuid(request_id) ? findRefused(deps.db, request_id) : undefined)

  /** Whatever else the app was refused: strangers may name it in any number of requests. */
  async function oneOf(appKey: string, requestId: string): Promise<Refused[]> {
    const one = await findOne(requestId)
    return one?.app_key === appKey ? [one] : []
  }

  // Looks up the request id of an error page; redirects to the app if it is one of theirs.
  forDeveloper.get(`${HOME}/failures`, async (context) => {
    const { request_id } = pageQuery.parse(context.request.query)
    const found = await findOne(request_id)
    const own = found?.app_key ? await findAppAccess(deps.db, context.person, found.app_key) : undefined
    if (own) return context.goTo(`${HOME}/apps/${own.app_key}/failures?request_id=${request_id}`)
    return context.page('home', 'developer/find-failure', { requestId: request_id })
  })

  forApp.developer.get(`${APP}/failures`, async ({ app: { app_key }, request, page, t }) => {
    const found = await showMicroApp(deps, app_key)
    const query = pageQuery.parse(request.query)
    const { request_id, proved } = query
    const isOne = request_id !== ''
    const from = isOne ? 0 : (query.page - 1) * PAGE_SIZE
    const matching = isOne
      ? await oneOf(app_key, request_id)
      : await refusedOfApp(deps.db, app_key, { limit: from + PAGE_SIZE + 1, proved })
    return page('home', 'developer/failures', {
      app: { app_key, name: found.name },
      requestId: request_id,
      proved,
      failures: matching.slice(from, from + PAGE_SIZE).map((refused) => shown(refused, found, t)),
      newer: !isOne && query.page > 1 ? query.page - 1 : null,
      older: matching.length > from + PAGE_SIZE && query.page < MAX_PAGES ? query.page + 1 : null,
    })
  })
}

const shown = (refused: Refused, app: App, t: Translate) => ({
  ...reasonOf(refused, app, t),
  id: refused.request_id,
  at: refused.at.toISOString(),
  method: refused.method,
  parameters: refused.parameters,
  proved: refused.proved,
})
