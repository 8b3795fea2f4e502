import { z } from 'zod'
import { userByKey } from '../account/index.ts'
import type { Batched } from '../db/batch.ts'
import { type Db, sql } from '../db/sql.ts'
import { grantByKey } from './grant-store.ts'

/** The SQL of A1 and A2. Statements about one user are led by the routing key, so each touches one shard. */

const Made = z.object({ created_at: z.date(), revoked_at: z.date().nullable() })

export interface NewGrant {
  readonly routingKey: number
  readonly grantId: string
  readonly cid: number
  readonly userId: string
  readonly appKey: string
  readonly scopes: readonly string[]
  readonly signIn: SignInOfGrant | null
}

/** What an id_token says of the sign-in behind a grant. */
export interface SignInOfGrant {
  /** When the person last proved who they are. */
  readonly at: Date
  readonly nonce: string | null
  /** Names the browser session, without being its id. */
  readonly sid: string
}

/** Dates of the grant. When the same consent form is posted again they are those of the first time. */
export const ensureGrant = (db: Db, grant: NewGrant, now: Date): Promise<z.infer<typeof Made>> =>
  db.one(
    Made,
    sql`insert into user_grant
          (routing_key, grant_id, cid, user_id, app_key, scopes, created_at, auth_time, nonce, sid)
        values (${grant.routingKey}, ${grant.grantId}, ${grant.cid}, ${grant.userId}, ${grant.appKey}, ${grant.scopes}, ${now},
                ${grant.signIn?.at ?? null}, ${grant.signIn?.nonce ?? null}, ${grant.signIn?.sid ?? null})
        on conflict (routing_key, grant_id) do update set grant_id = excluded.grant_id
        returning created_at, revoked_at`,
  )

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
  const usable = await db.maybe(
    z.object({ usable: z.boolean() }),
    sql`insert into authorization_code
          (routing_key, code_hash, grant_id, app_key, redirect_uri, state, code_challenge, expires_at)
        values (${code.routingKey}, ${code.codeHash}, ${code.grantId}, ${code.appKey}, ${code.redirectUri},
                ${code.state}, ${code.codeChallenge}, ${code.expiresAt})
        on conflict (routing_key, code_hash) do update set expires_at = excluded.expires_at
        returning used_at is null and expires_at > ${now} as usable`,
  )
  return usable?.usable ?? false
}

const FoundCode = z.object({
  grant_id: z.string(),
  app_key: z.string(),
  redirect_uri: z.string(),
  state: z.string(),
  code_challenge: z.string().nullable(),
  expires_at: z.date(),
  used_at: z.date().nullable(),
  revoked_at: z.date().nullable(),
  user_status: z.string(),
  scopes: z.array(z.string()),
  spent: z.boolean(),
})
export type FoundCode = z.infer<typeof FoundCode>

export interface Exchange {
  readonly routingKey: number
  readonly codeHash: Buffer
  readonly appKey: string
  readonly redirectUri: string
  /** Null where it is not compared. */
  readonly state: string | null
  /** S256 of the verifier that came with the exchange; null without one, as a code without a challenge demands. */
  readonly codeChallenge: string | null
  readonly accessHash: Buffer
  readonly accessExpiresAt: Date
  readonly refreshHash: Buffer
  readonly refreshExpiresAt: Date
  /** Without this scope no refresh token is issued; null: one always is. */
  readonly refreshScope: string | null
}

const GRANT = grantByKey(sql.part`c.routing_key`, sql.part`c.grant_id`)
const USER = userByKey(sql.part`g.routing_key`, sql.part`g.cid`, sql.part`g.user_id`)

/**
 * Spends each code and issues its tokens, or changes nothing for it. The conditional update decides, so of simultaneous
 * exchanges exactly one gets `spent`. The rest of the row is as it was before and says why a code was not spent.
 */
