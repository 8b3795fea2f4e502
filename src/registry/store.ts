import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'
import { type MicroApp, type MicroAppChanges, microApp, type NewMicroApp } from './wire.ts'

// Inside a JSON aggregate bytea and timestamps are text.
const date = z.union([z.null(), z.coerce.date()])
const liveSecret = z.object({
  secret_hash: z.string().transform((hex) => Buffer.from(hex, 'hex')),
  created_at: z.coerce.date(),
  ends_at: date,
  last_used_at: date,
})
export type LiveSecret = z.output<typeof liveSecret>
const microAppWithSecrets = microApp.extend({ secrets: z.array(liveSecret) })
export type MicroAppWithSecrets = z.output<typeof microAppWithSecrets>

export interface NewSecret {
  readonly hash: Buffer
  readonly now: Date
}

/** The app and its first secret in one statement; undefined when the app_key is taken. */
export const insertMicroApp = (
  db: Db,
  app: NewMicroApp & { app_key: string },
  { hash, now }: NewSecret,
): Promise<MicroApp | undefined> =>
  db.maybe(
    microApp,
    sql`with app as (
      insert into micro_app (app_key, name, logo_url, status, hosts, redirect_uris, scopes, refresh_days, refresh_policy,
        http_allowed, created_at, updated_at)
      values (${app.app_key}, ${app.name}, ${app.logo_url}, ${app.status}, ${app.hosts}, ${app.redirect_uris},
        ${app.scopes}, ${app.refresh_days}, ${app.refresh_policy}, ${app.http_allowed}, ${now}, ${now})
      on conflict (app_key) do nothing
      returning *
    ), secret as (
      insert into micro_app_secret (app_key, secret_hash, created_at) select app_key, ${hash}, created_at from app
    )
    select * from app`,
  )

export const listMicroApps = (db: Db): Promise<MicroApp[]> =>
  db.many(microApp, sql`select * from micro_app order by created_at, app_key`)

/** One statement: it is on the path of every token request. */
export const findMicroApp = (db: Db, appKey: string, now: Date): Promise<MicroAppWithSecrets | undefined> =>
  db.maybe(
    microAppWithSecrets,
    sql`select app.*, coalesce(live.secrets, '[]') as secrets
    from micro_app app
    left join lateral (
      select jsonb_agg(jsonb_build_object('secret_hash', encode(secret_hash, 'hex'), 'created_at', created_at,
        'ends_at', ends_at, 'last_used_at', last_used_at) order by ends_at desc nulls first) as secrets
      from micro_app_secret
      where app_key = app.app_key and (ends_at is null or ends_at > ${now})
    ) live on true
    where app.app_key = ${appKey}`,
  )

export const updateMicroApp = (
  db: Db,
  appKey: string,
  changes: MicroAppChanges,
  now: Date,
): Promise<MicroApp | undefined> =>
  db.maybe(
    microApp,
    sql`update micro_app set
      name = coalesce(${changes.name}, name),
      logo_url = case when ${changes.logo_url !== undefined} then ${changes.logo_url} else logo_url end,
      hosts = coalesce(${changes.hosts}, hosts),
      redirect_uris = coalesce(${changes.redirect_uris}, redirect_uris),
      scopes = coalesce(${changes.scopes}, scopes),
      refresh_days = coalesce(${changes.refresh_days}, refresh_days),
      refresh_policy = coalesce(${changes.refresh_policy}, refresh_policy),
      http_allowed = coalesce(${changes.http_allowed}, http_allowed),
      updated_at = ${now}
    where app_key = ${appKey}
    returning *`,
  )

export const setStatus = (
  db: Db,
  appKey: string,
  status: MicroApp['status'],
  now: Date,
): Promise<MicroApp | undefined> =>
  db.maybe(
    microApp,
    sql`update micro_app set status = ${status}, updated_at = ${now} where app_key = ${appKey} returning *`,
  )

/** Makes rotations of one app wait for each other; false when there is no such app. */
export const lockMicroApp = async (db: Db, appKey: string): Promise<boolean> =>
  (await db.exec(sql`select from micro_app where app_key = ${appKey} for update`)) === 1

/** The secret in force gets an end; one that had an end already is over, so that two at most are live. */
export async function replaceSecret(db: Db, appKey: string, secret: NewSecret, oldEndsAt: Date): Promise<void> {
  await db.exec(sql`delete from micro_app_secret where app_key = ${appKey} and ends_at is not null`)
  await db.exec(sql`update micro_app_secret set ends_at = ${oldEndsAt} where app_key = ${appKey}`)
  await db.exec(
    sql`insert into micro_app_secret (app_key, secret_hash, created_at) values (${appKey}, ${secret.hash}, ${secret.now})`,
  )
}

export const touchSecret = (db: Db, appKey: string, hash: Buffer, now: Date, notAfter: Date): Promise<number> =>
  db.exec(
    sql`update micro_app_secret set last_used_at = ${now}
    where app_key = ${appKey} and secret_hash = ${hash} and (last_used_at is null or last_used_at <= ${notAfter})`,
  )
