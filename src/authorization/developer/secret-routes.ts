import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { offeredOverlap } from '../../platform/lib/crypto/generated-secret.ts'
import { parseInput } from '../../platform/lib/json/input.ts'
import { doneQuery } from '../../platform/lib/web/done-query.ts'
import { STEP_UP } from '../account/index.ts'
import { liveGrantsOf } from '../oauth/index.ts'
import { hasSecret, showMicroApp } from '../registry/index.ts'
import { APP_SECRET } from '../teams/index.ts'
import { type AppRequest, developerGuard, HOME, sensitive, translatorOf } from './guard.ts'

const SECRET = `${HOME}/apps/:app_key/secret`

/** Anything unusable counts as the usual day, or as a page that was never seen. */
const rotateForm = z.object({
  overlap_s: offeredOverlap,
  replaces: z.string().max(40).catch('?'),
})

const pageQuery = doneQuery(['ended'])

/** The secret of an app, and the end of all its tokens: for owners who have just shown who they are, with a second factor. */
export const secretRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { forApp } = await developerGuard(app, deps)

  async function show(given: AppRequest, shown: { alert?: string; made?: string; lacksFactor?: boolean } = {}) {
    const { app_key } = given.app
    const found = await showMicroApp(deps, app_key)
    const { done } = pageQuery.parse(given.request.query)
    return given.page('home', 'developer/secret', {
      alert: '',
      made: '',
      lacksFactor: (await STEP_UP.secondFactor(deps, given.person)) === 'none',
      ...shown,
      done: done ? translatorOf(given)('developer.secret.ended') : null,
      app: { app_key, name: found.name, hasSecret: hasSecret(found) },
      newest: APP_SECRET.newest(found.secrets),
      secrets: found.secrets.map(({ created_at, ends_at, last_used_at }) => ({
        created: created_at.toISOString(),
        ends: ends_at?.toISOString() ?? null,
        used: last_used_at?.toISOString() ?? null,
      })),
      live: await liveGrantsOf(deps, { app_key }),
    })
  }

  const guarded = (given: AppRequest, work: () => Promise<FastifyReply>) =>
    sensitive(deps, given, {
      path: `${HOME}/apps/${given.app.app_key}/secret`,
      show: (alert) => show(given, { alert }),
      work,
    })

  app.get(
    SECRET,
    forApp('owner', (given) => show(given)),
  )

  app.post(
    SECRET,
    forApp('owner', (given) =>
      guarded(given, async () => {
        const form = parseInput(rotateForm, given.request.body ?? {})
        const made = await APP_SECRET.rotate(given.deps, given.app.app_key, form, given.person)
        return show(given, { made })
      }),
    ),
  )

  // Opened directly, as by a language link of the page that answers the form.
  app.get(
    `${HOME}/apps/:app_key/end-tokens`,
    forApp('owner', async (given) => given.goTo(`${HOME}/apps/${given.app.app_key}/secret`)),
  )

  app.post(
    `${HOME}/apps/:app_key/end-tokens`,
    forApp('owner', (given) =>
      guarded(given, async () => {
        await APP_SECRET.endTokens(given.deps, given.app.app_key, given.person)
        return given.goTo(`${HOME}/apps/${given.app.app_key}/secret?done=ended`)
      }),
    ),
  )
}
