import { z } from 'zod'
import type { Batched } from '../../platform/db/batch.ts'
import { hasShards, readByShard } from '../../platform/db/shards.ts'
import { type Db, type Fragment, sql } from '../../platform/db/sql.ts'
import { GRANT_REVOKED_AT, grantByKey, grantRevocationJoins } from './grant-store.ts'

const facts = z.object({
  grant_id: z.string(),
  app_key: z.string(),
  cid: z.number(),
  user_id: z.string(),
  scopes: z.array(z.string()),
  /** When a code was exchanged, or a refresh token rotated. */
  used_at: z.date().nullable(),
  /** Of the grant. */
  revoked_at: z.date().nullable(),
})

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
const tokensWithPrefix = (db: Db, kind: keyof typeof TABLES, routingKey: number, expiresAt: Date) =>
  db.of(routingKey).listWithCustomPlan(
    facts,
    sql`select g.grant_id, g.app_key, g.cid, g.user_id, g.scopes, t.used_at, ${GRANT_REVOKED_AT} as revoked_at
        from ${TABLES[kind]} t join user_grant g on g.routing_key = ${routingKey} and g.grant_id = t.grant_id
        ${grantRevocationJoins(sql.part`${routingKey}::int`)}
        where t.routing_key = ${routingKey} and t.expires_at = ${expiresAt} limit ${MAX_TOKENS}`,
  )

const TOKEN_KEY = ['routing_key', 'token_hash'] as const

/** For a join as `t`: `` join ${TOKEN} ``. The `offset 0` of grantByKey would cost A5 a tenth more database time. */
const TOKEN = sql.part`access_token t on ${sql.sameKey('t', 'asked', TOKEN_KEY)}`

const TokensOfKey = z.object({ routing_key: z.number(), tokens: z.number() })

/** Ended tokens remembered per grant; older ones are refused as unknown, not as expired. */
const MAX_ENDED_OF_GRANT = 1_000

/**
 * Keeps the `max` newest access tokens of each grant of these routing keys, with any that expire in the same second as the
 * last of them, and moves the others to ended_access_token. Skips rows that another process or the purge is deleting. Returns
 * how many tokens, live and ended, each key had before. Planned each time: it is rare, and its cost depends on the keys.
 */
export const endOldestAccessTokens = (db: Db, routingKeys: readonly number[], max: number) =>
  readByShard(
    db,
    routingKeys,
    (key) => key,
    (shard, own) => (hasShards(shard) ? endOldestInParts : endOldestIn)(shard, own, max),
  )

const endOldestIn = (shard: Db, routingKeys: readonly number[], max: number): Promise<z.infer<typeof TokensOfKey>[]> =>
  shard.listWithCustomPlan(
    TokensOfKey,
    sql`with token as (
          select routing_key, token_hash,
                 rank() over (partition by routing_key, grant_id order by expires_at desc) as ordinal
          from access_token where routing_key = any (${routingKeys}::int[])
        ), held as (
          select t.routing_key, t.token_hash
          from unnest(array(select routing_key from token where ordinal > ${max}),
                      array(select token_hash from token where ordinal > ${max})) as old (routing_key, token_hash)
          join access_token t on t.routing_key = any (${routingKeys}::int[])
            and ${sql.sameKey('t', 'old', TOKEN_KEY)}
          for update of t skip locked
        ), ended as (
          delete from access_token t using unnest(array(select routing_key from held), array(select token_hash from held))
            as held (routing_key, token_hash)
          where t.routing_key = any (${routingKeys}::int[])
            and ${sql.sameKey('t', 'held', TOKEN_KEY)}
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
          using unnest(array(select routing_key from before where ordinal > ${MAX_ENDED_OF_GRANT}),
                       array(select token_hash from before where ordinal > ${MAX_ENDED_OF_GRANT})) as old (routing_key, token_hash)
          where e.routing_key = any (${routingKeys}::int[])
            and ${sql.sameKey('e', 'old', TOKEN_KEY)}
        )
        select routing_key, count(*)::int as tokens
        from (select routing_key from token union all select routing_key from before) both_kinds group by routing_key`,
  )

/** With shards the keys pass through this process, so one run moves no more than this. */
const MAX_MOVED = 10_000

const tokenKey = z.object({ routing_key: z.number(), token_hash: z.instanceof(Buffer) })
const KEY = ({ routing_key, token_hash }: z.output<typeof tokenKey>) => sql.part`
  ${routing_key}::int as routing_key, ${token_hash}::bytea as token_hash`

const beyondNewest = (table: Fragment, routingKeys: readonly number[], max: number): Fragment => sql.part`(
  select routing_key, token_hash from (
    select routing_key, token_hash, rank() over (partition by routing_key, grant_id order by expires_at desc) as ordinal
    from ${table} where routing_key = any (${routingKeys}::int[])) ranked
  where ordinal > ${max})`

