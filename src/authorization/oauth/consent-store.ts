import { z } from 'zod'
import { ofPerson, type UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Db, type Fragment, sql } from '../../platform/db/sql.ts'
import { userByKey } from '../account/index.ts'
import { joinedMicroApp } from '../registry/index.ts'

/**
 * The SQL of A1: the decision on a consent form, what is remembered of it, the grant and its code. Statements about one user
 * are led by the routing key, so each touches one shard.
 */

export type ConsentDecision = 'approve' | 'refuse'

interface FirstDecision {
  readonly routingKey: number
  readonly formId: string
  readonly decision: ConsentDecision
  /** When the session that was shown the form has ended, and the decision may be deleted. */
  readonly expiresAt: Date
}

/** True for the first decision; later ones wait for its transaction to end. */
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

/** One consent that is remembered: of one person to one app. */
export interface ConsentKey extends UserRowKey {
  readonly appKey: string
}

/** When everything of the user or the app was revoked last: what was remembered until then no longer counts. */
const consentsRevokedAt = ({ routingKey, cid, userId, appKey }: ConsentKey) => sql.part`(
  select coalesce(greatest(p.valid_from, a.valid_from), '-infinity')
  from ${userByKey(sql.part`${routingKey}::int`, sql.part`${cid}::int`, sql.part`${userId}::text`)} p
  left join ${joinedMicroApp(sql.part`${appKey}::text`)})`

/**
 * Adds scopes to those remembered; what was revoked goes first, apart: Citus takes no subquery in an insert. Scopes of
 * before keep their date, and the new ones get it: everything of the app may be ending at this moment.
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

/** The scopes that this person need not be asked for, and when they were allowed. */
export const rememberedConsent = (db: Db, consent: ConsentKey): Promise<z.output<typeof remembered> | undefined> =>
  db.of(consent.routingKey).maybe(
    remembered,
    sql`select scopes, allowed_at as "allowedAt" from remembered_consent
        where ${ofPerson(consent)} and app_key = ${consent.appKey}
          and allowed_at > ${consentsRevokedAt(consent)}`,
  )

const Made = z.object({ created_at: z.date(), revoked_at: z.date().nullable() })

export interface NewGrant extends UserRowKey {
  readonly grantId: string
  readonly appKey: string
  readonly scopes: readonly string[]
  readonly signIn: SignInOfGrant | null
  /** When that was allowed which it rests on, where nobody was shown a consent page: they end together. */
  readonly allowedAt: Date | null
}

/** What an id_token says of the sign-in behind a grant. */
export interface SignInOfGrant {
  /** When the person last proved who they are. */
  readonly at: Date
  readonly nonce: string | null
  /** Names the browser session, without being its id. */
  readonly sid: string
  /** How the person did so; null where nobody asked. */
  readonly acr: string | null
  /** The factors (RFC 8176); null where it was a password alone. */
  readonly amr: readonly string[] | null
}

const inserted = (
  { routingKey, grantId, cid, userId, appKey, scopes, signIn, allowedAt }: NewGrant,
  now: Date,
): Fragment =>
  sql.part`insert into user_grant
          (routing_key, grant_id, cid, user_id, app_key, scopes, created_at, auth_time, nonce, sid, acr, amr, silent,
           allowed_at)
        values (${routingKey}, ${grantId}, ${cid}, ${userId}, ${appKey}, ${scopes}, ${now},
                ${signIn?.at ?? null}, ${signIn?.nonce ?? null}, ${signIn?.sid ?? null}, ${signIn?.acr ?? null},
                ${signIn?.amr ?? null}, ${allowedAt !== null}, ${allowedAt})
        on conflict (routing_key, grant_id) do update set grant_id = excluded.grant_id
        returning created_at, revoked_at`

/** Dates of the grant. When the same consent form is posted again they are those of the first time. */
export const ensureGrant = (db: Db, grant: NewGrant, now: Date): Promise<z.infer<typeof Made>> =>
  db
    .of(grant.routingKey)
    .one(Made, grant.allowedAt ? sql`${withoutOldest(grant)} ${inserted(grant, now)}` : sql`${inserted(grant, now)}`)

/** Silent grants that one browser session has at one app, of those whose code was not exchanged. */
const SILENT_GRANTS = 50

/**
 * Deletes the oldest silent grants of the same person, app and browser session whose code nobody has exchanged, so that the
 * newest SILENT_GRANTS of these are left: any page can have a browser make another one. A grant with tokens stays: only the
 * app makes these, and no page may end them. Rows that another request is deleting are left to it.
 */
const withoutOldest = (grant: NewGrant): Fragment => sql.part`
  with held as (
    select g.grant_id from user_grant g
    where g.routing_key = ${grant.routingKey} and g.grant_id = any (array(
      select u.grant_id from user_grant u
      where ${ofPerson(grant, 'u')} and u.app_key = ${grant.appKey}
        and u.silent and u.sid = ${grant.signIn?.sid ?? null}
        and exists (select 1 from authorization_code c
          where c.routing_key = ${grant.routingKey} and c.grant_id = u.grant_id and c.used_at is null)
      order by u.created_at desc, u.grant_id offset ${SILENT_GRANTS - 1}))
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

/** False when this very code exists and is not usable any more. */
export async function ensureCode(db: Db, code: NewCode, now: Date): Promise<boolean> {
  return (
    (await db.of(code.routingKey).maybeValue(
      z.boolean(),
      sql`insert into authorization_code
          (routing_key, code_hash, grant_id, app_key, redirect_uri, state, code_challenge, expires_at)
        values (${code.routingKey}, ${code.codeHash}, ${code.grantId}, ${code.appKey}, ${code.redirectUri},
                ${code.state}, ${code.codeChallenge}, ${code.expiresAt})
        on conflict (routing_key, code_hash) do update set expires_at = excluded.expires_at
        returning used_at is null and expires_at > ${now} as usable`,
    )) ?? false
  )
}

/** Which of these codes there is. */
export const findIssued = (db: Db, routingKey: number, hashes: readonly Buffer[]): Promise<Buffer | undefined> =>
  db.of(routingKey).maybeValue(
    z.instanceof(Buffer),
    sql`select code_hash from authorization_code
        where routing_key = ${routingKey} and code_hash = any (${hashes}::bytea[])`,
  )

const revoked = z.object({ app_key: z.string() })

/** Whose it was; undefined when it was revoked already, or is another user's. */
export const revokeGrant = (db: Db, routingKey: number, grantId: string, now: Date) =>
  db.of(routingKey).maybe(
    revoked,
    sql`update user_grant set revoked_at = ${now}
        where routing_key = ${routingKey} and grant_id = ${grantId} and revoked_at is null
        returning app_key`,
  )
