import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { lockAsWorker } from './jobs-store.ts'

const AGAIN_AFTER_MS = 1_000

export interface SignOfLife {
  stop(): Promise<void>
}

/**
 * Holds a lock in the name of a worker as long as this process lives: PostgreSQL lets go of it by itself when the
 * process, its machine or its network is gone. A connection that breaks is made again.
 */
export function giveSignOfLife(databaseUrl: string, workerId: string): SignOfLife {
  const stopping = new AbortController()
  let client: pg.Client | undefined
  const hold = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      client = new pg.Client({ connectionString: databaseUrl, application_name: 'gatehouse worker' })
      const over = new Promise<void>((resolve) => client?.once('end', resolve))
      client.on('error', () => {})
      const held = await client
        .connect()
        .then(() => client?.query(lockAsWorker(workerId)))
        .then(
          () => true,
          () => false,
        )
      if (held) await over
      await sleep(AGAIN_AFTER_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
    }
  }
  const held = hold()
  return {
    stop: async () => {
      stopping.abort()
      await client?.end().catch(() => {})
      await held
    },
  }
}
