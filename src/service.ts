import { setTimeout as sleep } from 'node:timers/promises'
import { buildApp } from './app.ts'
import { readConfig } from './config.ts'
import { startEmbedded } from './db/embedded/server.ts'
import { migrate } from './db/migrate.ts'
import { openPool } from './db/pool.ts'
import { dbOf } from './db/sql.ts'
import { systemClock } from './lib/clock.ts'
import { deriveKeys } from './lib/keys.ts'
import { type Log, openLog } from './lib/log.ts'

export interface Service {
  readonly log: Log
  readonly graceMs: number
  stop(): Promise<void>
}

/** config → log → database → app → listen; `stop` undoes it in reverse: readiness off, requests finish, pool, database. */
export async function startService(): Promise<Service> {
  const config = readConfig()
  const log = openLog({ level: config.LOG_LEVEL, pretty: config.NODE_ENV === 'development' })
  const embedded = config.DATABASE_URL ? undefined : await startEmbedded(config.DATA_DIR, log)
  try {
    const databaseUrl = config.DATABASE_URL ?? embedded?.databaseUrl ?? ''
    if (config.MIGRATE) await migrate(databaseUrl)
    const pool = openPool({ connectionString: databaseUrl, size: config.DATABASE_POOL_SIZE }, log)
    const keys = deriveKeys(config.SECRET_KEY ?? embedded?.secretKey ?? '')
    const deps = { config, db: dbOf(pool), clock: systemClock, keys }
    const readiness = { draining: false }
    const app = await buildApp({ deps, log, readiness })
    await app.listen({ host: config.HOST, port: config.PORT })
    const stop = async () => {
      readiness.draining = true
      await sleep(0)
      await app.close()
      await pool.end()
      await embedded?.stop()
    }
    return { log, graceMs: (config.SHUTDOWN_GRACE_S + 5) * 1000, stop }
  } catch (error) {
    await embedded?.stop()
    throw error
  }
}
