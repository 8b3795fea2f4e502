import { z } from 'zod'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Db, sql } from '../../platform/db/sql.ts'

const testUser = z.object({
  cid: z.number(),
  user_id: z.string(),
  passport: z.string(),
  name: z.string(),
  phone_number: z.string().nullable(),
})
export type TestUser = z.output<typeof testUser>

export const setTestOf = (db: Db, { routingKey, cid, userId }: UserRowKey, appKey: string): Promise<number> =>
  db.exec(
    sql`update user_profile set test_of = ${appKey}
        where routing_key = ${routingKey} and cid = ${cid} and user_id = ${userId}`,
  )

export const listTestUsers = (db: Db, appKey: string): Promise<TestUser[]> =>
  db.listWithCustomPlan(
    testUser,
    sql`select u.cid, u.user_id, c.passport, u.name, u.phone_number
        from user_profile u
        join user_credential c on c.routing_key = u.routing_key and c.cid = u.cid and c.user_id = u.user_id
        where u.test_of = ${appKey} order by u.user_id`,
  )

export const setPasswords = (db: Db, appKey: string, passwordHash: string): Promise<number> =>
  db.exec(
    sql`update user_credential c set password_hash = ${passwordHash} from user_profile u
        where u.test_of = ${appKey} and c.routing_key = u.routing_key and c.cid = u.cid and c.user_id = u.user_id`,
  )
