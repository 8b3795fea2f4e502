import { z } from 'zod'
import { ofPerson, type UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Db, type Fragment, sql } from '../../platform/db/sql.ts'
import { userByKey } from '../account/index.ts'
import { joinedMicroApp } from '../registry/index.ts'
import type { SignInOfGrant } from './grant-store.ts'

/** The SQL of A1: the decision on a consent form, the remembered consent, the grant and its code. */

export type ConsentDecision = 'approve' | 'refuse'

interface FirstDecision {
  readonly routingKey: number
  readonly formId: string
  readonly decision: ConsentDecision
  /** By then the session that was shown the form has ended, and the decision may be deleted. */
  readonly expiresAt: Date
}

/** True for the first decision on a form; a concurrent one waits for its transaction to end. */
export const decideFirst = async (db: Db, { routingKey, formId, decision, expiresAt }: FirstDecision) =>
  (await db.of(routingKey).exec(
    sql`insert into consent_decision (routing_key, form_id, decision, expires_at)
        values (${routingKey}, ${formId}, ${decision}, ${expiresAt})
        on conflict (routing_key, form_id) do nothing`,
  )) === 1

export const findDecision = (db: Db, routingKey: number, formId: string): Promise<ConsentDecision | undefined> =>
  db
    .of(routingKey)
    .maybeValue(
      z.enum(['approve', 'refuse']),
      sql`select decision from consent_decision where routing_key = ${routingKey} and form_id = ${formId}`,
    )

/** Consents are remembered per person and app. */
export interface ConsentKey extends UserRowKey {
  readonly appKey: string
}

/** When everything of the user or the app was last revoked; consents remembered before then no longer count. */
const consentsRevokedAt = ({ routingKey, cid, userId, appKey }: ConsentKey) => sql.part`(
  select coalesce(greatest(p.valid_from, a.valid_from), '-infinity')
  from ${userByKey(sql.part`${routingKey}::int`, sql.part`${cid}::int`, sql.part`${userId}::text`)} p
  left join ${joinedMicroApp(sql.part`${appKey}::text`)})`

/**
 * Adds scopes to the remembered consent. A revoked one is deleted first, in a statement of its own because Citus takes no
 * subquery in an insert. Added scopes get the date of the ones before: everything of the app may be ending at this moment.
 */
export async function rememberConsent(
  db: Db,
  consent: ConsentKey & { readonly scopes: readonly string[] },
  now: Date,
): Promise<void> {
  const { routingKey, cid, userId, appKey, scopes } = consent
  const shard = db.of(routingKey)
  await shard.exec(
    sql`delete from remembered_consent
        where ${ofPerson(consent)} and app_key = ${appKey}
          and allowed_at <= ${consentsRevokedAt(consent)}`,
  )
  const others = scopes.reduce((kept, scope) => sql.part`array_remove(${kept}, ${scope})`, sql.part`known.scopes`)
  await shard.exec(
    sql`insert into remembered_consent as known (routing_key, cid, user_id, app_key, scopes, allowed_at)
        values (${routingKey}, ${cid}, ${userId}, ${appKey}, ${scopes}, ${now})
        on conflict (routing_key, cid, user_id, app_key) do update
        set scopes = ${others} || excluded.scopes,
            allowed_at = case when known.scopes <@ excluded.scopes then excluded.allowed_at else known.allowed_at end`,
  )
}

export const forgetConsent = (db: Db, consent: ConsentKey): Promise<number> =>
  db
    .of(consent.routingKey)
    .exec(sql`delete from remembered_consent where ${ofPerson(consent)} and app_key = ${consent.appKey}`)

const remembered = z.object({ scopes: z.array(z.string()), allowedAt: z.date() })

/** The scopes that this person is not asked for again, and when they were allowed. */
export const rememberedConsent = (db: Db, consent: ConsentKey): Promise<z.output<typeof remembered> | undefined> =>
  db.of(consent.routingKey).maybe(
    remembered,
    sql`select scopes, allowed_at as "allowedAt" from remembered_consent
        where ${ofPerson(consent)} and app_key = ${consent.appKey}
          and allowed_at > ${consentsRevokedAt(consent)}`,
  )

const GrantDates = z.object({ created_at: z.date(), revoked_at: z.date().nullable() })

export interface NewGrant extends UserRowKey {
  readonly grantId: string
  readonly appKey: string
  readonly scopes: readonly string[]
  readonly signIn: SignInOfGrant | null
  /** Of a silent grant: when the remembered consent was given that it rests on. The two end together. */
  readonly allowedAt: Date | null
}

