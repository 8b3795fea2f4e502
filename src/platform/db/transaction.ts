import type { PoolClient, QueryResult } from 'pg'
import { rethrowUnavailable } from '../lib/database-errors.ts'
import type { Statement } from './statement.ts'

/** The statements of one transaction, from `begin` to its end. */
export interface Transaction {
  readonly run: (statement: Statement) => Promise<QueryResult>
  /** Throws what a statement has failed with, also where nobody looked at that: PostgreSQL has rolled back then. */
  commit(): Promise<void>
  /** From now on no statement is sent: each fails with this. */
  end(reason: unknown): void
}

/**
 * After a statement has failed PostgreSQL says of each later one only that the transaction is aborted (25P02), and whoever
 * awaits that one may be told first. So all of them fail with what the first one has failed with. A statement that comes
 * after the end would be carried out by itself, or in the next transaction of the connection, so it is refused.
 *
 * `timeoutMs`: how long to wait for each answer; the pool's query_timeout if not given.
 */
export function beginTransaction(client: PoolClient, timeoutMs?: number): Transaction {
  let over: { readonly reason: unknown } | undefined
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
  const commit = async (): Promise<void> => {
    throwIfOver()
    const { command } = await client.query('commit')
    end(new Error('the transaction has ended'))
    if (command === 'ROLLBACK') throwIfOver()
  }
  return { run, commit, end }
}
