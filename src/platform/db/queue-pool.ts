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

/**
 * Connections of graphile-worker. It writes the end of a job without awaiting that: a failure would be an unhandled
 * rejection, which ends the process. So ends are written here, with retries while the database is away. If the first
 * write arrived but its answer was lost, a failed job may be unlocked while it is running again. All other statements
 * fail at once.
 */
export class QueuePool {
  readonly pool: Pool
  readonly #log: Log
  readonly #connected: () => Promise<PoolClient>
  #writeEnd: ((statement: QueryConfig) => Promise<unknown>) | undefined

  constructor(connection: ConnectionSettings, size: number, log: Log) {
    this.#log = log
    this.pool = openPool({ ...connection, size }, log)
    this.pool.on('connect', (client) => failAtOnce(client))
    const connect = this.pool.connect.bind(this.pool) as (...given: unknown[]) => Promise<PoolClient> | undefined
    const connected = (...given: unknown[]) =>
      connect(...given)?.catch((error: Error) => {
        throw new NotConnected(error.message, { cause: error })
      })
    this.#connected = connected as () => Promise<PoolClient>
    this.pool.connect = ((...given: unknown[]) =>
      this.#writeEnd
        ? Promise.resolve({ query: this.#writeEnd, release: () => {} })
        : connected(...given)) as Pool['connect']
  }

  endsOf(events: WorkerEvents, stopped: AbortSignal): JobEnds {
    const ends = new Map<string, Promise<boolean>>()
    const begin = ({ job }: { readonly job: { readonly id: string } }) => {
      const end = new Promise<boolean>((resolve) => {
        this.#writeEnd = async (statement) => {
          const answer = await this.#untilWritten(statement, stopped)
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
      this.#writeEnd = undefined
    })
    return {
      written: async (jobId) => (await ends.get(jobId)) ?? true,
      allWritten: async () => (await Promise.all(ends.values())).every(Boolean),
    }
  }

  /** PostgreSQL's answer; undefined if the write was refused or the worker stopped first. */
  async #untilWritten(statement: QueryConfig, stopped: AbortSignal): Promise<unknown> {
    for (;;) {
      try {
        return await this.#write(statement)
      } catch (error) {
        const isAway = error instanceof NotConnected || isUnavailable(error)
        if (!isAway) this.#log.error({ err: error }, 'the end of a job was refused: it will run again')
        if (!isAway || stopped.aborted) return undefined
      }
      await sleep(WRITE_AGAIN_AFTER_MS)
    }
  }

  async #write(statement: QueryConfig): Promise<unknown> {
    const client = await this.#connected()
    try {
      const answer = await client.query(statement)
      client.release()
      return answer
    } catch (error) {
      client.release(error as Error)
      throw error
    }
  }
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