const exchanges: Batched<Exchange & { now: Date }, FoundCode> = {
  row: FoundCode,
  key: ({ codeHash }) => codeHash.toString('latin1'),
  duplicates: 'serialize',
  // The code is joined, not fenced off: one row is then expected, and the update looks it up by its key.
  statement: (asked) =>
    sql`with asked as (
          select routing_key, code_hash, now, by_app, with_redirect_uri, with_state,
            with_challenge, access_hash, access_expires_at, refresh_hash, refresh_expires_at, refresh_scope, ordinal
          from unnest(
            ${asked.map((one) => one.routingKey)}::int[], ${asked.map((one) => one.codeHash)}::bytea[],
            ${asked.map((one) => one.now)}::timestamptz[], ${asked.map((one) => one.appKey)}::text[],
            ${asked.map((one) => one.redirectUri)}::text[], ${asked.map((one) => one.state)}::text[],
            ${asked.map((one) => one.codeChallenge)}::text[],
            ${asked.map((one) => one.accessHash)}::bytea[], ${asked.map((one) => one.accessExpiresAt)}::timestamptz[],
            ${asked.map((one) => one.refreshHash)}::bytea[], ${asked.map((one) => one.refreshExpiresAt)}::timestamptz[],
            ${asked.map((one) => one.refreshScope)}::text[])
          with ordinality as asked (routing_key, code_hash, now, by_app, with_redirect_uri, with_state, with_challenge,
            access_hash, access_expires_at, refresh_hash, refresh_expires_at, refresh_scope, ordinal)
        ), found as (
          select asked.routing_key, asked.code_hash, asked.now, asked.by_app, asked.with_redirect_uri, asked.with_state,
                 asked.with_challenge, asked.access_hash, asked.access_expires_at, asked.refresh_hash, asked.refresh_expires_at, asked.refresh_scope,
                 asked.ordinal,
                 c.grant_id, c.app_key, c.redirect_uri, c.state, c.code_challenge, c.expires_at, c.used_at,
                 g.scopes, g.revoked_at, p.status as user_status
          from asked
          join authorization_code c on c.routing_key = asked.routing_key and c.code_hash = asked.code_hash
          cross join ${GRANT} g
          cross join ${USER} p
        ), spent as (
          update authorization_code c set used_at = f.now
          from found f
          where c.routing_key = f.routing_key and c.code_hash = f.code_hash
            and c.used_at is null and c.expires_at > f.now and c.app_key = f.by_app
            and c.redirect_uri = f.with_redirect_uri and c.state = coalesce(f.with_state, c.state)
            and c.code_challenge is not distinct from f.with_challenge
            and f.user_status = 'active' and f.revoked_at is null
          returning f.routing_key, f.access_hash, f.access_expires_at, f.refresh_hash, f.refresh_expires_at,
            f.refresh_scope, f.grant_id, f.scopes, f.ordinal
        ), access as (
          insert into access_token (routing_key, token_hash, grant_id, scopes, expires_at)
          select routing_key, access_hash, grant_id, scopes, access_expires_at from spent
        ), refresh as (
          insert into refresh_token (routing_key, token_hash, grant_id, expires_at)
          select routing_key, refresh_hash, grant_id, refresh_expires_at from spent
          where refresh_scope is null or refresh_scope = any (scopes)
        )
        select ordinal, grant_id, app_key, redirect_uri, state, code_challenge, expires_at, used_at, revoked_at, user_status,
               scopes, ordinal in (select ordinal from spent) as spent
        from found`,
}

/** The code as it was before, and whether this exchange has spent it and issued its tokens. */
export const spendCode = async (db: Db, exchange: Exchange, now: Date): Promise<FoundCode | undefined> =>
  (await db.batch(exchanges, { ...exchange, now }))[0]

/** Counts an exchange that did not match; the last one allowed spends the code. */
export const countFailedTry = (db: Db, routingKey: number, codeHash: Buffer, allowed: number, now: Date) =>
  db.exec(
    sql`update authorization_code
        set failed_tries = failed_tries + 1,
            used_at = case when failed_tries + 1 >= ${allowed} then ${now}::timestamptz end
        where routing_key = ${routingKey} and code_hash = ${codeHash} and used_at is null`,
  )

/** False when it was withdrawn already, or is another user's. */
export const revokeGrant = async (db: Db, routingKey: number, grantId: string, now: Date): Promise<boolean> =>
  (await db.exec(
    sql`update user_grant set revoked_at = ${now}
        where routing_key = ${routingKey} and grant_id = ${grantId} and revoked_at is null`,
  )) > 0
