import { z } from 'zod'
import type { Batched } from '../../platform/db/batch.ts'
import { columnsOf } from '../../platform/db/record-fields.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import type { SecretDates } from '../../platform/lib/crypto/generated-secret.ts'
import { type DerivedKeys, fingerprintOf, hashSecret, type Keys } from '../../platform/lib/crypto/keys.ts'
import { CLIENT_WINDOW_S, currentWindow, type Failures, failedAttemptByKey } from '../../platform/throttle/index.ts'
import { APP_KEY } from './micro-app-fields.ts'
import { type CallingApp, callingApp } from './wire.ts'

/** The secrets of micro-apps, and the look-up of a calling app with them. */

/** A secret that still works, with the dates that operators see. */
export interface LiveSecret extends SecretDates {
  readonly secret_hash: Buffer
}
export interface NewSecret {
  readonly hash: Buffer
  /** Fingerprint of the SECRET_KEY that it is hashed with. */
  readonly hashedWith: Buffer
  readonly now: Date
}

/** Undefined if the app has no secret. */
export const secretOfApp = z
  .object({
    secret_hash: z.instanceof(Buffer).nullable(),
    secret_created_at: z.date().nullable(),
    ends_at: z.date().nullable(),
    last_used_at: z.date().nullable(),
  })
  .transform(({ secret_hash, secret_created_at: created_at, ends_at, last_used_at }): LiveSecret | undefined =>
    secret_hash && created_at ? { secret_hash, created_at, ends_at, last_used_at } : undefined,
  )

/** A statement's columns for `secretOfApp`, and its join with the secrets of `app`. */
export const SECRET_COLUMNS = sql.part`secret.secret_hash, secret.created_at as secret_created_at, secret.ends_at,
          secret.last_used_at`
export const SECRETS_OF_APP = sql.part`left join lateral (
          select secret_hash, created_at, ends_at, last_used_at from micro_app_secret where app_key = app.app_key offset 0
        ) secret on true`

export const liveSecrets = (
  rows: readonly { readonly secret: z.output<typeof secretOfApp> }[],
  now: Date,
): LiveSecret[] =>
  rows
    .map(({ secret }) => secret)
    .filter((secret): secret is LiveSecret => secret !== undefined && (secret.ends_at === null || secret.ends_at > now))

/** The app that a caller claims to be. */
export interface Caller {
  readonly appKey: string
  readonly countedBy: string
  /** The database key for `countedBy`, derived once for all callers that share a look-up. */
  readonly subject: () => Buffer
}

const attempts = z.object({ failures: z.number().nullable(), window_ends_at: z.date().nullable() })

/** All columns of micro_app are null where there is no such app. */
const callerRow = z.looseObject({ app_key: z.string().nullable() }).transform((row) => ({
  ...attempts.parse(row),
  secret: secretOfApp.parse(row),
  app: row.app_key === null ? undefined : callingApp.parse(row),
}))

const COLUMNS_OF_CALLER = columnsOf(Object.keys(callingApp.shape), 'app')
const CALLER_FAILURES = failedAttemptByKey(sql.part`asked.subject`)

/** No app has the empty app_key. */
const ASKED = ({ appKey, subject }: Caller) =>
  sql.part`${APP_KEY.test(appKey) ? appKey : ''}::text as app_key, ${subject()}::bytea as subject`

/** One row per secret, the current one first; one row if there is none. Every token request needs it. */
const callers: Batched<Caller, z.output<typeof callerRow>> = {
  row: callerRow,
  key: ({ countedBy }) => countedBy,
  duplicates: 'share',
  statement: (asked) =>
    sql`select asked.ordinal, ${COLUMNS_OF_CALLER}, ${SECRET_COLUMNS}, attempt.failures, attempt.window_ends_at
        from ${sql.rows('asked', asked, ASKED)}
        left join micro_app app on app.app_key = asked.app_key
        ${SECRETS_OF_APP}
        left join ${CALLER_FAILURES} attempt on true
        order by secret.ends_at desc nulls first`,
}

export interface AppWithFailures {
  readonly app: CallingApp | undefined
  readonly secrets: readonly LiveSecret[]
  /** Of the current window, if there are any. */
  readonly failures: Failures | undefined
}

export async function findAppWithFailures(db: Db, caller: Caller, now: Date): Promise<AppWithFailures> {
  const rows = await db.batch(callers, caller)
  const [{ app, failures = null, window_ends_at: windowEndsAt = null } = {}] = rows
  return {
    app,
    secrets: liveSecrets(rows, now),
    failures:
      failures === null || windowEndsAt === null
        ? undefined
        : currentWindow({ failures, windowEndsAt }, now, CLIENT_WINDOW_S),
  }
}

