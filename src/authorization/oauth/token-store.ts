import { z } from 'zod'
import { type Db, sql } from '../../platform/db/sql.ts'
import { GRANT_REVOKED_AT, grantRevocationJoins } from './grant-store.ts'

const facts = z.object({
  grant_id: z.string(),
  app_key: z.string(),
  cid: z.number(),
  user_id: z.string(),
  scopes: z.array(z.string()),
  /** When a code was exchanged, or a refresh token replaced. */
  used_at: z.date().nullable(),
  /** When its grant was revoked. */
  revoked_at: z.date().nullable(),
})
/** What an issued token belongs to. */
export type TokenFacts = z.output<typeof facts>

const TABLES = {
  'access token': sql.part`(select routing_key, grant_id, null::timestamptz as used_at, expires_at from access_token)`,
  'refresh token': sql.part`(select routing_key, grant_id, rotated_at as used_at, expires_at from refresh_token)`,
  code: sql.part`(
    select routing_key, grant_id, used_at, expires_at from authorization_code
    union all
    select routing_key, grant_id, used_at, expires_at from used_code)`,
} as const

const MAX_TOKENS = 20

/** Tokens that could start with this prefix: they share the routing key and the second of their expiry. */
export const tokensWithPrefix = (
  db: Db,
  kind: keyof typeof TABLES,
  routingKey: number,
  expiresAt: Date,
): Promise<TokenFacts[]> =>
  db.listWithCustomPlan(
    facts,
    sql`select g.grant_id, g.app_key, g.cid, g.user_id, g.scopes, t.used_at, ${GRANT_REVOKED_AT} as revoked_at
        from ${TABLES[kind]} t join user_grant g on g.routing_key = ${routingKey} and g.grant_id = t.grant_id
        ${grantRevocationJoins(sql.part`${routingKey}::int`)}
        where t.routing_key = ${routingKey} and t.expires_at = ${expiresAt} limit ${MAX_TOKENS}`,
  )
