import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

const span = z.object({ span: z.number(), calls: z.number(), failed: z.number() })

/** Calls to partners in one span of time, counted from 0; spans without any are left out. */
export type CallSpan = z.output<typeof span>

/** Of all partners since then, by spans of so many seconds. */
export const callsBySpan = (db: Db, since: Date, spanS: number): Promise<CallSpan[]> =>
  db.many(
    span,
    sql`select floor(extract(epoch from started_at - ${since}::timestamptz) / ${spanS}::float8)::int as span,
          count(1)::int as calls, count(failure)::int as failed
        from partner_call where started_at >= ${since} group by 1 order by 1`,
  )
