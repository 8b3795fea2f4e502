import { z } from 'zod'
import { ofAllShards } from '../../platform/db/shards.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { normalName } from '../../platform/lib/precis.ts'
import { user } from './wire.ts'

const foundUserRow = user.pick({ cid: true, user_id: true, phone_number: true, status: true, created_at: true })
export type FoundUserRow = z.output<typeof foundUserRow>

const credentialKey = z.object({ routing_key: z.number(), cid: z.number(), user_id: z.string() })

/** One at most. Two statements: credentials are found by passport, and may lie on another shard. */
export async function findByPassport(db: Db, typed: string): Promise<FoundUserRow[]> {
  const key = await db.maybe(
    credentialKey,
    sql`select routing_key, cid, user_id from user_credential where passport = ${normalName(typed)}`,
  )
  if (!key) return []
  return db.of(key.routing_key).many(
    foundUserRow,
    sql`select cid, user_id, phone_number, status, created_at from user_profile
        where routing_key = ${key.routing_key} and cid = ${key.cid} and user_id = ${key.user_id}`,
  )
}

/** Several people may share a number. */
export async function findByPhone(db: Db, numbers: readonly string[], limit: number): Promise<FoundUserRow[]> {
  const found = await ofAllShards(db, (shard) =>
    shard.listWithCustomPlan(
      foundUserRow,
      sql`select cid, user_id, phone_number, status, created_at from user_profile
          where phone_number = any (${numbers}) order by created_at limit ${limit}`,
    ),
  )
  return found.sort((one, other) => one.created_at.getTime() - other.created_at.getTime()).slice(0, limit)
}
