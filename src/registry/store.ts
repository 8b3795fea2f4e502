import { z } from 'zod'
import type { Batched } from '../db/batch.ts'
import { assignmentsOf, columnsOf, valuesOf } from '../db/field.ts'
import { type Db, type Fragment, sql } from '../db/sql.ts'
import type { SecretDates } from '../lib/crypto/made-secret.ts'
import { CLIENT_WINDOW_S, currentWindow, type Failures, failedAttemptByKey } from '../throttle/index.ts'
import { type MicroApp, type MicroAppChanges, microApp, microAppChanges, type NewMicroApp } from './wire.ts'

const NAMES = Object.keys(microApp.shape)
const COLUMNS = columnsOf(NAMES)
const COLUMNS_OF_APP = columnsOf(NAMES, 'app')
const CHANGEABLE = Object.keys(microAppChanges.shape)

/** A secret that has not ended, with the dates that an operator sees. */
export interface LiveSecret extends SecretDates {
  readonly secret_hash: Buffer
}
export type MicroAppWithSecrets = MicroApp & { secrets: LiveSecret[] }

export interface NewSecret {
  readonly hash: Buffer
  readonly now: Date
}

/** One app by its primary key, for a join, as `a`; without `offset 0`, as joinedAccessToken. */
export const joinedMicroApp = (appKey: Fragment): Fragment => sql.part`micro_app a on a.app_key = ${appKey}`

/** The app and its first secret in one statement; undefined when the app_key is taken. */
export const insertMicroApp = (
  db: Db,
  app: NewMicroApp & { app_key: string },
  { hash, now }: NewSecret,
): Promise<MicroApp | undefined> =>
  db.maybe(
    microApp,
    sql`with app as (
      insert into micro_app (${COLUMNS}) values (${valuesOf({ ...app, created_at: now, updated_at: now }, NAMES)})
      on conflict (app_key) do nothing
      returning ${COLUMNS}
    ), secret as (
      insert into micro_app_secret (app_key, secret_hash, created_at) select app_key, ${hash}, created_at from app
    )
    select ${COLUMNS} from app`,
  )

/** Of approved apps. */
export const findOrigins = async (db: Db): Promise<string[]> =>
  (
    await db.many(
      z.object({ origin: z.string() }),
      sql`select distinct unnest(cors_origins) as origin from micro_app where status = 'approved'`,
    )
  ).map(({ origin }) => origin)

/** The app that a caller claims to be. */
interface Caller {
  readonly appKey: string
  /** The key of its failed attempts; null if they are not needed. */
  readonly subject: Buffer | null
}

const secretAndFailures = z.object({
  secret_hash: z.instanceof(Buffer).nullable(),
  secret_created_at: z.date().nullable(),
  ends_at: z.date().nullable(),
  last_used_at: z.date().nullable(),
  failures: z.number().nullable(),
  window_ends_at: z.date().nullable(),
})

/** All columns of micro_app are null where there is no such app. */
const callerRow = z.looseObject({ app_key: z.string().nullable() }).transform((row) => ({
  ...secretAndFailures.parse(row),
  app: row.app_key === null ? undefined : microApp.parse(row),
}))

const CALLER_FAILURES = failedAttemptByKey(sql.part`asked.subject`)

/** One row per secret, the current one first; one row if there is none. Every token request needs it. */
const callers: Batched<Caller, z.output<typeof callerRow>> = {
  row: callerRow,
  key: ({ appKey, subject }) => `${appKey}\n${subject?.toString('latin1')}`,
  duplicates: 'share',
  statement: (asked) =>
    sql`select asked.ordinal, ${COLUMNS_OF_APP},
          secret.secret_hash, secret.created_at as secret_created_at, secret.ends_at,
          secret.last_used_at, attempt.failures, attempt.window_ends_at
        from unnest(${asked.map((one) => one.appKey)}::text[], ${asked.map((one) => one.subject)}::bytea[])
          with ordinality as asked (app_key, subject, ordinal)
        left join micro_app app on app.app_key = asked.app_key
        left join lateral (
          select secret_hash, created_at, ends_at, last_used_at from micro_app_secret where app_key = app.app_key offset 0
        ) secret on true
        left join ${CALLER_FAILURES} attempt on true
        order by secret.ends_at desc nulls first`,
}

