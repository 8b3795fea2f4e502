import type pg from 'pg'
import { CITUS_URL } from './one-table.ts'
import { until } from './until.ts'

/** On Citus they wait on the nodes where the rows are. */
const SESSIONS = CITUS_URL ? 'citus_stat_activity' : 'pg_stat_activity'

/** Until so many statements wait for a lock, of this database alone: other tests have theirs on the same server. */
export const untilLocked = (pool: Pick<pg.Pool, 'query'>, atLeast = 1): Promise<true> =>
  until(async () => {
    const { rows } = await pool.query(
      `select from ${SESSIONS} where wait_event_type = 'Lock' and datname = current_database()`,
    )
    return rows.length >= atLeast
  })
