import type pg from 'pg'
import { CITUS_URL } from './one-table.ts'
import { until } from './until.ts'

/** On Citus, statements wait on the nodes that hold the rows. */
const SESSIONS = CITUS_URL ? 'citus_stat_activity' : 'pg_stat_activity'

/** Waits until this many statements wait for a lock in this database; other tests share the server. */
export const untilLocked = (pool: Pick<pg.Pool, 'query'>, atLeast = 1): Promise<true> =>
  until(async () => {
    const { rows } = await pool.query(
      `select from ${SESSIONS} where wait_event_type = 'Lock' and datname = current_database()`,
    )
    return rows.length >= atLeast
  })
