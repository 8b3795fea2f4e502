import { z } from 'zod'
import type { Batched } from '../../platform/db/batch.ts'
import { type Db, type Fragment, sql } from '../../platform/db/sql.ts'
import { userByKey } from '../account/index.ts'
import { joinedMicroApp } from '../registry/index.ts'
import { grantByKey, grantedAmong, revokedAt } from './grant-store.ts'
import { type Issued, issuing, type NewToken } from './issue-store.ts'

/** The SQL of A3. Rows are as they were before the statement; `issued` says whether this call issued tokens. */

const FoundRefresh = z.object({
  grant_id: z.string(),
  rotated_at: z.date().nullable(),
  revoked_at: z.date().nullable(),
  user_status: z.string(),
  scopes: z.array(z.string()),
  issued: z.boolean(),
})
export type FoundRefresh = z.infer<typeof FoundRefresh>

export interface Refresh {
  readonly routingKey: number
  readonly refreshHash: Buffer
  /** The new access token gets no other scopes than these. */
  readonly appScopes: readonly string[]
  readonly accessToken: NewToken
  readonly appValidFrom: Date | null
}

const ASKED = (input: Refresh) => sql.part`
  ${input.routingKey}::int as routing_key, ${input.refreshHash}::bytea as refresh_hash,
  ${input.appScopes.join(' ')}::text as app_scopes, ${input.appValidFrom}::timestamptz as app_valid_from,
  ${input.accessToken.hash}::bytea as access_hash, ${input.accessToken.expiresAt}::timestamptz as access_expires_at`
const SCOPES = grantedAmong(sql.part`string_to_array(asked.app_scopes, ' ')`)
const GRANT = grantByKey(sql.part`asked.routing_key`, sql.part`r.grant_id`)
const USER = userByKey(sql.part`asked.routing_key`, sql.part`g.cid`, sql.part`g.user_id`)
const REVOKED_AT = revokedAt(sql.part`p.valid_from`, sql.part`asked.app_valid_from`)

/** Whether a refresh token gets a new access token. */
const IS_VALID = sql.part`rotated_at is null and revoked_at is null and user_status = 'active' and scopes <> '{}'`
const ACCESS_TOKEN = sql.part`, issued as (
          insert into access_token (routing_key, token_hash, grant_id, scopes, expires_at)
          select routing_key, access_hash, grant_id, scopes, access_expires_at from found where ${IS_VALID}
        )`
/** In place of the inserts, for `issuing`. */
const NOTHING = sql.part``

const extending = (tokens: Fragment): Batched<Refresh, FoundRefresh> => ({
  row: FoundRefresh,
  key: ({ accessToken }) => accessToken.hash.toString('latin1'),
  duplicates: 'serialize',
  statement: (asked) =>
    sql`with found as (
          select asked.ordinal, asked.routing_key, asked.access_hash, asked.access_expires_at, r.grant_id, r.rotated_at,
                 ${SCOPES} as scopes, ${REVOKED_AT} as revoked_at, p.status as user_status
          from ${sql.rows('asked', asked, ASKED)}
          cross join lateral (
            select grant_id, rotated_at from refresh_token
            where routing_key = asked.routing_key and token_hash = asked.refresh_hash offset 0
          ) r
          cross join ${GRANT} g
          cross join ${USER} p
        )${tokens}
        select ordinal, grant_id, rotated_at, revoked_at, user_status, scopes, ${IS_VALID} as issued from found`,
})

const accessTokenOf = (
  { routingKey, accessToken: access }: Refresh,
  { grant_id: grantId, scopes, issued }: FoundRefresh,
): Issued | undefined => (issued ? { routingKey, grantId, scopes, access } : undefined)

/** Policy fixed: one more access token for each valid refresh token; for others, the columns say why not. */
export const refreshFixed = issuing(extending(ACCESS_TOKEN), extending(NOTHING), accessTokenOf)

export interface RefreshRotation extends Refresh {
  readonly now: Date
  readonly successor: NewToken
}

