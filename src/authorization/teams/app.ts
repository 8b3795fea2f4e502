import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { asPerson } from '../../platform/audit/index.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import type { Deps } from '../../platform/deps.ts'
import { InvalidInput, operation, parseInput } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import type { MemberRole } from '../../platform/lib/member.ts'
import type { OutboundDeps } from '../../platform/outbound/index.ts'
import { TEST_USERS } from '../account/index.ts'
import { checkWebhookUrl, EVENT_TYPES, listAppEvents, retryAppEvent, testWebhook } from '../app-events/index.ts'
import {
  createMicroApp,
  endTokensOfApp,
  lockMicroApp,
  MICRO_APP_FIELDS,
  type MicroApp,
  presentWebhookSecrets,
  rotateAppWebhookSecret,
  rotateSecret,
  showMicroApp,
  updateMicroApp,
} from '../registry/index.ts'
import * as store from './app-store.ts'
import { notFound, TeamRefusal } from './errors.ts'
import { lockTeam } from './store.ts'
import { changeTeam } from './team.ts'
import { type AppFields, appFields, type SecretReplacement, secretReplacement } from './wire.ts'

const MAX_APPS = 20

export const originsOf = ({ redirect_uris }: Pick<AppFields, 'redirect_uris'>): string[] => [
  ...new Set(redirect_uris.map((uri) => new URL(uri).origin)),
]

/** Settings that follow from the kind of app: only a server can keep a secret, and only a page calls from a browser. */
function microAppOf(given: AppFields) {
  const { kind, reasons: _reasons, ...fields } = given
  if (kind === 'server')
    return { ...fields, token_auth_methods: ['client_secret_basic', 'client_secret_post'], cors_origins: [] }
  return { ...fields, token_auth_methods: ['none'], cors_origins: kind === 'page' ? originsOf(given) : [] }
}

/** The app that this form has registered before, if nothing was done with it since. */
async function sameApp(
  deps: Deps,
  teamId: string,
  given: object,
  { name, kind, reasons }: AppFields,
  person: UserRowKey,
) {
  for (const { app_key, ...app } of await store.appsOfTeam(deps.db, teamId)) {
    if (app.stage !== 'development' || app.name !== name) continue
    const registered = await showMicroApp(deps, app_key)
    const access = await store.findAppAccess(deps.db, person, app_key)
    const isSame =
      access?.kind === kind &&
      isDeepStrictEqual(access.reasons, reasons) &&
      isDeepStrictEqual({ ...registered, ...given }, registered)
    if (isSame && registered.secrets.length === 0 && (await TEST_USERS.list(deps.db, app_key)).length === 0)
      return app_key
  }
  return undefined
}

/** Registers an app in development, without a secret. Returns its app_key; for the same form sent again the same. */
export const registerApp = operation(
  appFields,
  (deps: Deps, teamId: string, fields: AppFields, person: UserRowKey): Promise<string> =>
    changeTeam(deps, teamId, { person, role: 'developer' }, async ({ db, deps: inside, now }) => {
      const given = parseInput(createMicroApp.input, microAppOf(fields))
      const same = await sameApp(inside, teamId, given, fields, person)
      if (same) return same
      if ((await store.countApps(db, teamId)) >= MAX_APPS) throw new TeamRefusal('apps')
      const acting = { ...inside, actor: asPerson(deps.actor, person) }
      const { app_key } = await createMicroApp(acting, given, { secret: null, stage: 'development' })
      await store.insertTeamApp(db, app_key, teamId, fields, now)
      return app_key
    }),
)

/**
 * Changes an app in one transaction, with the person as the actor. Throws 404 unless they are a member of its team, and
 * TeamRefusal if they need to be an owner. Locks the team, and the app, which an operator might give to another team.
 */
export const changeApp = <Done>(
  deps: Deps,
  appKey: string,
  { person, role }: { readonly person: UserRowKey; readonly role: MemberRole },
  work: (inside: Deps, app: store.AppAccess) => Promise<Done>,
): Promise<Done> =>
  deps.db.tx(async (db) => {
    const inside = { ...deps, db, actor: asPerson(deps.actor, person) }
    const before = await store.findAppAccess(db, person, appKey)
    if (!before || !(await lockTeam(db, before.team_id)) || !(await lockMicroApp(db, appKey))) throw notFound()
    const app = await store.findAppAccess(db, person, appKey)
    if (app?.team_id !== before.team_id) throw notFound() // given to another team meanwhile, which is not locked
    if (role === 'owner' && app.role !== 'owner') throw new TeamRefusal('not_owner')
    return work(inside, app)
  })

/** The app. Throws TeamRefusal. The caller has locked it: otherwise unreviewed changes could go live. */
async function appInDevelopment(deps: Deps, appKey: string): Promise<MicroApp> {
  const app = await showMicroApp(deps, appKey)
  if (app.stage !== 'development') throw new TeamRefusal('live')
  return app
}

