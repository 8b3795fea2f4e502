import { z } from 'zod'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { GRANT_REVOCATION_JOINS, GRANT_REVOKED_AT, grantRevocationJoins } from './grant-store.ts'

/** An access or refresh token that works, in terms of its grant. */
const liveTokens = (now: Date) => sql.part`(
  select routing_key, grant_id from access_token where expires_at > ${now}
  union all
  select routing_key, grant_id from refresh_token where expires_at > ${now} and rotated_at is null)`

const ofUser = z.object({ tokens: z.number(), apps: z.number() })

/** Reads what the index has of the user's grants, and the tokens of their routing key. */
export const countTokensOfUser = (
  db: Db,
  { routingKey, cid, userId }: UserRowKey,
  now: Date,
): Promise<z.output<typeof ofUser>> =>
  db.one(
    ofUser,
    sql`with live as (
          select g.grant_id, g.app_key from user_grant g
          ${grantRevocationJoins(sql.part`${routingKey}::int`)}
          where g.routing_key = ${routingKey} and g.cid = ${cid} and g.user_id = ${userId} and ${GRANT_REVOKED_AT} is null
        )
        select count(*)::int as tokens, count(distinct live.app_key)::int as apps
        from live join ${liveTokens(now)} t on t.routing_key = ${routingKey} and t.grant_id = live.grant_id`,
  )

const ofApp = z.object({ tokens: z.number(), people: z.number() })

/** Reads all grants of the app, and their tokens. */
export const countTokensOfApp = async (db: Db, appKey: string, now: Date): Promise<z.output<typeof ofApp>> => {
  const [counted] = await db.listWithCustomPlan(
    ofApp,
    sql`with live as (
          select g.routing_key, g.grant_id, g.cid, g.user_id from user_grant g
          ${GRANT_REVOCATION_JOINS}
          where g.app_key = ${appKey} and ${GRANT_REVOKED_AT} is null
        )
        select count(*)::int as tokens, count(distinct (live.cid, live.user_id))::int as people
        from live join ${liveTokens(now)} t on t.routing_key = live.routing_key and t.grant_id = live.grant_id`,
  )
  return counted ?? { tokens: 0, people: 0 }
}
