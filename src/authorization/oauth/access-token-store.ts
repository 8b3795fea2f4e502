import { z } from 'zod'
import { type Db, type Fragment, sql } from '../../platform/db/sql.ts'
import { GRANT_REVOKED_AT, grantByKey, grantRevocationJoins } from './grant-store.ts'

/**
 * One token by its primary key, for a join: `` join ${joinedAccessToken(…)} `` names it `t`. The `offset 0` of grantByKey
 * would cost A5 a tenth of the database's time. Without it a plan made of up to five tokens may read them all, until
 * autovacuum has analyzed the table.
 */
export const joinedAccessToken = (routingKey: Fragment, tokenHash: Fragment): Fragment =>
  sql.part`access_token t on t.routing_key = ${routingKey} and t.token_hash = ${tokenHash}`

const TokensOfKey = z.object({ routing_key: z.number(), tokens: z.number() })

/** Ended tokens of a grant that are known as such: of older ones it is only known that they do not work. */
const ENDED_OF_GRANT = 1_000

/**
 * Keeps the `most` newest access tokens of each grant of these routing keys, and those with the same end as the last of
 * them; the rest moves to ended_access_token. Rows that another process or the purge is deleting are left to it. Returns
 * how many tokens of both kinds each key had before. Planned each time: it is rare, and reads as many rows as the keys have.
 */
export const endOldestAccessTokens = (
  db: Db,
  routingKeys: readonly number[],
  most: number,
): Promise<z.infer<typeof TokensOfKey>[]> =>
  db.listWithCustomPlan(
    TokensOfKey,
    sql`with token as (
          select routing_key, token_hash,
                 rank() over (partition by routing_key, grant_id order by expires_at desc) as ordinal
          from access_token where routing_key = any (${routingKeys}::int[])
        ), held as (
          select t.routing_key, t.token_hash
          from unnest(array(select routing_key from token where ordinal > ${most}),
                      array(select token_hash from token where ordinal > ${most})) as old (routing_key, token_hash)
          join access_token t on t.routing_key = any (${routingKeys}::int[])
            and t.routing_key = old.routing_key and t.token_hash = old.token_hash
          for update of t skip locked
        ), ended as (
          delete from access_token t using unnest(array(select routing_key from held), array(select token_hash from held))
            as held (routing_key, token_hash)
          where t.routing_key = any (${routingKeys}::int[])
            and t.routing_key = held.routing_key and t.token_hash = held.token_hash
          returning t.routing_key, t.token_hash, t.grant_id, t.expires_at
        ), known as (
          insert into ended_access_token (routing_key, token_hash, grant_id, expires_at)
          select routing_key, token_hash, grant_id, expires_at from ended
          on conflict (routing_key, token_hash) do nothing
        ), before as (
          select routing_key, token_hash,
                 rank() over (partition by routing_key, grant_id order by expires_at desc) as ordinal
          from ended_access_token where routing_key = any (${routingKeys}::int[])
        ), forgotten as (
          delete from ended_access_token e
          using unnest(array(select routing_key from before where ordinal > ${ENDED_OF_GRANT}),
                       array(select token_hash from before where ordinal > ${ENDED_OF_GRANT})) as old (routing_key, token_hash)
          where e.routing_key = any (${routingKeys}::int[])
            and e.routing_key = old.routing_key and e.token_hash = old.token_hash
        )
        select routing_key, count(*)::int as tokens
        from (select routing_key from token union all select routing_key from before) both_kinds group by routing_key`,
  )

interface EndedToken {
  readonly routingKey: number
  readonly hash: Buffer
}

/** Whether a token that is in no other table was ended so, and a refresh gives another: its grant has not been revoked. */
const wasEndedEarly = async (db: Db, { routingKey, hash }: EndedToken): Promise<boolean> => {
  const found = await db.maybe(
    z.object({ grant_id: z.string() }),
    sql`select e.grant_id from ended_access_token e
        cross join ${grantByKey(sql.part`${routingKey}::int`, sql.part`e.grant_id`)} g
        ${grantRevocationJoins(sql.part`${routingKey}::int`)}
        where e.routing_key = ${routingKey} and e.token_hash = ${hash} and ${GRANT_REVOKED_AT} is null`,
  )
  return found !== undefined
}

/** Once its app has revoked it too, the token is an unknown one. */
export const forgetEndedToken = (
  db: Db,
  { routingKey, hash, appKey }: EndedToken & { readonly appKey: string },
): Promise<number> =>
  db.exec(
    sql`delete from ended_access_token e using user_grant g
        where e.routing_key = ${routingKey} and e.token_hash = ${hash}
          and g.routing_key = ${routingKey} and g.grant_id = e.grant_id and g.app_key = ${appKey}`,
  )

/** What other rooms need of access tokens. */
export const ACCESS_TOKENS = { joined: joinedAccessToken, wasEndedEarly }
