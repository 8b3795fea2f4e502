import { setTimeout as sleep } from 'node:timers/promises'
import type { WorkerEvents } from 'graphile-worker'
import type { ClientBase, Pool, PoolClient, QueryConfig } from 'pg'
import { isUnavailable } from '../lib/database-errors.ts'
import type { Log } from '../lib/log.ts'
import { type ConnectionSettings, openPool } from './pool.ts'

const WRITE_AGAIN_AFTER_MS = 1_000
/** For these codes graphile-worker would retry a statement a hundred times, up to three minutes apart. */
const RETRIED_FOR_HOURS = new Set(['57P03', 'EHOSTUNREACH', 'ETIMEDOUT'])

/** No statement was sent. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected'
}

/** The ends of one worker's jobs. Until its end is written, a job stays locked by the worker. */
export interface JobEnds {
  /** False if it could not be written: the database refused it, or was away until the worker was told to stop. */
  written(jobId: string): Promise<boolean>
  allWritten(): Promise<boolean>
}

export type QueuePool = ReturnType<typeof openQueuePool>

/**
 * Connections of graphile-worker. It writes the end of a job without awaiting that: a failure would be an unhandled
 * rejection, which ends the process. So ends are written here, with retries while the database is away. If only the
 * answer of a write was lost, a failed job may be unlocked while it is running again. All other statements fail at
 * once.
 */
export function openQueuePool(connection: ConnectionSettings, size: number, log: Log) {
  const pool = openPool({ ...connection, size }, log)
  pool.on('connect', (client) => failAtOnce(client))
  const connect = pool.connect.bind(pool) as (...given: unknown[]) => Promise<PoolClient> | undefined
  const connected = (...given: unknown[]) =>
    connect(...given)?.catch((error: Error) => {
      throw new NotConnected(error.message, { cause: error })
    })
  let writeEnd: ((statement: QueryConfig) => Promise<unknown>) | undefined
  pool.connect = ((...given: unknown[]) =>
    writeEnd ? Promise.resolve({ query: writeEnd, release: () => {} }) : connected(...given)) as Pool['connect']

  const write = async (statement: QueryConfig): Promise<unknown> => {
    const client = (await connected()) as PoolClient
    try {
      const answer = await client.query(statement)
      client.release()
      return answer
    } catch (error) {
      client.release(error as Error)
      throw error
    }
  }

  /** PostgreSQL's answer; undefined if the write was refused or the worker stopped first. */
  const untilWritten = async (statement: QueryConfig, stopped: AbortSignal): Promise<unknown> => {
    for (;;) {
      try {
        return await write(statement)
      } catch (error) {
        const isAway = error instanceof NotConnected || isUnavailable(error)
        if (!isAway) log.error({ err: error }, 'the end of a job was refused: it will run again')
        if (!isAway || stopped.aborted) return undefined
      }
      await sleep(WRITE_AGAIN_AFTER_MS)
    }
  }

  const endsOf = (events: WorkerEvents, stopped: AbortSignal): JobEnds => {
    const ends = new Map<string, Promise<boolean>>()
    const begin = ({ job }: { readonly job: { readonly id: string } }) => {
      const end = new Promise<boolean>((resolve) => {
        writeEnd = async (statement) => {
          const answer = await untilWritten(statement, stopped)
          resolve(answer !== undefined)
          if (answer) ends.delete(job.id)
          return answer ?? new Promise(() => {}) // graphile-worker must not see the failure
        }
      })
      ends.set(job.id, end)
    }
    // Between these events graphile-worker takes the connection on which it writes the end of the job.
    events.on('job:success', begin)
    events.on('job:error', begin)
    events.on('job:complete', () => {
      writeEnd = undefined
    })
    return {
      written: async (jobId) => (await ends.get(jobId)) ?? true,
      allWritten: async () => (await Promise.all(ends.values())).every(Boolean),
    }
  }
  return { pool, endsOf }
}

function failAtOnce(client: ClientBase): void {
  const query = client.query.bind(client) as (...given: unknown[]) => unknown
  client.query = ((...given: unknown[]) => {
    const answered = query(...given)
    if (!(answered instanceof Promise)) return answered
    return answered.catch((error: Error & { code?: string }) => {
      throw RETRIED_FOR_HOURS.has(error.code ?? '') ? new AggregateError([error], error.message) : error
    })
  }) as ClientBase['query']
}
