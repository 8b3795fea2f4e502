import { z } from 'zod'
import type { Batched } from '../../platform/db/batch.ts'
import { beginsWith, listPage } from '../../platform/db/page.ts'
import { assignmentsOf, columnsOf, valuesOf } from '../../platform/db/record-fields.ts'
import type { SealedColumn } from '../../platform/db/sealed.ts'
import { type Db, type Fragment, sql } from '../../platform/db/sql.ts'
import { APP_KEY } from './micro-app-fields.ts'
import {
  type LiveSecret,
  liveSecrets,
  type NewSecret,
  SECRET_COLUMNS,
  SECRETS_OF_APP,
  secretOfApp,
} from './secret-store.ts'
import { type MicroApp, type MicroAppFilter, microApp, type NewMicroApp } from './wire.ts'

const NAMES = Object.keys(microApp.shape)
const COLUMNS = columnsOf(NAMES)
const COLUMNS_OF_APP = columnsOf(NAMES, 'app')
/** The columns that an update may set; `valid_from` has a statement of its own. */
const CHANGEABLE = NAMES.filter((name) => !['app_key', 'valid_from', 'created_at', 'updated_at'].includes(name))

export type MicroAppWithSecrets = MicroApp & { secrets: LiveSecret[] }

/** One app by its primary key, for a join as `a`; looked up like access tokens. */
export const joinedMicroApp = (appKey: Fragment): Fragment =>
  sql.part`micro_app a on a.app_key = any (array[${appKey}])`

/** With its first secret, if any, in one statement; undefined if the app_key is taken. */
export const insertMicroApp = (
  db: Db,
  app: NewMicroApp & Pick<MicroApp, 'app_key' | 'stage'>,
  secret: NewSecret | null,
  now: Date,
): Promise<MicroApp | undefined> => {
  const row = { ...app, created_at: now, updated_at: now }
  return db.maybe(
    microApp,
    sql`with app as (
      insert into micro_app (${columnsOf(Object.keys(row))}) values (${valuesOf(row, Object.keys(row))})
      on conflict (app_key) do nothing
      returning ${COLUMNS}
    ), secret as (
      insert into micro_app_secret (app_key, secret_hash, hashed_with, created_at)
      select app_key, ${secret?.hash}, ${secret?.hashedWith}, created_at from app where ${secret !== null}
    )
    select ${COLUMNS} from app`,
  )
}

/** Those of the keys that belong to an app. */
export const existingAppKeys = (db: Db, appKeys: readonly string[]): Promise<Pick<MicroApp, 'app_key'>[]> =>
  db.many(microApp.pick({ app_key: true }), sql`select app_key from micro_app where app_key = any (${appKeys})`)

/** The CORS origins of approved apps. */
export const findOrigins = (db: Db): Promise<string[]> =>
  db.values(
    z.string(),
    sql`select distinct unnest(cors_origins) as origin from micro_app where cors_origins <> '{}' and status = 'approved'`,
  )

/** All columns of micro_app are null where there is no such app. */
const appRow = z.looseObject({ app_key: z.string().nullable() }).transform((row) => ({
  secret: secretOfApp.parse(row),
  app: row.app_key === null ? undefined : microApp.parse(row),
}))

/** One row per secret, the current one first; one row if there is none. */
const apps: Batched<string, z.output<typeof appRow>> = {
  row: appRow,
  key: (appKey) => appKey,
  duplicates: 'share',
  statement: (asked) =>
    sql`select asked.ordinal, ${COLUMNS_OF_APP}, ${SECRET_COLUMNS}
        from ${sql.rows('asked', asked, (appKey) => sql.part`${appKey}::text as app_key`)}
        left join micro_app app on app.app_key = asked.app_key
        ${SECRETS_OF_APP}
        order by secret.ends_at desc nulls first`,
}

/** The app with its live secrets, whatever its status. Text that cannot be an app_key never reaches the database. */
export async function findMicroApp(db: Db, appKey: string, now: Date): Promise<MicroAppWithSecrets | undefined> {
  if (!APP_KEY.test(appKey)) return undefined
  const rows = await db.batch(apps, appKey)
  const app = rows[0]?.app
  return app && { ...app, secrets: liveSecrets(rows, now) }
}

export type Changes = { readonly [Name in keyof MicroApp]?: MicroApp[Name] | undefined }

