import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool, PoolClient, QueryResult } from 'pg'
import {
  DatabaseUnavailable,
  isAway,
  isStalePlan,
  keepsConnection,
  notConnected,
  rethrowUnavailable,
  wasRefused,
} from '../lib/database-errors.ts'
import type { Statement } from './statement.ts'

/**
 * Rides out short absences of the database (a restart, a failover), as long as nothing can be done twice: reads are
 * sent again; a write once, if the server refused it because it takes no writes (the connection still led to the former
 * primary); a transaction whose work may be repeated until its commit has been sent.
 */

/** A pool, as far as statements need one. */
export type Connections = Pick<Pool, 'ending' | 'options'> & { connect(): Promise<PoolClient> }

const TRY_AGAIN_AFTER_MS = 100

/** `until`: by `performance.now()`. */
async function repeat<T>(
  attempt: (first: boolean) => Promise<T>,
  mayRepeat: (error: unknown) => boolean,
  until: number,
): Promise<T> {
  for (let first = true; ; first = false) {
    try {
      return await attempt(first)
    } catch (error) {
      if (!mayRepeat(error) || performance.now() + TRY_AGAIN_AFTER_MS > until) throw error
      await sleep(TRY_AGAIN_AFTER_MS)
    }
  }
}

function connectionInTime(pool: Connections, until: number): Promise<PoolClient> {
  return new Promise((resolve, reject) => {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      reject(new Error('timeout exceeded when trying to connect'))
    }, until - performance.now())
    pool
      .connect()
      .then((client) => (isLate ? client.release() : resolve(client)), reject)
      .finally(() => clearTimeout(timer))
  })
}

/** A connection of the pool. Nothing has been sent yet, so every kind of absence is retried. */
export const connected = (pool: Connections, until: number): Promise<PoolClient> =>
  repeat(
    (first) => (first ? pool.connect() : connectionInTime(pool, until)),
    (error) => !pool.ending && isAway(error),
    until,
  ).catch((error) => {
    throw notConnected(error)
  })

/** Whether a statement may change something, so that a lost answer leaves the outcome unknown. */
const writes = ({ text }: Statement): boolean => /\b(insert|update|delete|graphile_worker)\b/i.test(text)

/** `last`: do not send it again, whatever happens. */
async function sendOnce(pool: Connections, statement: Statement, until: number, last = false): Promise<QueryResult> {
  const client = await connected(pool, until)
  try {
    const result = await client.query(statement)
    client.release()
    return result
  } catch (error) {
    client.release(keepsConnection(error) ? undefined : (error as Error))
    if (last || !(isStalePlan(error) || wasRefused(error))) throw error
    // The server has done nothing.
    return sendOnce(pool, withoutName(statement), until, true)
  }
}

/** A statement without a name is planned anew on any connection. */
export const withoutName = ({ text, values = [] }: Statement): Statement => ({ text, values })

/** Sends a statement that is a transaction of its own, committed before it is answered. */
export const send = (pool: Connections, statement: Statement, until: number): Promise<QueryResult> =>
  repeat(
    () => sendOnce(pool, statement, until),
    (error) => isAway(error) && !writes(statement),
    until,
  ).catch((error) => rethrowUnavailable(error, writes(statement)))

const wasRolledBack = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable && !error.outcomeUnknown && (isAway(error.cause) || isStalePlan(error.cause))

/** Retries a transaction that was certainly not committed. Its work must do nothing but send statements. */
export const untilCommitted = <T>(transact: (first: boolean) => Promise<T>, until: number): Promise<T> =>
  repeat(transact, wasRolledBack, until)
