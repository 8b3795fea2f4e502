import { z } from 'zod'
import type { Batched } from '../../platform/db/batch.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import type { Scope } from '../../platform/lib/scope.ts'
import { userByKey } from '../account/index.ts'
import { ACCESS_TOKENS, grantByKey, revokedAt } from '../oauth/index.ts'
import { joinedMicroApp } from '../registry/index.ts'

/** The app and the user of a token. */
const owner = z.object({
  revoked: z.boolean(),
  app_key: z.string(),
  app_status: z.string().nullable(),
  user_status: z.string(),
  cid: z.number(),
  user_id: z.string(),
  name: z.string(),
  gender: z.string(),
  big_avatar_url: z.string(),
  phone_number: z.string().nullable(),
})

const FoundAccessToken = owner.extend({ token_holds: z.boolean(), app_holds: z.boolean().nullable() })
export type FoundAccessToken = z.infer<typeof FoundAccessToken>

interface TokenKey {
  readonly routingKey: number
  readonly hash: Buffer
}
interface TokenUse extends TokenKey {
  readonly scope: Scope
}

const ASKED = ({ routingKey, hash }: TokenKey) =>
  sql.part`${routingKey}::int as routing_key, ${hash}::bytea as token_hash`
const ASKED_WITH_SCOPE = ({ routingKey, hash, scope }: TokenUse) =>
  sql.part`${routingKey}::int as routing_key, ${hash}::bytea as token_hash, ${scope}::text as scope`

const TOKEN = ACCESS_TOKENS.joined
const GRANT = grantByKey(sql.part`asked.routing_key`, sql.part`t.grant_id`)
const USER = userByKey(sql.part`asked.routing_key`, sql.part`g.cid`, sql.part`g.user_id`)
const APP = joinedMicroApp(sql.part`g.app_key`)
const REVOKED_AT = revokedAt(sql.part`p.valid_from`, sql.part`a.valid_from`)
const OWNER = sql.part`${REVOKED_AT} is not null as revoked, g.app_key, a.status as app_status,
               p.status as user_status, p.cid, p.user_id, p.name, p.gender, p.big_avatar_url, p.phone_number`
const FOUND = sql.part`join ${TOKEN}
        cross join ${GRANT} g
        cross join ${USER} p
        left join ${APP}`

const token: Batched<TokenUse, FoundAccessToken> = {
  row: FoundAccessToken,
  key: ({ hash, scope }) => hash.toString('latin1') + scope,
  duplicates: 'share',
  statement: (asked) =>
    sql`select asked.ordinal, asked.scope = any (t.scopes) as token_holds, asked.scope = any (a.scopes) as app_holds,
               ${OWNER}
        from ${sql.rows('asked', asked, ASKED_WITH_SCOPE)}
        ${FOUND}`,
}

/** A token with everything that its checks and its answer need: one statement, by primary keys only. */
export const findToken = async (db: Db, use: TokenUse): Promise<FoundAccessToken | undefined> =>
  (await db.of(use.routingKey).batch(token, use))[0]

const DescribedToken = owner.extend({
  /** Separated by spaces, like those of the app, which is parsed faster than an array. */
  scopes: z.string(),
  app_scopes: z.string().nullable(),
  /** Seconds since 1970, with fractions, which is parsed faster than a date. */
  profile_updated_at: z.number(),
})
export type DescribedToken = z.infer<typeof DescribedToken>

/** For callers that are not after one scope. */
const describedToken: Batched<TokenKey, DescribedToken> = {
  row: DescribedToken,
  key: ({ hash }) => hash.toString('latin1'),
  duplicates: 'share',
  statement: (asked) =>
    sql`select asked.ordinal, array_to_string(t.scopes, ' ') as scopes, array_to_string(a.scopes, ' ') as app_scopes,
               ${OWNER},
               date_part('epoch', coalesce(p.updated_at, p.created_at)) as profile_updated_at
        from ${sql.rows('asked', asked, ASKED)}
        ${FOUND}`,
}

export const findDescribedToken = async (db: Db, token: TokenKey): Promise<DescribedToken | undefined> =>
  (await db.of(token.routingKey).batch(describedToken, token))[0]
