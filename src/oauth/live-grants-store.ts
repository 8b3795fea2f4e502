import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

/** Further ones are not counted: then it is at least so many. */
const MOST_COUNTED = 100_000

const counted = z.object({ grants: z.number(), people: z.number() })
/** Grants that were not withdrawn, and how many people they are of. */
export type LiveGrants = z.output<typeof counted>

export const countGrantsOfApp = (db: Db, appKey: string): Promise<LiveGrants> =>
  db.one(
    counted,
    sql`select count(1)::int as grants, count(distinct (g.cid, g.user_id))::int as people
        from (select cid, user_id from user_grant where app_key = ${appKey} and revoked_at is null
              order by created_at, grant_id limit ${MOST_COUNTED}) g`,
  )

export const countGrantsOfUser = (
  db: Db,
  { routingKey, cid, userId }: { readonly routingKey: number; readonly cid: number; readonly userId: string },
): Promise<LiveGrants> =>
  db.one(
    counted,
    sql`select count(1)::int as grants, count(distinct (g.cid, g.user_id))::int as people
        from (select cid, user_id from user_grant
              where routing_key = ${routingKey} and cid = ${cid} and user_id = ${userId} and revoked_at is null
              limit ${MOST_COUNTED}) g`,
  )