/**
 * Changes an app in development at once; an open request stays as it was made. Changes of live apps need approval
 * (request.ts).
 */
export const changeInDevelopment = operation(
  appFields,
  (deps: Deps, appKey: string, fields: AppFields, person: UserRowKey): Promise<void> =>
    changeApp(deps, appKey, { person, role: 'developer' }, async (inside, { kind }) => {
      const before = await appInDevelopment(inside, appKey)
      if (kind !== fields.kind) throw new InvalidInput([{ field: 'kind', problem: localized('cannot-be-changed') }])
      const after = await updateMicroApp(inside, appKey, parseInput(updateMicroApp.input, microAppOf(fields)))
      await store.rebaseRequest(inside.db, appKey, before.updated_at, after.updated_at)
      await store.setReasons(inside.db, appKey, fields.reasons)
    }),
)

/** Creates the test users of an app in development, or resets their password. Returns it, to be shown once. */
export const makeTestUsers = (deps: Deps, appKey: string, person: UserRowKey): Promise<{ password: string }> =>
  deps.testUserSlots.run(async () => {
    const { password, passwordHash } = await TEST_USERS.newPassword(deps)
    return changeApp(deps, appKey, { person, role: 'developer' }, async (inside) => {
      await appInDevelopment(inside, appKey)
      const exist = (await TEST_USERS.list(inside.db, appKey)).length > 0
      await (exist ? TEST_USERS.renewPassword : TEST_USERS.make)(inside, appKey, passwordHash)
      return { password }
    })
  })

/** Creation time of the newest secret, as shown to the owner; empty if there is none. */
const newestSecret = (secrets: readonly { readonly created_at: Date }[]): string =>
  secrets[0]?.created_at.toISOString() ?? ''

/** To be shown once. `replaces` is the newest one that the owner saw, so a form sent twice makes only one. */
const rotateAppSecret = operation(
  secretReplacement,
  (deps: Deps, appKey: string, { replaces, overlap_s }: SecretReplacement, person: UserRowKey) =>
    changeApp(deps, appKey, { person, role: 'owner' }, async (inside): Promise<string> => {
      if (newestSecret((await showMicroApp(inside, appKey)).secrets) !== replaces) throw new TeamRefusal('changed')
      return (await rotateSecret(inside, appKey, { overlap_s })).app_secret
    }),
)

/** Revokes all grants of the app and their tokens. People can allow it again. */
const endTokens = (deps: Deps, appKey: string, person: UserRowKey): Promise<unknown> =>
  changeApp(deps, appKey, { person, role: 'owner' }, (inside) => endTokensOfApp(inside, appKey))

export const APP_SECRET = { newest: newestSecret, rotate: rotateAppSecret, endTokens }

// ---- the webhook: people never see it, so changing it needs no approval even in live apps

/** Sets, changes or (null) removes the address; returns the secret of a new one, to be shown once. */
const setWebhook = operation(
  z.strictObject({ webhook_url: MICRO_APP_FIELDS.webhook_url.changed }),
  (deps: OutboundDeps, appKey: string, { webhook_url }: { webhook_url: string | null }, person: UserRowKey) => {
    if (webhook_url !== null) checkWebhookUrl(deps, webhook_url)
    return changeApp(deps, appKey, { person, role: 'owner' }, async (inside) => {
      const before = await showMicroApp(inside, appKey)
      if (before.webhook_url === webhook_url) return undefined
      const { webhook_secret, updated_at } = await updateMicroApp(inside, appKey, { webhook_url })
      await store.rebaseRequest(inside.db, appKey, before.updated_at, updated_at)
      return webhook_secret
    })
  },
)

/** To be shown once; the old one also signs for a while. `replaces`: as in rotateAppSecret. */
const rotateWebhookSecret = operation(
  secretReplacement,
  (deps: OutboundDeps, appKey: string, { replaces, overlap_s }: SecretReplacement, person: UserRowKey) =>
    changeApp(deps, appKey, { person, role: 'owner' }, async (inside) => {
      if ((await presentWebhookSecrets(inside, appKey)).mark !== replaces) throw new TeamRefusal('changed')
      return (await rotateAppWebhookSecret(inside, appKey, { overlap_s })).webhook_secret
    }),
)

const test = (deps: OutboundDeps, appKey: string, person: UserRowKey): Promise<unknown> =>
  changeApp(deps, appKey, { person, role: 'developer' }, (inside) => testWebhook(inside, appKey))

const retry = operation(
  retryAppEvent.input,
  (deps: OutboundDeps, appKey: string, { event_id }: { readonly event_id: string }, person: UserRowKey) =>
    changeApp(deps, appKey, { person, role: 'developer' }, (inside) =>
      retryAppEvent(inside, { app_key: appKey, event_id }),
    ),
)

export const APP_WEBHOOK = {
  set: setWebhook,
  secrets: presentWebhookSecrets,
  rotate: rotateWebhookSecret,
  test,
  retry,
  deliveries: listAppEvents,
  types: EVENT_TYPES,
}
