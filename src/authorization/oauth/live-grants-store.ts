import { z } from 'zod'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { GRANT_REVOCATION_JOINS, GRANT_REVOKED_AT, grantRevocationJoins } from './grant-store.ts'

/** Further ones are not counted: then it is at least so many. */
const MAX_COUNTED = 100_000

const counted = z.object({ grants: z.number(), people: z.number() })
/** Grants that were not revoked, and how many people they are of. */
export type LiveGrants = z.output<typeof counted>

export const countGrantsOfApp = (db: Db, appKey: string): Promise<LiveGrants> =>
  db.one(
    counted,
    sql`select count(1)::int as grants, count(distinct (g.cid, g.user_id))::int as people
        from (select g.cid, g.user_id from user_grant g ${GRANT_REVOCATION_JOINS}
              where g.app_key = ${appKey} and ${GRANT_REVOKED_AT} is null
              order by g.created_at, g.grant_id limit ${MAX_COUNTED}) g`,
  )

export const countGrantsOfUser = (db: Db, { routingKey, cid, userId }: UserRowKey): Promise<LiveGrants> =>
  db.one(
    counted,
    sql`select count(1)::int as grants, count(distinct (g.cid, g.user_id))::int as people
        from (select g.cid, g.user_id from user_grant g ${grantRevocationJoins(sql.part`${routingKey}::int`)}
              where g.routing_key = ${routingKey} and g.cid = ${cid} and g.user_id = ${userId} and ${GRANT_REVOKED_AT} is null
              limit ${MAX_COUNTED}) g`,
  )
