import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

const Grant = z.object({
  grant_id: z.string(),
  app_key: z.string(),
  scopes: z.array(z.string()),
  created_at: z.date(),
  revoked_at: z.date().nullable(),
})
export type Grant = z.infer<typeof Grant>

/** Newest first. */
export const grantsOfUser = (db: Db, routingKey: number, cid: number, userId: string): Promise<Grant[]> =>
  db.search(
    Grant,
    sql`select grant_id, app_key, scopes, created_at, revoked_at from user_grant
        where routing_key = ${routingKey} and cid = ${cid} and user_id = ${userId}
        order by created_at desc`,
  )

export const revokeGrantOfUser = async (
  db: Db,
  routingKey: number,
  user: { cid: number; userId: string; grantId: string },
  now: Date,
): Promise<boolean> =>
  (await db.exec(
    sql`update user_grant set revoked_at = coalesce(revoked_at, ${now})
        where routing_key = ${routingKey} and grant_id = ${user.grantId} and cid = ${user.cid} and user_id = ${user.userId}`,
  )) > 0
