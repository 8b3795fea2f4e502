import { setTimeout as sleep } from 'node:timers/promises'
import type { WorkerEvents } from 'graphile-worker'
import type { Pool } from 'pg'
import { isUnavailable } from '../lib/database-errors.ts'
import type { Log } from '../lib/log.ts'
import { type ConnectionSettings, openPool } from './pool.ts'

const WRITE_AGAIN_AFTER_MS = 1_000

/** No statement was sent. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected'
}

/**
 * Connections of graphile-worker. It writes the end of a job without waiting for it: refused, that would be an unhandled
 * rejection, which ends the process. So ends are written here, again and again until the worker is told to end.
 * All else fails at once, and with no code after which it would try a hundred times, with minutes in between.
 */
export class QueuePool {
  readonly pool: Pool
  #writeEnd: ((statement: unknown) => Promise<unknown>) | undefined

  constructor(connection: ConnectionSettings, size: number, log: Log) {
    const pool = openPool({ ...connection, size }, log)
    const connect = pool.connect.bind(pool) as (...given: unknown[]) => Promise<unknown> | undefined
    pool.connect = ((...given: unknown[]) =>
      this.#writeEnd
        ? Promise.resolve({ query: this.#writeEnd, release: () => {} })
        : connect(...given)?.catch((error: Error) => {
            throw new NotConnected(error.message, { cause: error })
          })) as Pool['connect']
    this.pool = pool
  }

  /**
   * Writes the ends of the jobs of one worker. The function returned waits for those that are being written, and says
   * whether all are: a job of which the end is not written stays locked under the name of its worker.
   */
  writeEnds(events: WorkerEvents, over: AbortSignal): () => Promise<boolean> {
    const writing = new Set<Promise<unknown>>()
    const write = async (statement: unknown): Promise<unknown> => {
      const written = this.#untilWritten(statement, over)
      writing.add(written)
      const answer = await written
      if (!answer) return new Promise(() => {}) // the queue has nothing to do with it any more
      writing.delete(written)
      return answer
    }
    // Between these events graphile-worker asks for the connection on which it writes the end of the job.
    const begin = () => {
      this.#writeEnd = write
    }
    events.on('job:success', begin)
    events.on('job:error', begin)
    events.on('job:complete', () => {
      this.#writeEnd = undefined
    })
    return async () => (await Promise.all(writing)).every(Boolean)
  }

  /** PostgreSQL's answer; nothing when it was away until the worker was told to end. */
  async #untilWritten(statement: unknown, over: AbortSignal): Promise<unknown> {
    for (;;) {
      try {
        return await this.pool.query(statement as string)
      } catch (error) {
        if (!isUnavailable(error)) throw error
        if (over.aborted) return undefined
      }
      await sleep(WRITE_AGAIN_AFTER_MS)
    }
  }
}
