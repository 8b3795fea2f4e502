import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import type { InvalidInput } from '../../platform/lib/json/input.ts'
import type { MemberRole } from '../../platform/lib/member.ts'
import { scopeTextKey } from '../../platform/lib/scope.ts'
import { doneText } from '../../platform/lib/web/done-query.ts'
import { TEST_USERS } from '../account/index.ts'
import type { PersonRequest } from '../people/index.ts'
import { hasSecret, showMicroApp } from '../registry/index.ts'
import { APP_REQUESTS, changeInDevelopment, makeTestUsers, registerApp } from '../teams/index.ts'
import {
  fieldsOf,
  formOfApp,
  inputsOf,
  listedIn,
  problemsOf,
  scopeInputsOf,
  type TypedApp,
  typedApp,
} from './app-form.ts'
import { APP, type AppRequest, developerPages, HOME, orRefused, TEAM, type TeamRequest } from './guard.ts'
import { LOCAL_CALLBACK } from './quickstart.ts'

const NEW = `${TEAM}/apps`
const done = doneText({
  registered: 'developer.app.done_registered',
  saved: 'developer.app.done_saved',
  asked: 'developer.request.done_asked',
  withdrawn: 'developer.request.done_withdrawn',
})

interface Form {
  readonly typed: TypedApp
  readonly action: string
  readonly appName?: string
  readonly isLive?: boolean
}

/** Pages for registering, showing and changing apps, and for their test users. */
export const appRoutes: FastifyPluginAsync<{ deps: Deps }> = async (app, { deps }) => {
  const { forTeam, forApp } = await developerPages(app, deps)

  const show = ({ page, t }: PersonRequest, { appName, ...shown }: Form, alert = '', error?: InvalidInput) => {
    const problems = error ? problemsOf(error, t) : []
    const inputs = inputsOf(shown.typed, t)
    const scopes = scopeInputsOf(shown.typed, t)
    return page('home', 'developer/app-form', { ...shown, inputs, scopes, appName: appName ?? null, alert, problems })
  }

  /** Processes the form, or shows it again with its problems. */
  const submit = (context: PersonRequest, shown: Omit<Form, 'typed'>, work: (typed: TypedApp) => Promise<string>) => {
    const typed = typedApp(context.request.body)
    return orRefused(context, {
      work: () => work(typed),
      show: (alert, error) => show(context, { ...shown, typed }, alert, error),
      unfit: 'developer.app.unfit',
    })
  }

  const registration = ({ team }: TeamRequest) => ({ action: `${HOME}/teams/${team.team_id}/apps` })

  forTeam.developer.get(`${NEW}/new`, (context) => {
    const initial = { redirect_uris: [LOCAL_CALLBACK], scopes: ['USER_INFO' as const], reasons: {}, kind: 'server' }
    return show(context, { ...registration(context), typed: formOfApp(initial) })
  })

  forTeam.developer.form(NEW, TEAM, (context) =>
    submit(context, registration(context), async (typed) => {
      const appKey = await registerApp(context.deps, context.team.team_id, fieldsOf(typed), context.person)
      return `${HOME}/apps/${appKey}?done=registered`
    }),
  )

  async function edited({ app: { app_key } }: AppRequest) {
    const microApp = await showMicroApp(deps, app_key)
    const isLive = microApp.stage === 'live'
    return { microApp, shown: { action: `${HOME}/apps/${app_key}/edit`, appName: microApp.name, isLive } }
  }

  forApp.developer.get(`${APP}/edit`, async (context) => {
    const { kind, reasons } = context.app
    const { microApp, shown } = await edited(context)
    return show(context, { ...shown, typed: formOfApp({ ...microApp, kind, reasons }) })
  })

  forApp.developer.form(`${APP}/edit`, `${APP}/edit`, async (context) => {
    const { app_key, kind } = context.app
    const { shown } = await edited(context)
    return submit(context, shown, async (typed) => {
      const change = shown.isLive ? APP_REQUESTS.change : changeInDevelopment
      await change(context.deps, app_key, fieldsOf({ ...typed, kind }), context.person)
      return `${HOME}/apps/${app_key}?done=${shown.isLive ? 'asked' : 'saved'}`
    })
  })

  async function showApp(
    context: AppRequest,
    { error, ...shown }: { alert?: string; error?: InvalidInput | undefined; password?: string } = {},
  ): Promise<FastifyReply> {
    const { app: access, request, page, t } = context
    const microApp = await showMicroApp(deps, access.app_key)
    const latest = await APP_REQUESTS.latest(deps, access.app_key)
    return page('home', 'developer/app', {
      ...shown,
      problems: error ? problemsOf(error, t) : [],
      done: done(request),
      app: {
        ...microApp,
        kind: access.kind,
        hasSecret: hasSecret(microApp),
        scopes: microApp.scopes.map((id) => ({ id, label: t(scopeTextKey(id)), reason: access.reasons[id] })),
        isOwner: access.role === 'owner',
        isInDevelopment: microApp.stage === 'development',
        listed: listedIn(microApp, t),
      },
      team: { id: access.team_id, name: access.team_name },
      request: latest && {
        state: latest.state,
        remark: latest.remark,
        at: (latest.decided_at ?? latest.asked_at).toISOString(),
      },
      issuer: deps.config.PUBLIC_URL,
      testUsers: await TEST_USERS.list(deps, access.app_key),
    })
  }

  forApp.developer.get(APP, (context) => showApp(context))

  /** A form on the page of the app. */
  const change = (role: MemberRole, path: string, work: (context: AppRequest) => Promise<FastifyReply | string>) =>
    forApp[role].form(`${APP}/${path}`, APP, (context) =>
      orRefused(context, {
        work: () => work(context),
        show: (alert, error) => showApp(context, { alert, error }),
        unfit: 'developer.request.unfit',
      }),
    )

  change('owner', 'request', async (context) => {
    await APP_REQUESTS.ask(context.deps, context.app.app_key, context.person)
    return '?done=asked'
  })

  change('owner', 'request/withdraw', async (context) => {
    await APP_REQUESTS.withdraw(context.deps, context.app.app_key, context.person)
    return '?done=withdrawn'
  })

  change('developer', 'test-users', async (context) => {
    const { password } = await makeTestUsers(context.deps, context.app.app_key, context.person)
    return showApp(context, { password })
  })
}
