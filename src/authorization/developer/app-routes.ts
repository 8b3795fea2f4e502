import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import type { Deps } from '../../platform/deps.ts'
import type { InvalidInput, OutputOf } from '../../platform/lib/json/input.ts'
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
import { APP, type AppRequest, developerPages, HOME, TEAM, type TeamRequest } from './guard.ts'
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

  const registration = ({ team }: TeamRequest, typed: TypedApp): Form => ({
    typed,
    action: `${HOME}/teams/${team.team_id}/apps`,
  })

  forTeam.developer.get(`${NEW}/new`, (context) => {
    const initial = { redirect_uris: [LOCAL_CALLBACK], scopes: ['USER_INFO' as const], reasons: {}, kind: 'server' }
    return show(context, registration(context, formOfApp(initial)))
  })

  const newApp = {
    page: `${NEW}/new`,
    show: (context: TeamRequest, alert: string, error?: InvalidInput) =>
      show(context, registration(context, typedApp(context.request.body)), alert, error),
    unfit: 'developer.app.unfit',
  }
  forTeam.developer.form(NEW, newApp, async ({ request, team, person, deps: acting }) => {
    const appKey = await registerApp(acting, team.team_id, fieldsOf(typedApp(request.body)), person)
    return `${HOME}/apps/${appKey}?done=registered`
  })

  const edited = ({ app_key, name, stage }: OutputOf<typeof showMicroApp>, typed: TypedApp): Form => ({
    typed,
    action: `${HOME}/apps/${app_key}/edit`,
    appName: name,
    isLive: stage === 'live',
  })

  const editing = {
    page: `${APP}/edit`,
    show: async (context: AppRequest, alert: string, error?: InvalidInput) => {
      const microApp = await showMicroApp(deps, context.app.app_key)
      return show(context, edited(microApp, typedApp(context.request.body)), alert, error)
    },
    unfit: 'developer.app.unfit',
  }

  forApp.developer.get(editing.page, async (context) => {
    const { app_key, kind, reasons } = context.app
    const microApp = await showMicroApp(deps, app_key)
    return show(context, edited(microApp, formOfApp({ ...microApp, kind, reasons })))
  })

  forApp.developer.form(editing.page, editing, async ({ request, app: { app_key, kind }, person, deps: acting }) => {
    const isLive = (await showMicroApp(deps, app_key)).stage === 'live'
    const change = isLive ? APP_REQUESTS.change : changeInDevelopment
    await change(acting, app_key, fieldsOf({ ...typedApp(request.body), kind }), person)
    return `${HOME}/apps/${app_key}?done=${isLive ? 'asked' : 'saved'}`
  })

  async function showApp(
    context: AppRequest,
    { error, ...shown }: { alert?: string; error?: InvalidInput | undefined; password?: string } = {},
  ): Promise<FastifyReply> {
    const { app: access, request, page, t } = context
    const microApp = await showMicroApp(deps, access.app_key)
    const latest = await APP_REQUESTS.latest(deps.db, access.app_key)
    return page('home', 'developer/app', {
      ...shown,
      problems: error ? problemsOf(error, t) : [],
      done: done(request),
      app: {
        app_key: microApp.app_key,
        name: microApp.name,
        logo_url: microApp.logo_url,
        status: microApp.status,
        kind: access.kind,
        hasSecret: hasSecret(microApp),
        lacksSecret: microApp.secrets.length === 0,
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
      testUsers: await TEST_USERS.list(deps.db, access.app_key),
    })
  }

  forApp.developer.get(APP, (context) => showApp(context))

  const page = {
    page: APP,
    show: (context: AppRequest, alert: string, error?: InvalidInput) => showApp(context, { alert, error }),
    unfit: 'developer.request.unfit',
  }

  forApp.owner.form(`${APP}/request`, page, async ({ deps: acting, app: { app_key }, person }) => {
    await APP_REQUESTS.ask(acting, app_key, person)
    return '?done=asked'
  })

  forApp.owner.form(`${APP}/request/withdraw`, page, async ({ deps: acting, app: { app_key }, person }) => {
    await APP_REQUESTS.withdraw(acting, app_key, person)
    return '?done=withdrawn'
  })

  forApp.developer.form(`${APP}/test-users`, page, async (context) => {
    const { password } = await makeTestUsers(context.deps, context.app.app_key, context.person)
    return showApp(context, { password })
  })
}
