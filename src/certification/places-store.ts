import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

const place = z.object({
  /** Of a call or notice. */
  id: z.string(),
  run_id: z.string(),
  run_number: z.number(),
  step_id: z.string(),
  attempt: z.number(),
  seq: z.number(),
})
/** Where a run's log tells of a call or notice. */
export type LogPlace = z.output<typeof place>

/** Where the run of an order tells of these calls and notices; nothing for an order of no run of this partner. */
export const placesInRun = (
  db: Db,
  { partnerId, orderId, ids }: { partnerId: bigint; orderId: bigint; ids: readonly string[] },
): Promise<LogPlace[]> =>
  db.many(
    place,
    sql`select coalesce(e.data ->> 'call_id', e.data ->> 'notice_id') as id, r.run_id, r.number as run_number, a.step_id,
          a.number as attempt, e.seq
        from sandbox_order o
        join sandbox_run r on r.run_id = o.run_id and r.partner_id = ${partnerId}
        join sandbox_event e on e.run_id = o.run_id and e.kind in ('call', 'notice', 'rejected', 'unverified')
          and coalesce(e.data ->> 'call_id', e.data ->> 'notice_id') = any (${ids}::text[])
        join sandbox_attempt a on a.attempt_id = e.attempt_id
        where o.order_id = ${orderId} order by e.seq limit 1000`,
  )
