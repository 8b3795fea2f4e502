import { Pool, types } from 'pg'
import type { Log } from '../lib/log.ts'

export interface PoolSettings {
  readonly connectionString: string
  readonly size: number
}

/** A `date` is a day on the calendar and stays text: pg would make it midnight of whatever zone the process runs in. */
const DATE = 1082
const getTypeParser: typeof types.getTypeParser = (oid, format) =>
  oid === DATE ? (text: unknown) => text : types.getTypeParser(oid, format)

/** A pool that gives up on a missing database within two seconds, so a caller gets its 503 instead of waiting. */
export function openPool({ connectionString, size }: PoolSettings, log: Log): Pool {
  const pool = new Pool({
    connectionString,
    max: size,
    connectionTimeoutMillis: 2_000,
    query_timeout: 10_000,
    idleTimeoutMillis: 30_000,
    // Statements of a transaction that do not wait for one another go out together.
    pipeline: true,
    application_name: 'gatehouse',
    types: { getTypeParser },
  })
  // An idle connection that breaks is replaced on the next use; without a listener it would end the process.
  pool.on('error', (error) => {
    // At shutdown the pool lets go before its connections have closed; the server may be the quicker one.
    if (!pool.ending) log.warn({ reason: error.message }, 'an idle database connection broke')
  })
  // So would one that breaks between two statements of a transaction; there the next statement reports it.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
