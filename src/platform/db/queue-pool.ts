import type { Client, Pool } from 'pg'
import { isAway } from '../lib/database-errors.ts'
import type { Log } from '../lib/log.ts'
import { type ConnectionSettings, openPool } from './pool.ts'

/** One of the codes after which the queue tries again, a hundred times. */
const TRIED_AGAIN = { code: 'ETIMEDOUT' }

/** The end of a job that could not be written would end the process: of most lost connections the queue knows no code. */
const withKnownCode = (error: unknown): never => {
  throw isAway(error) && error instanceof Error ? Object.assign(error, TRIED_AGAIN) : error
}

/** Tried again it would take another job, and the one that was taken would stay locked. */
const takesJob = (statement: unknown): boolean =>
  String((statement as { name?: unknown } | undefined)?.name).startsWith('get_job')

/** Connections of graphile-worker. */
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
      return answered instanceof Promise && !takesJob(given[0]) ? answered.catch(withKnownCode) : answered
    }) as Client['query']
  })
  return pool
}
