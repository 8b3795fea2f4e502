import { z } from 'zod'
import type { Finding } from '../../certification/event.ts'
import { type Db, sql } from '../../db/sql.ts'

/** The SQL of reports. */

const failedCheck = z.object({
  attempt_id: z.string(),
  data: z.unknown().transform((stored) => stored as Finding),
})

/** Every check of a run that has failed, in the order of the log. */
export const failedChecksOf = (db: Db, runId: string) =>
  db.many(
    failedCheck,
    sql`select attempt_id, data from sandbox_event
        where run_id = ${runId} and kind = 'check' and not (data->>'passed')::boolean order by seq`,
  )
