import type { PoolClient, QueryResult } from 'pg'
import { rethrowUnavailable } from '../lib/database-errors.ts'
import type { Statement } from './statement.ts'

/**
 * The statements of one transaction, from `begin` to its end.
 *
 * After a statement has failed, PostgreSQL answers each later one only that the transaction is aborted (25P02), and
 * that may be seen first: so all fail with the first one's error. A statement after the end would run by itself, so it
 * is refused.
 *
 * `timeoutMs`: how long to wait for each answer; by default the pool's query_timeout.
 */
export function beginTransaction(client: PoolClient, timeoutMs?: number) {
  let over: { readonly reason: unknown } | undefined
  /** From now on no statement is sent: each fails with `reason`. */
  const end = (reason: unknown): void => {
    over ??= { reason }
  }
  const throwIfOver = (): void => {
    if (over) throw over.reason
  }
  const failed = (error: unknown): never => {
    throwIfOver()
    try {
      return rethrowUnavailable(error)
    } catch (reason) {
      end(reason)
      throw reason
    }
  }
  const run = async (statement: Statement): Promise<QueryResult> => {
    throwIfOver()
    const withTimeout: Statement & { query_timeout?: number } =
      timeoutMs === undefined ? statement : { ...statement, query_timeout: timeoutMs }
    return client.query(withTimeout).catch(failed)
  }
  /** Throws the error of a failed statement even if nobody awaited it: PostgreSQL has rolled back then. */
  const commit = async (): Promise<void> => {
    throwIfOver()
    const { command } = await client.query('commit')
    end(new Error('the transaction has ended'))
    if (command === 'ROLLBACK') throwIfOver()
  }
  return { run, commit, end }
}
