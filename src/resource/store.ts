import { z } from 'zod'
import type { Gathered } from '../db/gather.ts'
import { type Db, sql } from '../db/sql.ts'
import type { Scope } from '../oauth/wire.ts'

const FoundToken = z.object({
  token_holds: z.boolean(),
  revoked: z.boolean(),
  app_key: z.string(),
  app_status: z.string().nullable(),
  app_holds: z.boolean().nullable(),
  user_status: z.string(),
  cid: z.number(),
  user_id: z.string(),
  name: z.string(),
  gender: z.string(),
  big_avatar_url: z.string(),
  phone_number: z.string().nullable(),
})
export type FoundToken = z.infer<typeof FoundToken>

/** What is asked with a token: whether it, and its app, may use `scope`. */
export interface TokenUse {
  readonly routingKey: number
  readonly hash: Buffer
  readonly scope: Scope
}

const token: Gathered<TokenUse, FoundToken> = {
  row: FoundToken,
  key: ({ hash, scope }) => hash.toString('latin1') + scope,
  same: 'share',
  statement: (asked) =>
    sql`select asked.nth, asked.scope = any (t.scopes) as token_holds, g.revoked_at is not null as revoked, g.app_key,
               a.status as app_status, asked.scope = any (a.scopes) as app_holds,
               p.status as user_status, p.cid, p.user_id, p.name, p.gender, p.big_avatar_url, p.phone_number
        from unnest(
          ${asked.map((one) => one.routingKey)}::int[], ${asked.map((one) => one.hash)}::bytea[],
          ${asked.map((one) => one.scope)}::text[])
          with ordinality as asked (routing_key, token_hash, scope, nth)
        join access_token t on t.routing_key = asked.routing_key and t.token_hash = asked.token_hash
        cross join grant_by_key(t.routing_key, t.grant_id) g
        cross join user_by_key(g.routing_key, g.cid, g.user_id) p
        left join micro_app a on a.app_key = g.app_key`,
}

/** A token with all that decides about it and all that it may give away: one statement, primary keys only. */
export const findToken = async (db: Db, use: TokenUse): Promise<FoundToken | undefined> =>
  (await db.gather(token, use))[0]