export interface AppWithFailures {
  readonly app: MicroAppWithSecrets | undefined
  /** Failures of the running window, if there are any. */
  readonly failures: Failures | undefined
}

export async function findAppWithFailures(db: Db, caller: Caller, now: Date): Promise<AppWithFailures> {
  const rows = await db.batch(callers, caller)
  const secrets = rows.flatMap(({ secret_hash, secret_created_at, ends_at, last_used_at }) =>
    secret_hash && secret_created_at && (ends_at === null || ends_at > now)
      ? [{ secret_hash, created_at: secret_created_at, ends_at, last_used_at }]
      : [],
  )
  const [{ app, failures = null, window_ends_at: windowEndsAt = null } = {}] = rows
  return {
    app: app && { ...app, secrets },
    failures:
      failures === null || windowEndsAt === null
        ? undefined
        : currentWindow({ failures, windowEndsAt }, now, CLIENT_WINDOW_S),
  }
}

export const findMicroApp = async (db: Db, appKey: string, now: Date): Promise<MicroAppWithSecrets | undefined> =>
  (await findAppWithFailures(db, { appKey, subject: null }, now)).app

export const updateMicroApp = (
  db: Db,
  appKey: string,
  changes: MicroAppChanges,
  now: Date,
): Promise<MicroApp | undefined> =>
  db.maybe(
    microApp,
    sql`update micro_app set ${assignmentsOf(changes, CHANGEABLE)}, updated_at = ${now}
    where app_key = ${appKey}
    returning ${COLUMNS}`,
  )

export const setStatus = (
  db: Db,
  appKey: string,
  status: MicroApp['status'],
  now: Date,
): Promise<MicroApp | undefined> =>
  db.maybe(
    microApp,
    sql`update micro_app set status = ${status}, updated_at = ${now} where app_key = ${appKey} returning ${COLUMNS}`,
  )

/** Locks the app, so that rotations of one app wait for one another; false when there is no such app. */
export const lockMicroApp = async (db: Db, appKey: string): Promise<boolean> =>
  (await db.exec(sql`select from micro_app where app_key = ${appKey} for update`)) === 1

/** The current secret gets an end; one that had an end already is deleted, so that at most two are live. */
export async function replaceSecret(db: Db, appKey: string, secret: NewSecret, oldEndsAt: Date): Promise<void> {
  await db.exec(sql`delete from micro_app_secret where app_key = ${appKey} and ends_at is not null`)
  await db.exec(sql`update micro_app_secret set ends_at = ${oldEndsAt} where app_key = ${appKey}`)
  await db.exec(
    sql`insert into micro_app_secret (app_key, secret_hash, created_at) values (${appKey}, ${secret.hash}, ${secret.now})`,
  )
}

interface SecretUse {
  readonly appKey: string
  readonly hash: Buffer
  readonly now: Date
  readonly notAfter: Date
}

const secretUses: Batched<SecretUse, unknown> = {
  row: z.unknown(),
  key: ({ hash }) => hash.toString('latin1'),
  duplicates: 'share',
  statement: (uses) =>
    sql`update micro_app_secret secret set last_used_at = use.now
        from unnest(${uses.map((use) => use.appKey)}::text[], ${uses.map((use) => use.hash)}::bytea[],
                    ${uses.map((use) => use.now)}::timestamptz[], ${uses.map((use) => use.notAfter)}::timestamptz[])
          with ordinality as use (app_key, secret_hash, now, not_after, ordinal)
        where secret.app_key = use.app_key and secret.secret_hash = use.secret_hash
          and (secret.last_used_at is null or secret.last_used_at <= use.not_after)
        returning use.ordinal`,
}

/** Dates the last use of a secret, unless it is dated later than `notAfter` already. */
export const touchSecret = async (db: Db, use: SecretUse): Promise<void> => {
  await db.batch(secretUses, use)
}
