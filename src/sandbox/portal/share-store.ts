import { z } from 'zod'
import { type Db, sql } from '../../platform/db/sql.ts'

/** How often the links to a run were withdrawn. */
export const timesWithdrawn = async (db: Db, runId: string): Promise<number> =>
  (await db.maybeValue(z.number(), sql`select times from sandbox_withdrawn_link where run_id = ${runId}`)) ?? 0

export const withdrawOnce = (db: Db, runId: string): Promise<number> =>
  db.exec(
    sql`insert into sandbox_withdrawn_link as known (run_id, times) values (${runId}, 1)
        on conflict (run_id) do update set times = known.times + 1`,
  )