interface Replaced {
  /** End at once. */
  readonly ended: readonly LiveSecret[]
  /** The others end then, or earlier if they already do. */
  readonly othersEndAt: Date
}

export async function replaceSecret(db: Db, appKey: string, secret: NewSecret, { ended, othersEndAt }: Replaced) {
  const hashes = ended.map(({ secret_hash }) => secret_hash)
  await db.exec(
    sql`delete from micro_app_secret
        where app_key = ${appKey} and (secret_hash = any (${hashes}::bytea[]) or ends_at <= ${secret.now})`,
  )
  await db.exec(
    sql`update micro_app_secret set ends_at = least(ends_at, ${othersEndAt}::timestamptz) where app_key = ${appKey}`,
  )
  await db.exec(
    sql`insert into micro_app_secret (app_key, secret_hash, hashed_with, created_at)
        values (${appKey}, ${secret.hash}, ${secret.hashedWith}, ${secret.now})`,
  )
}

export const deleteSecrets = (db: Db, appKey: string): Promise<number> =>
  db.exec(sql`delete from micro_app_secret where app_key = ${appKey}`)

interface SecretUse {
  readonly appKey: string
  readonly hash: Buffer
  readonly now: Date
  readonly notAfter: Date
}

const USE = (input: SecretUse) => sql.part`
  ${input.appKey}::text as app_key, ${input.hash}::bytea as secret_hash, ${input.now}::timestamptz as now,
  ${input.notAfter}::timestamptz as not_after`

/** Made once, as only then is the statement's text kept. */
const SECRET_IN_USE = sql.sameKey('secret', 'use', ['app_key', 'secret_hash'])

const secretUses: Batched<SecretUse, unknown> = {
  row: z.unknown(),
  key: ({ hash }) => hash.toString('latin1'),
  duplicates: 'share-write',
  statement: (uses) =>
    sql`update micro_app_secret secret set last_used_at = use.now
        from ${sql.rows('use', uses, USE)}
        where ${SECRET_IN_USE}
          and (secret.last_used_at is null or secret.last_used_at <= use.not_after)
        returning use.ordinal`,
}

/** Records the use of a secret, unless its last use is after `notAfter`. */
export const touchSecret = async (db: Db, use: SecretUse): Promise<void> => {
  await db.batch(secretUses, use)
}

const ending = z.object({ app_key: z.string(), created_at: z.date(), ends_at: z.date() })

/**
 * Marks secrets that end by `until` as announced and returns them, each to one caller only, which notifies the app in the
 * same transaction. Citus cannot lock rows of a join with micro_app beforehand, so two callers may lock rows in opposite
 * order; PostgreSQL then aborts one of them, whose job runs again.
 */
export const takeEndingSecrets = (
  db: Db,
  { now, until, limit }: { readonly now: Date; readonly until: Date; readonly limit: number },
): Promise<z.output<typeof ending>[]> =>
  db.listWithCustomPlan(
    ending,
    sql`update micro_app_secret secret set end_told = true
        from (select s.app_key, s.secret_hash from micro_app_secret s join micro_app a using (app_key)
              where not s.end_told and s.ends_at > ${now} and s.ends_at <= ${until} and a.webhook_url is not null
              order by s.ends_at limit ${limit}) due
        where secret.app_key = due.app_key and secret.secret_hash = due.secret_hash and not secret.end_told
        returning secret.app_key, secret.created_at, secret.ends_at`,
  )

export const newSecret = (keys: DerivedKeys, secret: string, now: Date): NewSecret => ({
  hash: hashSecret(keys, secret),
  hashedWith: fingerprintOf(keys),
  now,
})

interface Rehashed {
  readonly appKey: string
  readonly hash: Buffer
  readonly rehashed: Buffer
  readonly hashedWith: Buffer
}

/** Of several concurrent calls, the first one does it. */
export const rehashSecret = (db: Db, { appKey, hash, rehashed, hashedWith }: Rehashed): Promise<number> =>
  db.exec(
    sql`update micro_app_secret set secret_hash = ${rehashed}, hashed_with = ${hashedWith}
        where app_key = ${appKey} and secret_hash = ${hash}`,
  )

const unused = z.object({ total: z.number(), apps: z.number(), app_keys: z.array(z.string()) })

/** Counts live secrets hashed with an old SECRET_KEY and their apps, and names up to `named` of the apps. */
export const secretsOfOldKeys = (db: Db, { newest }: Keys, now: Date, named: number) =>
  db.one(
    unused,
    sql`with old as (
          select app_key from micro_app_secret
          where hashed_with <> ${fingerprintOf(newest)} and (ends_at is null or ends_at > ${now})
        )
        select (select count(*)::int from old) as total, (select count(distinct app_key)::int from old) as apps,
          array(select distinct app_key from old order by app_key limit ${named}) as app_keys`,
  )