const insertGrant = (
  { routingKey, grantId, cid, userId, appKey, scopes, signIn, allowedAt }: NewGrant,
  now: Date,
): Fragment =>
  sql.part`insert into user_grant
          (routing_key, grant_id, cid, user_id, app_key, scopes, created_at, auth_time, nonce, sid, acr, amr, silent,
           allowed_at)
        values (${routingKey}, ${grantId}, ${cid}, ${userId}, ${appKey}, ${scopes}, ${now},
                ${signIn?.auth_time ?? null}, ${signIn?.nonce ?? null}, ${signIn?.sid ?? null}, ${signIn?.acr ?? null},
                ${signIn?.amr ?? null}, ${allowedAt !== null}, ${allowedAt})
        on conflict (routing_key, grant_id) do update set grant_id = excluded.grant_id
        returning created_at, revoked_at`

/** The dates of the grant: those of the first time if the same consent form is posted again. */
export const ensureGrant = (db: Db, grant: NewGrant, now: Date): Promise<z.infer<typeof GrantDates>> =>
  db
    .of(grant.routingKey)
    .one(
      GrantDates,
      grant.allowedAt ? sql`${withoutOldestSilent(grant)} ${insertGrant(grant, now)}` : sql`${insertGrant(grant, now)}`,
    )

/** How many silent grants with unexchanged codes one browser session may have at one app. */
const MAX_SILENT_GRANTS = 50

/**
 * Deletes the oldest silent grants of the same person, app and browser session whose code was never exchanged, beyond
 * MAX_SILENT_GRANTS: any page can make a browser create another one. They are found by their codes, which are kept for a day:
 * an app that renews its tokens silently has thousands of grants. A grant with tokens stays, since only the app can
 * create those and no page may end them. Skips rows that another request is deleting.
 */
const withoutOldestSilent = (grant: NewGrant): Fragment => sql.part`
  with held as (
    select g.grant_id from user_grant g
    where g.routing_key = ${grant.routingKey} and g.grant_id = any (array(
      select u.grant_id from authorization_code c
      cross join lateral (
        select cid, user_id, grant_id, app_key, silent, sid, created_at from user_grant
        where routing_key = ${grant.routingKey} and grant_id = c.grant_id offset 0
      ) u
      where c.routing_key = ${grant.routingKey} and c.used_at is null
        and u.cid = ${grant.cid} and u.user_id = ${grant.userId} and u.app_key = ${grant.appKey}
        and u.silent and u.sid = ${grant.signIn?.sid ?? null}
      order by u.created_at desc, u.grant_id offset ${MAX_SILENT_GRANTS - 1}))
    for update skip locked
  ), gone as (
    delete from user_grant g where g.routing_key = ${grant.routingKey} and g.grant_id = any (array(select grant_id from held))
  ), unused as (
    delete from authorization_code c
    where c.routing_key = ${grant.routingKey} and c.grant_id = any (array(select grant_id from held))
  )`

export interface NewCode {
  readonly routingKey: number
  readonly codeHash: Buffer
  readonly grantId: string
  readonly appKey: string
  readonly redirectUri: string
  readonly state: string
  readonly codeChallenge: string | null
  readonly expiresAt: Date
}

/** False if this code exists already and can no longer be used. */
export const ensureCode = (db: Db, code: NewCode, now: Date): Promise<boolean> =>
  db.of(code.routingKey).value(
    z.boolean(),
    sql`insert into authorization_code
          (routing_key, code_hash, grant_id, app_key, redirect_uri, state, code_challenge, expires_at)
        values (${code.routingKey}, ${code.codeHash}, ${code.grantId}, ${code.appKey}, ${code.redirectUri},
                ${code.state}, ${code.codeChallenge}, ${code.expiresAt})
        on conflict (routing_key, code_hash) do update set expires_at = excluded.expires_at
        returning used_at is null and expires_at > ${now} as usable`,
  )

/** The one of these codes that has been issued, if any. */
export const findIssued = (db: Db, routingKey: number, hashes: readonly Buffer[]): Promise<Buffer | undefined> =>
  db.of(routingKey).maybeValue(
    z.instanceof(Buffer),
    sql`select code_hash from authorization_code
        where routing_key = ${routingKey} and code_hash = any (${hashes}::bytea[])`,
  )
