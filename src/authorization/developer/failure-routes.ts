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

/** The newest ones of an app that its developers see. */
const KEPT = 1_000
const ON_A_PAGE = 50

/** One request by its id, or a page of the list; anything unusable counts as not given. */
const pageQuery = z
  .object({
    request_id: z.string().trim().max(64).catch(''),
    page: z.coerce
      .number()
      .int()
      .min(1)
      .max(KEPT / ON_A_PAGE)
      .catch(1),
  })
  .catch({ request_id: '', page: 1 })

type Refused = OutputOf<typeof refusedOfApp>[number]
type App = OutputOf<typeof showMicroApp>

/** What an app was refused: which check, what it sent beside what is registered, how to fix it. Nothing about people. */
export const failureRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { forDeveloper, forApp } = await developerPages(app, deps)

  // By the number on an error page: it leads to the app, if that is one of theirs.
  forDeveloper.get(`${HOME}/failures`, async (given) => {
    const { request_id } = pageQuery.parse(given.request.query)
    const found = isUuid(request_id) ? await findRefused(deps.db, request_id) : undefined
    const own = found?.app_key ? await findAppAccess(deps, given.person, found.app_key) : undefined
    if (own) return given.goTo(`${HOME}/apps/${own.app_key}/failures?request_id=${request_id}`)
    return given.page('home', 'developer/find-failure', { requestId: request_id })
  })

  forApp.developer.get(`${APP}/failures`, async ({ app: { app_key }, request, page, t }) => {
    const found = await showMicroApp(deps, app_key)
    const asked = pageQuery.parse(request.query)
    const all = await refusedOfApp(deps.db, app_key, KEPT)
    const isOne = asked.request_id !== ''
    const matching = isOne ? all.filter((one) => one.request_id === asked.request_id) : all
    const from = isOne ? 0 : (asked.page - 1) * ON_A_PAGE
    return page('home', 'developer/failures', {
      app: { app_key, name: found.name },
      requestId: asked.request_id,
      failures: matching.slice(from, from + ON_A_PAGE).map((one) => shown(one, found, t)),
      newer: !isOne && asked.page > 1 ? asked.page - 1 : null,
      older: matching.length > from + ON_A_PAGE ? asked.page + 1 : null,
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