const endOldestInParts = (shard: Db, routingKeys: readonly number[], max: number) =>
  shard.tx(async (tx) => {
    const [before, held] = await Promise.all([
      tx.listWithCustomPlan(
        TokensOfKey,
        sql`select routing_key, count(*)::int as tokens
            from (select routing_key from access_token where routing_key = any (${routingKeys}::int[])
                  union all select routing_key from ended_access_token where routing_key = any (${routingKeys}::int[])) both_kinds
            group by routing_key`,
      ),
      tx.listWithCustomPlan(
        tokenKey,
        sql`select t.routing_key, t.token_hash from ${beyondNewest(sql.part`access_token`, routingKeys, max)} old
            join access_token t on ${sql.sameKey('t', 'old', TOKEN_KEY)}
            limit ${MAX_MOVED} for update of t skip locked`,
      ),
    ])
    await tx.exec(
      sql`delete from ended_access_token e
          using ${beyondNewest(sql.part`ended_access_token`, routingKeys, MAX_ENDED_OF_GRANT)} old
          where ${sql.sameKey('e', 'old', TOKEN_KEY)}`,
    )
    if (held.length === 0) return before
    const keys = sql.rows('held', held, KEY)
    await Promise.all([
      tx.exec(
        sql`insert into ended_access_token (routing_key, token_hash, grant_id, expires_at)
            select t.routing_key, t.token_hash, t.grant_id, t.expires_at
            from ${keys} join access_token t on ${sql.sameKey('t', 'held', TOKEN_KEY)}
            on conflict (routing_key, token_hash) do nothing`,
      ),
      tx.exec(
        sql`delete from access_token t using ${keys}
            where ${sql.sameKey('t', 'held', TOKEN_KEY)}`,
      ),
    ])
    return before
  })

interface TokenKey {
  readonly routingKey: number
  readonly hash: Buffer
}
interface TokenOfApp extends TokenKey {
  readonly appKey: string
}

/** Whether a token was ended early while its grant is still live, so that a refresh gets another. */
const wasEndedEarly = async (db: Db, { routingKey, hash }: TokenKey): Promise<boolean> => {
  const found = await db.of(routingKey).maybe(
    z.object({ grant_id: z.string() }),
    sql`select e.grant_id from ended_access_token e
        cross join ${grantByKey(sql.part`${routingKey}::int`, sql.part`e.grant_id`)} g
        ${grantRevocationJoins(sql.part`${routingKey}::int`)}
        where e.routing_key = ${routingKey} and e.token_hash = ${hash} and ${GRANT_REVOKED_AT} is null`,
  )
  return found !== undefined
}

/** For revocation by its app: the token is an unknown one from then on. */
export const forgetEndedToken = (db: Db, { routingKey, hash, appKey }: TokenOfApp) =>
  db.of(routingKey).exec(
    sql`delete from ended_access_token e using user_grant g
        where e.routing_key = ${routingKey} and e.token_hash = ${hash}
          and g.routing_key = ${routingKey} and g.grant_id = e.grant_id and g.app_key = ${appKey}`,
  )

const ofApp = z.object({ token_hash: z.instanceof(Buffer), app_key: z.string() })

/** The apps of these tokens, including expired and ended ones whose rows still exist. */
const appsOf = (db: Db, tokens: readonly TokenKey[]): Promise<z.output<typeof ofApp>[]> =>
  readByShard(db, tokens, ({ routingKey }) => routingKey, appsOfShard)

const appsOfShard = (shard: Db, tokens: readonly TokenKey[]): Promise<z.output<typeof ofApp>[]> =>
  shard.listWithCustomPlan(
    ofApp,
    sql`select t.token_hash, g.app_key
        from unnest(${tokens.map(({ routingKey }) => routingKey)}::int[], ${tokens.map(({ hash }) => hash)}::bytea[])
          as asked (routing_key, token_hash)
        join (select routing_key, token_hash, grant_id from access_token
              union all select routing_key, token_hash, grant_id from ended_access_token) t
          on ${sql.sameKey('t', 'asked', TOKEN_KEY)}
        cross join ${grantByKey(sql.part`asked.routing_key`, sql.part`t.grant_id`)} g`,
  )

/** What other rooms need to know about issued tokens. */
export const ACCESS_TOKENS = { joined: TOKEN, wasEndedEarly, appsOf, withPrefix: tokensWithPrefix }

const ASKED = ({ routingKey, hash, appKey }: TokenOfApp) => sql.part`
  ${routingKey}::int as routing_key, ${hash}::bytea as token_hash, ${appKey}::text as app_key`
/** Made once, as only then is the statement's text kept. */
const FOUND_TOKEN = sql.sameKey('t', 'f', TOKEN_KEY)
const GRANT = grantByKey(sql.part`asked.routing_key`, sql.part`t.grant_id`)

const deletions: Batched<TokenOfApp, unknown> = {
  row: z.unknown(),
  key: ({ hash }) => hash.toString('latin1'),
  duplicates: 'serialize',
  statement: (asked) =>
    sql`with found as (
          select asked.ordinal, asked.routing_key, asked.token_hash
          from ${sql.rows('asked', asked, ASKED)}
          join ${TOKEN}
          cross join ${GRANT} g
          where g.app_key = asked.app_key
        )
        delete from access_token t using found f
        where ${FOUND_TOKEN}
        returning f.ordinal`,
}

export const deleteAccessToken = async (db: Db, token: TokenOfApp): Promise<boolean> =>
  (await db.of(token.routingKey).batch(deletions, token)).length > 0
