import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import { InvalidInput } from '../../platform/lib/json/input.ts'
import { doneQueryOf } from '../../platform/lib/web/done-query.ts'
import { TEST_USERS } from '../account/index.ts'
import { hasSecret, showMicroApp } from '../registry/index.ts'
import { APP_REQUESTS, changeInDevelopment, makeTestUsers, registerApp } from '../teams/index.ts'
import { fieldsOf, formOfApp, problemsOf, type TypedApp, typedApp } from './app-form.ts'
import { type AppRequest, developerGuard, HOME, orRefused, type TeamRequest, translatorOf } from './guard.ts'
import { LOCAL_CALLBACK } from './quickstart.ts'

const NEW = `${HOME}/teams/:team_id/apps`
const APP = `${HOME}/apps/:app_key`

const DONE = {
  registered: 'developer.app.done_registered',
  saved: 'developer.app.done_saved',
  asked: 'developer.request.done_asked',
  withdrawn: 'developer.request.done_withdrawn',
} as const
const pageQuery = doneQueryOf(DONE)

/** Apps: registered, shown, changed, and their test users. */
export const appRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { forTeam, forApp } = await developerGuard(app, deps)

  interface Form {
    readonly given: TeamRequest | AppRequest
    readonly typed: TypedApp
    readonly action: string
    readonly appName?: string
    readonly isLive?: boolean
    readonly alert?: string
    readonly error?: InvalidInput
  }
  const form = ({ given, typed, action, appName, isLive = false, alert = '', error }: Form) => {
    const t = translatorOf(given)
    return given.page('home', 'developer/app-form', {
      typed,
      action,
      appName: appName ?? null,
      isLive,
      alert: error ? t('developer.app.unfit') : alert,
      problems: error ? problemsOf(error, t) : [],
    })
  }

  /** Takes the form, or shows it again with what is wrong. */
  const take = async (shown: Omit<Form, 'typed'>, work: (typed: TypedApp) => Promise<FastifyReply>) => {
    const typed = typedApp(shown.given.request.body)
    try {
      return await orRefused(
        shown.given,
        () => work(typed),
        (alert) => form({ ...shown, typed, alert }),
      )
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error
      shown.given.reply.code(400)
      return form({ ...shown, typed, error })
    }
  }

  app.get(
    NEW,
    forTeam('developer', async ({ team, goTo }) => goTo(`${HOME}/teams/${team.team_id}`)),
  )

  app.get(
    `${NEW}/new`,
    forTeam('developer', (given) => {
      const usual = { redirect_uris: [LOCAL_CALLBACK], scopes: ['USER_INFO' as const], reasons: {}, kind: 'server' }
      const typed = formOfApp(usual)
      return form({ given, typed, action: `${HOME}/teams/${given.team.team_id}/apps` })
    }),
  )

  app.post(
    NEW,
    forTeam('developer', (given) => {
      const { team_id } = given.team
      return take({ given, action: `${HOME}/teams/${team_id}/apps` }, async (typed) => {
        const appKey = await registerApp(given.deps, team_id, fieldsOf(typed), given.person)
        return given.goTo(`${HOME}/apps/${appKey}?done=registered`)
      })
    }),
  )

  async function show(given: AppRequest, shown: { alert?: string; password?: string } = {}): Promise<FastifyReply> {
    const { app: access, request, page } = given
    const found = await showMicroApp(deps, access.app_key)
    const { done } = pageQuery.parse(request.query)
    const asked = await APP_REQUESTS.latest(deps, access.app_key)
    return page('home', 'developer/app', {
      alert: '',
      password: '',
      ...shown,
      done: done ? translatorOf(given)(DONE[done]) : null,
      app: {
        ...found,
        kind: access.kind,
        hasSecret: hasSecret(found),
        reasons: access.reasons,
        isOwner: access.role === 'owner',
        isInDevelopment: found.stage === 'development',
      },
      team: { id: access.team_id, name: access.team_name },
      request: asked && {
        state: asked.state,
        remark: asked.remark,
        at: (asked.decided_at ?? asked.asked_at).toISOString(),
      },
      issuer: deps.config.PUBLIC_URL,
      testUsers: await TEST_USERS.list(deps, access.app_key),
    })
  }

  app.get(
    APP,
    forApp('developer', (given) => show(given)),
  )

  app.get(
    `${APP}/edit`,
    forApp('developer', async (given) => {
      const { app_key, kind, reasons } = given.app
      const found = await showMicroApp(deps, app_key)
      const action = `${HOME}/apps/${app_key}/edit`
      const isLive = found.stage === 'live'
      return form({ given, typed: formOfApp({ ...found, kind, reasons }), action, appName: found.name, isLive })
    }),
  )

  app.post(
    `${APP}/edit`,
    forApp('developer', async (given) => {
      const { app_key, kind } = given.app
      const { name, stage } = await showMicroApp(deps, app_key)
      const isLive = stage === 'live'
      return take({ given, action: `${HOME}/apps/${app_key}/edit`, appName: name, isLive }, async (typed) => {
        if (isLive) {
          await APP_REQUESTS.change(given.deps, app_key, fieldsOf({ ...typed, kind }), given.person)
          return given.goTo(`${HOME}/apps/${app_key}?done=asked`)
        }
        await changeInDevelopment(given.deps, app_key, fieldsOf({ ...typed, kind }), given.person)
        return given.goTo(`${HOME}/apps/${app_key}?done=saved`)
      })
    }),
  )

  const requests = [
    ['request', 'asked', APP_REQUESTS.ask],
    ['request/withdraw', 'withdrawn', APP_REQUESTS.withdraw],
  ] as const
  for (const [path, done, work] of requests) {
    app.get(
      `${APP}/${path}`,
      forApp('owner', async (given) => given.goTo(`${HOME}/apps/${given.app.app_key}`)),
    )
    app.post(
      `${APP}/${path}`,
      forApp('owner', (given) =>
        orRefused(
          given,
          async () => {
            await work(given.deps, given.app.app_key, given.person)
            return given.goTo(`${HOME}/apps/${given.app.app_key}?done=${done}`)
          },
          (alert) => show(given, { alert }),
        ),
      ),
    )
  }

  // Opened directly, as by a language link of the page that answers the form.
  app.get(
    `${APP}/test-users`,
    forApp('developer', async (given) => given.goTo(`${HOME}/apps/${given.app.app_key}`)),
  )

  app.post(
    `${APP}/test-users`,
    forApp('developer', (given) =>
      orRefused(
        given,
        async () => {
          const { password } = await makeTestUsers(given.deps, given.app.app_key, given.person)
          return show(given, { password })
        },
        (alert) => show(given, { alert }),
      ),
    ),
  )
}
