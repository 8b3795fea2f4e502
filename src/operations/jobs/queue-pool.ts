import type { Client, Pool } from 'pg'
import { type ConnectionSettings, openPool } from '../../platform/db/pool.ts'
import { isAway } from '../../platform/lib/database-errors.ts'
import type { Log } from '../../platform/lib/log.ts'

/** One of the codes after which the queue tries again, a hundred times. */
const TRIED_AGAIN = { code: 'ETIMEDOUT' }

/** The end of a job that could not be written would end the process: of most lost connections the queue knows no code. */
const withKnownCode = (error: unknown): never => {
  throw isAway(error) && error instanceof Error ? Object.assign(error, TRIED_AGAIN) : error
}

/** The queue's connections. All that it tries again may be done twice. */
export function openQueuePool(connection: ConnectionSettings, size: number, log: Log): Pool {
  const pool = openPool({ ...connection, size }, log)
  const connect = pool.connect.bind(pool) as (...given: unknown[]) => unknown
  pool.connect = ((...given: unknown[]) => {
    const connecting = connect(...given)
    return connecting instanceof Promise ? connecting.catch(withKnownCode) : connecting
  }) as Pool['connect']
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...given: unknown[]) => unknown
    client.query = ((...given: unknown[]) => {
      const answered = query(...given)
      return answered instanceof Promise ? answered.catch(withKnownCode) : answered
    }) as Client['query']
  })
  return pool
}
