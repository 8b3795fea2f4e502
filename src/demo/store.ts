import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

// Any number that nothing else in this database uses as an advisory lock.
const SEEDING = 7_001_001

/** Held until the end of the transaction, so that of several starting processes one seeds. */
export const lockSeeding = (db: Db): Promise<number> => db.exec(sql`select pg_advisory_xact_lock(${SEEDING})`)

/** Whether this is a demo's database (it has the demo's micro-app) and has no partner yet. */
export const lacksDemoPartner = async (db: Db, demoApp: string): Promise<boolean> => {
  const row = await db.one(
    z.object({ lacks: z.boolean() }),
    sql`select exists (select 1 from micro_app where app_key = ${demoApp}) and not exists (select 1 from partner) as lacks`,
  )
  return row.lacks
}

export const hasAppsOrUsers = async (db: Db): Promise<boolean> => {
  const row = await db.one(
    z.object({ filled: z.boolean() }),
    sql`select exists (select 1 from micro_app) or exists (select 1 from user_profile) as filled`,
  )
  return row.filled
}

const heard = z.object({
  id: z.string(),
  at: z.date(),
  speaker: z.enum(['platform', 'partner']),
  url: z.string(),
  request: z.string(),
  answer: z.string().nullable(),
  failure: z.string().nullable(),
})
/** One call in either direction, as the service has recorded it. */
export type Heard = z.output<typeof heard>

/** What a partner and the platform have said to each other from a time on, in order. */
export const exchangesSince = (db: Db, partnerId: bigint, since: Date): Promise<Heard[]> =>
  db.many(
    heard,
    sql`select call_id::text as id, started_at as at, 'platform' as speaker, url, request_body as request,
               response_body as answer, failure_detail as failure
        from partner_call where partner_id = ${partnerId} and started_at >= ${since}
        union all
        select notice_id::text, received_at, 'partner', path, body, answer, null
        from notice where partner_id = ${partnerId} and received_at >= ${since}
        union all
        select call_id::text, received_at, 'partner', path, body, answer, reason
        from rejected_call where partner_id = ${partnerId} and received_at >= ${since} and left_out is null
        order by at, id`,
  )
