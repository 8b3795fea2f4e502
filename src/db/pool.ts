import { Pool, types } from 'pg'
import { environment } from '../config.ts'
import type { Log } from '../lib/log.ts'
import { BY_KEY } from './planning.ts'

export interface PoolSettings {
  readonly connectionString: string
  readonly size: number
  /** Plan statements by key (planning.ts) instead of as the server is set. */
  readonly byKey?: boolean
}

/** A `date` is a day on the calendar and stays text: pg would make it midnight of whatever zone the process runs in. */
const DATE = 1082
const getTypeParser: typeof types.getTypeParser = (oid, format) =>
  oid === DATE ? (text: unknown) => text : types.getTypeParser(oid, format)

/** Our options, and behind them those that the operator gave in the URL or as PGOPTIONS: of two the latter counts. */
function plannedByKey(connectionString: string): { connectionString: string; options: string } {
  const given = new URL(connectionString).searchParams.get('options') ?? environment().PGOPTIONS ?? ''
  return {
    // Those in the URL would take the place of the others. The rest of it is left as it is written: pg repairs passwords
    // with a stray percent sign, and writes other characters differently when it does.
    connectionString: connectionString.replace(/(?<=[?&])options=[^&]*&?/, ''),
    options: `${BY_KEY} ${given}`.trim(),
  }
}

/** A pool that gives up on a missing database within two seconds, so a caller gets its 503 instead of waiting. */
export function openPool({ connectionString, size, byKey = false }: PoolSettings, log: Log): Pool {
  const pool = new Pool({
    ...(byKey ? plannedByKey(connectionString) : { connectionString }),
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
