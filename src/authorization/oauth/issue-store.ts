import { type Db, sql } from '../../platform/db/sql.ts'

/** Tokens that are written by statements of their own, where people are in shards (src/platform/db/in-parts.ts). */

interface NewToken {
  readonly hash: Buffer
  readonly expiresAt: Date
}

export interface Issued {
  readonly routingKey: number
  readonly grantId: string
  readonly scopes: readonly string[]
  readonly access: NewToken
  readonly refresh?: NewToken | undefined
}

const ACCESS = ({ routingKey, grantId, scopes, access }: Issued) => sql.part`
  ${routingKey}::int as routing_key, ${access.hash}::bytea as token_hash, ${grantId}::uuid as grant_id,
  ${scopes.join(' ')}::text as scopes, ${access.expiresAt}::timestamptz as expires_at`
const REFRESH = ({ routingKey, grantId, refresh }: Issued) => sql.part`
  ${routingKey}::int as routing_key, ${refresh?.hash}::bytea as token_hash, ${grantId}::uuid as grant_id,
  ${refresh?.expiresAt}::timestamptz as expires_at`

const OF_GRANT = sql.part`
  join user_grant g on g.routing_key = issued.routing_key and g.grant_id = issued.grant_id`

/**
 * Joined with their grants they are statements of the shard: rows that only come along Citus would collect first, then copy to
 * the shard, and commit in two phases.
 */
export async function insertTokens(db: Db, issued: readonly Issued[]): Promise<void> {
  const refreshed = issued.filter(({ refresh }) => refresh)
  const accessTokens = () =>
    db.exec(
      sql`insert into access_token (routing_key, token_hash, grant_id, scopes, expires_at)
          select issued.routing_key, issued.token_hash, issued.grant_id, string_to_array(issued.scopes, ' '), issued.expires_at
          from ${sql.rows('issued', issued, ACCESS)} ${OF_GRANT}`,
    )
  const refreshTokens = () =>
    db.exec(
      sql`insert into refresh_token (routing_key, token_hash, grant_id, expires_at)
          select issued.routing_key, issued.token_hash, issued.grant_id, issued.expires_at
          from ${sql.rows('issued', refreshed, REFRESH)} ${OF_GRANT}`,
    )
  await Promise.all([issued.length > 0 && accessTokens(), refreshed.length > 0 && refreshTokens()])
}