export const updateMicroApp = (db: Db, appKey: string, changes: Changes, now: Date): Promise<MicroApp> =>
  db.one(
    microApp,
    sql`update micro_app set ${assignmentsOf(changes, CHANGEABLE)}, updated_at = ${now}
    where app_key = ${appKey}
    returning ${COLUMNS}`,
  )

/** Never moved back: the clock of the process that set it may have been ahead. */
export const setValidFrom = (db: Db, appKey: string, at: Date): Promise<MicroApp> =>
  db.one(
    microApp,
    sql`update micro_app set valid_from = greatest(valid_from, ${at}) where app_key = ${appKey} returning ${COLUMNS}`,
  )

/** Locks the app, so that its changes wait for one another; false if there is no such app. */
export const lockMicroApp = async (db: Db, appKey: string): Promise<boolean> =>
  APP_KEY.test(appKey) && (await db.exec(sql`select from micro_app where app_key = ${appKey} for update`)) === 1

/** Oldest first. */
export const listMicroApps = (db: Db, filter: MicroAppFilter) => {
  const listing = {
    row: microApp,
    columns: COLUMNS,
    from: sql.part`micro_app
        where (${filter.app_key}::text is null or app_key like ${beginsWith(filter.app_key)})
          and (${filter.name}::text is null or lower(name) like lower(${beginsWith(filter.name)}))
          and (${filter.status}::text is null or status = ${filter.status})`,
    keys: { created_at: 'timestamptz', app_key: 'text' },
  }
  return listPage(db, listing, filter)
}

const sealed = z.instanceof(Buffer).nullable()
const webhook = z.object({
  webhook_url: z.string(),
  webhook_secret: sealed,
  /** Also null if it has ended. */
  former_webhook_secret: sealed,
})

/** Binds a sealed secret to its row, so that it cannot be opened in another one; both columns of a row share it. */
export const webhookSecretContext = (appKey: string): string => `webhook_secret of app ${appKey}`

export const findWebhook = (db: Db, appKey: string, now: Date): Promise<z.output<typeof webhook> | undefined> =>
  db.maybe(
    webhook,
    sql`select webhook_url, webhook_secret,
          case when former_webhook_secret_ends_at > ${now} then former_webhook_secret end as former_webhook_secret
        from micro_app where app_key = ${appKey} and webhook_url is not null`,
  )

/** Replaces all secrets of the webhook, or removes them; the current one also signs until `formerEndsAt`, if given. */
export const setWebhookSecret = (db: Db, appKey: string, secret: Buffer | null, formerEndsAt?: Date): Promise<number> =>
  db.exec(
    sql`update micro_app set webhook_secret = ${secret}, former_webhook_secret_ends_at = ${formerEndsAt},
          former_webhook_secret = case when ${formerEndsAt}::timestamptz is not null then webhook_secret end
        where app_key = ${appKey}`,
  )

export const REGISTRY_SEALED: readonly SealedColumn[] = ['webhook_secret', 'former_webhook_secret'].map((column) => ({
  table: 'micro_app',
  column,
  key: ['app_key'],
  contextOf: ([appKey = '']) => webhookSecretContext(appKey),
}))

const demoApp = z.object({ name: z.string(), status: z.string() })

/** The demo's micro-apps, which are marked when they are created. */
export const DEMO_APPS = {
  /** Whether this micro-app exists; without an app_key, whether any does. */
  hasRows: (db: Db, appKey?: string): Promise<boolean> =>
    db.value(
      z.boolean(),
      sql`select exists (select 1 from micro_app where ${appKey}::text is null or app_key = ${appKey}::text)`,
    ),
  mark: (db: Db, appKeys: readonly string[]): Promise<number> =>
    db.exec(sql`update micro_app set demo = true where app_key = any(${appKeys})`),
  findActive: (db: Db): Promise<z.output<typeof demoApp>[]> =>
    db.many(
      demoApp,
      sql`select app_key as name, status from micro_app where demo and status <> 'suspended' order by app_key`,
    ),
  keys: (db: Db): Promise<string[]> => db.values(z.string(), sql`select app_key from micro_app where demo`),
  /** Also deletes their secrets. */
  remove: (db: Db): Promise<number> => db.exec(sql`delete from micro_app where demo`),
}
