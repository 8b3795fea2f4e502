import { Pool, types } from 'pg'
import { environment } from '../config.ts'
import type { Log } from '../lib/log.ts'
import { BY_KEY } from './planning.ts'

export interface PoolSettings {
  readonly connectionString: string
  readonly size: number
}

/** A `date` is a day on the calendar and stays text: pg would make it midnight of whatever zone the process runs in. */
const DATE = 1082
const getTypeParser: typeof types.getTypeParser = (oid, format) =>
  oid === DATE ? (text: unknown) => text : types.getTypeParser(oid, format)

/** Options that the operator gave, in the URL or as PGOPTIONS, and ours behind them. */
function planned(connectionString: string): { connectionString: string; options: string } {
  const url = new URL(connectionString)
  const given = url.searchParams.get('options') ?? environment().PGOPTIONS ?? ''
  url.searchParams.delete('options') // it would take the place of the others
  return {
    connectionString: url.href,
    options: `${given} ${BY_KEY}`.trim(),
  }
}

/** A pool that gives up on a missing database within two seconds, so a caller gets its 503 instead of waiting. */
export function openPool({ connectionString, size }: PoolSettings, log: Log): Pool {
  const pool = new Pool({
    ...planned(connectionString),
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
