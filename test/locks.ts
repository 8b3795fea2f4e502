import type pg from 'pg'
import { until } from './until.ts'

/** Until so many statements wait for a lock, of this database alone: other tests have theirs on the same server. */
export const untilLocked = (pool: Pick<pg.Pool, 'query'>, atLeast = 1): Promise<true> =>
  until(async () => {
    const { rows } = await pool.query(
      "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
    )
    return rows.length >= atLeast
  })
