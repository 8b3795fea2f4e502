import { z } from 'zod'
import { type Db, sql } from '../../db/sql.ts'

const heard = z.object({
  path: z.string(),
  received_at: z.date(),
  /** Null of an accepted notice: only its body is kept. */
  headers: z.record(z.string(), z.unknown()).nullable(),
  body: z.string(),
  answer: z.string(),
})
/** A call of the partner's, accepted or not, with what it was answered. */
export type Heard = z.output<typeof heard>

/** A notice or a rejected call by its id; only the partner's own. */
export const findHeard = (db: Db, partnerId: bigint, id: string): Promise<Heard | undefined> =>
  db.maybe(
    heard,
    sql`select path, received_at, null::jsonb as headers, body, answer from notice
        where notice_id = ${id} and partner_id = ${partnerId}
        union all
        select path, received_at, headers, body, answer from rejected_call
        where call_id = ${id} and partner_id = ${partnerId}`,
  )
