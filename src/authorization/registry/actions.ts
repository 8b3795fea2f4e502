import { z } from 'zod'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { action } from '../../platform/lib/action.ts'
import { rotation } from '../../platform/lib/crypto/generated-secret.ts'
import { withMaskedWebhook } from '../../platform/lib/web/web-url.ts'
import {
  approveMicroApp,
  createMicroApp,
  listMicroApps,
  newAppKey,
  rotateAppWebhookSecret,
  showMicroApp,
  suspendMicroApp,
  updateMicroApp,
} from './micro-app.ts'
import { hasSecret, USUAL_TOKEN_AUTH } from './oidc-fields.ts'
import { rotateSecret } from './secret.ts'
import { givenAppOfTeam, type MicroApp } from './wire.ts'

export const oneApp = z.strictObject({ app_key: z.string() })
type OneApp = z.output<typeof oneApp>

const ofApp =
  <Output>(run: (deps: Deps, appKey: string) => Promise<Output>) =>
  (deps: Deps, { app_key }: OneApp): Promise<Output> =>
    run(deps, app_key)

/** Reads what another room knows about an app. */
type OfApp = (deps: Deps, app: OneApp) => Promise<object>

/** What another room does with the teams that develop apps. */
interface Teams {
  readonly ofApp: OfApp
  offers(deps: Deps): Promise<Readonly<Record<string, readonly string[]>>>
  giveNew(deps: Deps, app: MicroApp, to: { team_id: string | undefined; mail: string | undefined }): Promise<void>
}

/** Operators' actions on micro-apps. `grantsOf` counts its live grants and their people. */
export const appActions = (grantsOf: OfApp, teams: Teams) => [
  action({
    route: 'GET /apps',
    command: 'app list',
    role: 'viewer',
    run: listMicroApps,
    masked: ({ apps, ...page }) => ({ apps: apps.map(withMaskedWebhook), ...page }),
    list: {
      rows: 'apps',
      columns: ['app_key', 'status', 'stage', 'scopes', 'hosts', 'name'],
    },
  }),
  action({
    route: 'GET /apps/:app_key',
    command: 'app show',
    role: 'viewer',
    input: oneApp,
    run: ofApp(showMicroApp),
    masked: withMaskedWebhook,
    beside: teams.ofApp,
    related: ({ app_key, team_id }) => [
      team_id
        ? { operation: 'GET /teams/:team_id', text: 'action.team_show', page: ['/teams/:team_id', { team_id }] }
        : { operation: 'GET /teams', text: 'action.team_list', page: ['/teams'] },
      { operation: 'GET /grants', text: 'action.grant_list', page: ['/grants', { app_key }] },
      { operation: 'GET /explain', text: 'console.explain.refused', page: ['/search', { q: app_key }] },
      { operation: 'GET /audit', text: 'console.field.history', page: ['/audit', { target: `app:${app_key}` }] },
    ],
  }),
  action({
    route: 'POST /apps',
    command: 'app create',
    role: 'editor',
    input: givenAppOfTeam,
    run: (deps: Deps, { team_id, mail, ...app }) =>
      inTransaction(deps, async (inside) => {
        const created = await createMicroApp(inside, app)
        if (team_id !== undefined || mail !== undefined) await teams.giveNew(inside, created, { team_id, mail })
        return created
      }),
    // With a suggested key, a form that is sent twice creates one app.
    mainFields: ['app_key', 'name', 'hosts', 'redirect_uris', 'scopes', 'team_id', 'mail'],
    offers: teams.offers,
    suggested: () => ({ app_key: newAppKey(), token_auth_methods: USUAL_TOKEN_AUTH }),
    once: ['app_secret', 'webhook_secret'],
    onceWith: ['app_key'],
  }),
  action({
    route: 'PATCH /apps/:app_key',
    command: 'app update',
    role: 'editor',
    input: updateMicroApp.input.extend(oneApp.shape),
    run: (deps: Deps, { app_key, ...changes }) => updateMicroApp(deps, app_key, changes),
    once: ['webhook_secret'],
  }),
  action({
    route: 'POST /apps/:app_key/approve',
    command: 'app approve',
    role: 'editor',
    input: oneApp,
    run: ofApp(approveMicroApp),
    preview: { run: grantsOf },
    offered: ({ status }) => status !== 'approved',
  }),
  action({
    route: 'POST /apps/:app_key/rotate-secret',
    command: 'app rotate-secret',
    role: 'editor',
    input: rotation.extend(oneApp.shape),
    run: (deps: Deps, { app_key, ...input }) => rotateSecret(deps, app_key, input),
    once: ['app_secret'],
    onceWith: ['app_key'],
    offered: hasSecret,
  }),
  action({
    route: 'POST /apps/:app_key/rotate-webhook-secret',
    command: 'app rotate-webhook-secret',
    role: 'editor',
    input: rotation.extend(oneApp.shape),
    run: (deps: Deps, { app_key, ...input }) => rotateAppWebhookSecret(deps, app_key, input),
    once: ['webhook_secret'],
    offered: ({ webhook_url }) => webhook_url !== null,
  }),
  action({
    route: 'POST /apps/:app_key/suspend',
    command: 'app suspend',
    role: 'editor',
    dangerous: true,
    input: oneApp,
    run: ofApp(suspendMicroApp),
    preview: { run: grantsOf },
    offered: ({ status }) => status !== 'suspended',
  }),
]
