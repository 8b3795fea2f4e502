import { buildApp } from './app.ts'
import type { Config } from './config.ts'
import { openPool } from './db/pool.ts'
import { dbOf } from './db/sql.ts'
import type { Deps } from './deps.ts'
import { systemClock } from './lib/clock.ts'
import { deriveKeys } from './lib/keys.ts'
import { listenOn } from './lib/listen.ts'
import type { Log } from './lib/log.ts'

/** Where the data is, and the key from which all others are derived. */
export interface Database {
  readonly databaseUrl: string
  readonly secretKey: string
}

export interface Opened {
  readonly deps: Deps
  close(): Promise<void>
}

/** What operations are given, on connections of this process's own. */
export function openDeps(config: Config, log: Log, { databaseUrl, secretKey }: Database): Opened {
  const pool = openPool(
    {
      connectionString: databaseUrl,
      size: config.DATABASE_POOL_SIZE,
      byKey: config.DATABASE_PLANNING === 'by-key',
    },
    log,
  )
  const limits = { items: config.GATHER_ITEMS, batches: config.GATHER_BATCHES }
  const deps = { config, db: dbOf(pool, limits), clock: systemClock, keys: deriveKeys(secretKey) }
  return { deps, close: () => pool.end() }
}

export interface Serving {
  /** Readiness off; requests in flight finish. */
  stop(): Promise<void>
}

/** Answers requests on PORT in this process. */
export async function serve(deps: Deps, log: Log): Promise<Serving> {
  const { HOST, PORT } = deps.config
  const readiness = { draining: false }
  const app = await buildApp({ deps, log, readiness })
  const stop = async () => {
    readiness.draining = true
    await app.close()
  }
  await listenOn(app, HOST, PORT, 'PORT').catch(async (error: Error) => {
    await stop()
    throw error
  })
  return { stop }
}