const ROTATED = (input: RefreshRotation) => sql.part`
  ${input.routingKey}::int as routing_key, ${input.refreshHash}::bytea as token_hash, ${input.now}::timestamptz as now,
  ${input.appScopes.join(' ')}::text as app_scopes, ${input.appValidFrom}::timestamptz as app_valid_from,
  ${input.accessToken.hash}::bytea as access_hash, ${input.accessToken.expiresAt}::timestamptz as access_expires_at,
  ${input.successor.hash}::bytea as successor_hash, ${input.successor.expiresAt}::timestamptz as successor_expires_at`

const SUCCESSORS = sql.part`, access as (
          insert into access_token (routing_key, token_hash, grant_id, scopes, expires_at)
          select routing_key, access_hash, grant_id, scopes, access_expires_at from issued
        ), successor as (
          insert into refresh_token (routing_key, token_hash, grant_id, expires_at)
          select routing_key, successor_hash, grant_id, successor_expires_at from issued
        )`

const TOKEN_KEY = ['routing_key', 'token_hash'] as const
/** Made once, as only then are the texts of statements kept. */
const [ASKED_TOKEN, FOUND_TOKEN] = [sql.sameKey('r', 'asked', TOKEN_KEY), sql.sameKey('r', 'f', TOKEN_KEY)]

const rotating = (successors: Fragment): Batched<RefreshRotation, FoundRefresh> => ({
  row: FoundRefresh,
  key: ({ refreshHash }) => refreshHash.toString('latin1'),
  duplicates: 'serialize',
  statement: (asked) =>
    sql`with found as (
          select asked.routing_key, asked.token_hash, asked.now, asked.access_hash, asked.access_expires_at, asked.successor_hash,
                 asked.successor_expires_at, asked.ordinal,
                 r.grant_id, r.rotated_at, ${SCOPES} as scopes, ${REVOKED_AT} as revoked_at, p.status as user_status
          from ${sql.rows('asked', asked, ROTATED)}
          join refresh_token r on ${ASKED_TOKEN}
          cross join ${GRANT} g
          cross join ${USER} p
        ), issued as (
          update refresh_token r set rotated_at = f.now
          from found f
          where ${FOUND_TOKEN} and r.rotated_at is null
            and f.revoked_at is null and f.user_status = 'active' and f.scopes <> '{}'
          returning f.routing_key, f.access_hash, f.access_expires_at, f.successor_hash, f.successor_expires_at, f.grant_id,
            f.scopes, f.ordinal
        )${successors}
        select ordinal, grant_id, rotated_at, revoked_at, user_status, scopes, ordinal in (select ordinal from issued) as issued
        from found`,
})

const successorsOf = (asked: RefreshRotation, row: FoundRefresh): Issued | undefined => {
  const access = accessTokenOf(asked, row)
  return access && { ...access, refresh: asked.successor }
}

/** Policy rotating: marks each valid refresh token as rotated, at most once, and issues its successors. */
export const rotateRefresh = issuing(rotating(SUCCESSORS), rotating(NOTHING), successorsOf)

/** The scopes of an access token; undefined if it does not exist. */
export const accessTokenScopes = (db: Db, routingKey: number, accessHash: Buffer) =>
  db
    .of(routingKey)
    .maybeValue(
      z.array(z.string()),
      sql`select scopes from access_token where routing_key = ${routingKey} and token_hash = ${accessHash}`,
    )

/** Reads a refresh token without changing it. */
export const findRefresh = (db: Db, routingKey: number, refreshHash: Buffer, appScopes: readonly string[]) =>
  db.of(routingKey).maybe(
    FoundRefresh,
    sql`select r.grant_id, r.rotated_at, ${revokedAt(sql.part`p.valid_from`, sql.part`a.valid_from`)} as revoked_at,
               p.status as user_status, false as issued, ${grantedAmong(sql.part`${appScopes}::text[]`)} as scopes
        from refresh_token r
        cross join ${grantByKey(sql.part`${routingKey}`, sql.part`r.grant_id`)} g
        cross join ${userByKey(sql.part`${routingKey}`, sql.part`g.cid`, sql.part`g.user_id`)} p
        left join ${joinedMicroApp(sql.part`g.app_key`)}
        where r.routing_key = ${routingKey} and r.token_hash = ${refreshHash}`,
  )
