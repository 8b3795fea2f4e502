import { z } from 'zod'
import { type Db, sql } from '../../db/sql.ts'

/** The steps of these runs whose last attempt that has ended has passed. */
export const passedSteps = (db: Db, runIds: readonly string[]): Promise<{ run_id: string; steps: string[] }[]> =>
  db.many(
    z.object({ run_id: z.string(), steps: z.array(z.string()) }),
    sql`select run_id, array_agg(step_id) as steps from (
          select distinct on (run_id, step_id) run_id, step_id, outcome from sandbox_attempt
          where run_id = any(${runIds}::uuid[]) and outcome is not null
          order by run_id, step_id, number desc
        ) last where outcome = 'passed' group by run_id`,
  )
