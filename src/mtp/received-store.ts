import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

const received = z.object({
  id: z.string(),
  received_at: z.date(),
  path: z.string(),
  /** Why it was not taken; null of one that was. */
  refused: z.string().nullable(),
  body: z.string(),
})
/** A notice of a partner's, taken or refused, that it is known to have sent. */
export type ReceivedNotice = z.output<typeof received>

/** Newest first; of these paths, or of all. */
export const listReceived = (
  db: Db,
  filter: {
    readonly partnerId: bigint
    readonly clientId: string
    readonly paths: readonly string[] | undefined
    readonly limit: number
    /** So many characters of each body, from its beginning. */
    readonly bodyChars: number
  },
): Promise<ReceivedNotice[]> =>
  db.listWithCustomPlan(
    received,
    sql`
    (select notice_id as id, received_at, path, null as refused, left(body, ${filter.bodyChars}::int) as body
      from notice
      where partner_id = ${filter.partnerId} and client_id = ${filter.clientId}
        and (${filter.paths}::text[] is null or path = any (${filter.paths}::text[]))
      order by received_at desc limit ${filter.limit})
    union all
    (select call_id, received_at, path, reason, left(body, ${filter.bodyChars}::int)
      from rejected_call
      where partner_id = ${filter.partnerId} and verified and left_out is null
        and (${filter.paths}::text[] is null or path = any (${filter.paths}::text[]))
      order by received_at desc limit ${filter.limit})
    order by received_at desc, id limit ${filter.limit}`,
  )
