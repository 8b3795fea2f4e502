import { z } from 'zod'
import type { Batched } from '../../platform/db/batch.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { joinedAccessToken } from './access-token-store.ts'
import { grantByKey } from './grant-store.ts'

interface TokenToDelete {
  readonly routingKey: number
  readonly hash: Buffer
  readonly appKey: string
}

const TOKEN = joinedAccessToken(sql.part`asked.routing_key`, sql.part`asked.token_hash`)
const ASKED = (one: TokenToDelete) => sql.part`
  ${one.routingKey}::int as routing_key, ${one.hash}::bytea as token_hash, ${one.appKey}::text as app_key`
const GRANT = grantByKey(sql.part`asked.routing_key`, sql.part`t.grant_id`)

const deletions: Batched<TokenToDelete, unknown> = {
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
        where t.routing_key = f.routing_key and t.token_hash = f.token_hash
        returning f.ordinal`,
}

/** Deletes an access token of this app; false if it is none. */
export const deleteAccessToken = async (db: Db, token: TokenToDelete): Promise<boolean> =>
  (await db.batch(deletions, token)).length > 0
