import type { FastifyPluginAsync } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../platform/deps.ts'
import { offeredOverlap } from '../../platform/lib/crypto/generated-secret.ts'
import { parseInput } from '../../platform/lib/json/input.ts'
import { doneText } from '../../platform/lib/web/done-query.ts'
import { STEP_UP } from '../account/index.ts'
import { liveGrantsOf } from '../oauth/index.ts'
import { hasSecret, showMicroApp } from '../registry/index.ts'
import { APP_SECRET } from '../teams/index.ts'
import { APP, type AppRequest, developerPages } from './guard.ts'

const SECRET = `${APP}/secret`

/** Form for a new secret. Unusable values become the default overlap, and a `replaces` that matches no secret. */
export const rotateForm = z.object({ overlap_s: offeredOverlap, replaces: z.string().max(40).catch('?') })

const done = doneText({ ended: 'developer.secret.ended' })

/** The secret of an app, and revoking all its tokens: for owners, after a fresh sign-in with a second factor. */
export const secretRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { owner } = (await developerPages(app, deps)).forApp

  async function show(context: AppRequest, shown: { alert?: string; made?: string } = {}) {
    const { app_key } = context.app
    const microApp = await showMicroApp(deps, app_key)
    return context.page('home', 'developer/secret', {
      ...shown,
      asks: !(await STEP_UP.isFresh(deps, context.person)),
      lacksFactor: (await STEP_UP.secondFactor(deps, context.person)) === 'none',
      done: done(context.request),
      app: { app_key, name: microApp.name, hasSecret: hasSecret(microApp) },
      newest: APP_SECRET.newest(microApp.secrets),
      secrets: microApp.secrets.map(({ created_at, ends_at, last_used_at }) => ({
        created: created_at.toISOString(),
        ends: ends_at?.toISOString() ?? null,
        used: last_used_at?.toISOString() ?? null,
      })),
      live: await liveGrantsOf(deps, { app_key }),
    })
  }

  owner.get(SECRET, (context) => show(context))

  const form = {
    page: SECRET,
    show: (context: AppRequest, alert: string) => show(context, { alert }),
    sensitive: true,
  } as const

  owner.form(SECRET, form, async (context) => {
    const rotation = parseInput(rotateForm, context.request.body ?? {})
    return show(context, { made: await APP_SECRET.rotate(context.deps, context.app.app_key, rotation, context.person) })
  })

  owner.form(`${APP}/end-tokens`, form, async (context) => {
    await APP_SECRET.endTokens(context.deps, context.app.app_key, context.person)
    return '?done=ended'
  })
}
