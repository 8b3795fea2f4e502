import { z } from 'zod'
import { asPerson } from '../../platform/audit/index.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import type { Deps } from '../../platform/deps.ts'
import { rotation } from '../../platform/lib/crypto/generated-secret.ts'
import { InvalidInput, operation, parseInput } from '../../platform/lib/json/input.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import type { MemberRole } from '../../platform/lib/member.ts'
import { TEST_USERS } from '../account/index.ts'
import {
  createMicroApp,
  endTokensOfApp,
  lockMicroApp,
  rotateSecret,
  showMicroApp,
  updateMicroApp,
} from '../registry/index.ts'
import * as store from './app-store.ts'
import { notFound, TeamRefusal } from './errors.ts'
import { lockTeam } from './store.ts'
import { changeTeam } from './team.ts'
import { type AppFields, appFields } from './wire.ts'

/** Apps of one team. */
const MAX_APPS = 20

/** Where a page calls from. */
export const originsOf = ({ redirect_uris }: Pick<AppFields, 'redirect_uris'>): string[] => [
  ...new Set(redirect_uris.map((uri) => new URL(uri).origin)),
]

/** What follows from where the app's code runs: only a server keeps a secret, and only a page calls from a browser. */
function madeOf(given: AppFields) {
  const { kind, reasons: _reasons, ...fields } = given
  if (kind === 'server')
    return { ...fields, token_auth_methods: ['client_secret_basic', 'client_secret_post'], cors_origins: [] }
  return { ...fields, token_auth_methods: ['none'], cors_origins: kind === 'page' ? originsOf(given) : [] }
}

/** Registers an app in development. It has no secret yet. Returns its app_key. */
export const registerApp = operation(
  appFields,
  (deps: Deps, teamId: string, fields: AppFields, person: UserRowKey): Promise<string> =>
    changeTeam(deps, teamId, { person, role: 'developer' }, async ({ db, deps: inside, now }) => {
      if ((await store.countApps(db, teamId)) >= MAX_APPS) throw new TeamRefusal('apps')
      const acting = { ...inside, actor: asPerson(deps.actor, person) }
      const given = parseInput(createMicroApp.input, madeOf(fields))
      const { app_key } = await createMicroApp(acting, given, { secret: null, stage: 'development' })
      const { kind, reasons } = fields
      await store.insertTeamApp(db, { appKey: app_key, teamId, kind, reasons }, now)
      return app_key
    }),
)

export const appsOfTeam = ({ db }: Deps, teamId: string): Promise<store.AppOfTeam[]> => store.appsOfTeam(db, teamId)

export const appsOfPerson = ({ db }: Deps, person: UserRowKey): Promise<store.OwnApp[]> =>
  store.appsOfPerson(db, person)

/** The app, as a member of its team has it; undefined for everybody else. */
export const findAppAccess = (
  { db }: Deps,
  person: UserRowKey,
  appKey: string,
): Promise<store.AppAccess | undefined> =>
  /^[A-Za-z0-9_-]{3,64}$/.test(appKey) ? store.findAppAccess(db, person, appKey) : Promise.resolve(undefined)

/**
 * Does something with an app in one transaction, in the person's name. Whoever is no member of its team (any more) finds
 * nothing; a developer is told that an owner has to do it. It waits for changes of the team, and of the app: by operators,
 * who may give it to another team.
 */
export const changeApp = <Done>(
  deps: Deps,
  appKey: string,
  { person, role }: { readonly person: UserRowKey; readonly role: MemberRole },
  work: (inside: Deps, app: store.AppAccess) => Promise<Done>,
): Promise<Done> =>
  deps.db.tx(async (db) => {
    const inside = { ...deps, db, actor: asPerson(deps.actor, person) }
    const before = await findAppAccess(inside, person, appKey)
    if (!before || !(await lockTeam(db, before.team_id)) || !(await lockMicroApp(db, appKey))) throw notFound()
    const app = await findAppAccess(inside, person, appKey)
    if (app?.team_id !== before.team_id) throw notFound() // given away meanwhile, and the team that has it now is not locked
    if (role === 'owner' && app.role !== 'owner') throw new TeamRefusal('not_owner')
    return work(inside, app)
  })

/** Throws TeamRefusal. The app is locked: it could go live meanwhile with what nobody has looked at. */
async function requireDevelopment(deps: Deps, appKey: string): Promise<void> {
  if ((await showMicroApp(deps, appKey)).stage !== 'development') throw new TeamRefusal('live')
}

/** Changes an app in development at once. What people have been shown of a live one is asked for (request.ts). */
export const changeInDevelopment = operation(
  appFields,
  (deps: Deps, appKey: string, fields: AppFields, person: UserRowKey): Promise<void> =>
    changeApp(deps, appKey, { person, role: 'developer' }, async (inside, { kind }) => {
      await requireDevelopment(inside, appKey)
      if (kind !== fields.kind) throw new InvalidInput([{ field: 'kind', problem: localized('cannot-be-changed') }])
      await updateMicroApp(inside, appKey, parseInput(updateMicroApp.input, madeOf(fields)))
      await store.setReasons(inside.db, appKey, fields.reasons)
    }),
)

/** Makes the test users of an app in development, or gives those that there are a new password; it is shown this once. */
export const makeTestUsers = (deps: Deps, appKey: string, person: UserRowKey): Promise<{ password: string }> =>
  deps.testUserSlots.run(async () => {
    const made = await TEST_USERS.newPassword(deps)
    return changeApp(deps, appKey, { person, role: 'developer' }, async (inside) => {
      await requireDevelopment(inside, appKey)
      const there = (await TEST_USERS.list(inside, appKey)).length > 0
      await (there ? TEST_USERS.renewPassword : TEST_USERS.make)(inside, appKey, made)
      return { password: made.password }
    })
  })

/** When the newest secret was made, as its owner has seen it; empty where there was none. */
const newestSecret = (secrets: readonly { readonly created_at: Date }[]): string =>
  secrets[0]?.created_at.toISOString() ?? ''

const secretRotation = rotation.extend({ replaces: z.string().max(40) })

/** A new secret, shown once, in place of the newest: a form sent twice makes one. The former works `overlap_s` on. */
const rotateAppSecret = operation(
  secretRotation,
  (deps: Deps, appKey: string, { replaces, overlap_s }: z.output<typeof secretRotation>, person: UserRowKey) =>
    changeApp(deps, appKey, { person, role: 'owner' }, async (inside): Promise<string> => {
      if (newestSecret((await showMicroApp(inside, appKey)).secrets) !== replaces) throw new TeamRefusal('changed')
      return (await rotateSecret(inside, appKey, { overlap_s })).app_secret
    }),
)

/** Ends everything that people have allowed the app, with its tokens. They can allow it again. */
const endTokens = (deps: Deps, appKey: string, person: UserRowKey): Promise<unknown> =>
  changeApp(deps, appKey, { person, role: 'owner' }, (inside) => endTokensOfApp(inside, appKey))

/** What owners do with the secret of their app. */
export const APP_SECRET = { newest: newestSecret, rotate: rotateAppSecret, endTokens }
