import { z } from 'zod'
import type { RemovedBatch, RetentionBatch } from '../../platform/db/retention.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { grantByKey } from './grant-store.ts'

const moved = z.object({ rows: z.number(), last: z.date().nullable() })

/**
 * Deletes the oldest codes; of those that were used, what recognises a replay stays in `used_code`. The same order of steps
 * as in the purge's own batches: found and locked first, then deleted by key.
 */
export const deleteCodes = async (db: Db, { before, from, limit }: RetentionBatch): Promise<RemovedBatch> => {
  const [batch] = await db.listWithCustomPlan(
    moved,
    sql`with due as (
          select routing_key, code_hash, grant_id, expires_at, used_at from authorization_code
          where expires_at >= ${from} and expires_at < ${before}
          order by expires_at limit ${limit} for update skip locked
        ), used as (
          insert into used_code (routing_key, code_hash, grant_id, used_at, expires_at)
          select routing_key, code_hash, grant_id, used_at, expires_at from due where used_at is not null
          on conflict (routing_key, code_hash) do nothing
        ), gone as (
          delete from authorization_code c
          using unnest(array(select routing_key from due), array(select code_hash from due)) as due_key (routing_key, code_hash)
          where c.routing_key = due_key.routing_key and c.code_hash = due_key.code_hash
          returning c.expires_at
        )
        select count(*)::int as rows, max(expires_at) as last from gone`,
  )
  return batch ?? { rows: 0, last: null }
}

const usedCode = z.object({ grant_id: z.string(), app_key: z.string() })
export type UsedCode = z.infer<typeof usedCode>

/** A code that was used more than a day ago. */
export const findUsedCode = (db: Db, routingKey: number, codeHash: Buffer): Promise<UsedCode | undefined> =>
  db.maybe(
    usedCode,
    sql`select u.grant_id, g.app_key from used_code u
        cross join ${grantByKey(sql.part`${routingKey}::int`, sql.part`u.grant_id`)} g
        where u.routing_key = ${routingKey} and u.code_hash = ${codeHash}`,
  )
