import type { FastifyInstance } from 'fastify'
import { buildApp } from './app.ts'
import { type Config, readConfig, withPort } from './config.ts'
import { type EmbeddedServer, startEmbedded } from './db/embedded/server.ts'
import { migrate } from './db/migrate.ts'
import { openPool } from './db/pool.ts'
import { dbOf } from './db/sql.ts'
import { type Demo, startDemo } from './demo/index.ts'
import { seedDemo } from './demo/seed.ts'
import { type JobWorker, startWorker } from './jobs/worker.ts'
import { systemClock } from './lib/clock.ts'
import { deriveKeys } from './lib/keys.ts'
import { freePort, listenOn } from './lib/listen.ts'
import { type Log, openLog } from './lib/log.ts'

export interface Service {
  readonly config: Config
  readonly log: Log
  /** Undefined where no demo runs. */
  readonly demoUrl: string | undefined
  /** The back office of the demo partner; undefined where none runs. */
  readonly officeUrl: string | undefined
  /** Readiness off, requests and jobs in flight finish, then pool and database close. */
  stop(): Promise<void>
}

interface Running {
  embedded?: EmbeddedServer
  pool?: ReturnType<typeof openPool>
  app?: FastifyInstance
  demo?: Demo
  worker?: JobWorker
}

/** config → log → database → app → listen; what was started is stopped again when a later step fails. */
export async function startService(): Promise<Service> {
  const settings = readConfig()
  // Chosen before anything is told its address: PUBLIC_URL holds the port.
  const config = settings.PORT === 0 ? withPort(settings, await freePort()) : settings
  const log = openLog({
    level: config.LOG_LEVEL,
    pretty: config.NODE_ENV === 'development',
  })
  const readiness = { draining: false }
  const running: Running = {}
  const stop = async () => {
    readiness.draining = true
    await Promise.all([running.demo?.stop(), running.app?.close(), running.worker?.stop()]) // each may take SHUTDOWN_GRACE_S
    await running.pool?.end()
    await running.embedded?.stop()
  }
  try {
    const { databaseUrl, secretKey } = await openDatabase(config, log, running)
    running.pool = openPool({ connectionString: databaseUrl, size: config.DATABASE_POOL_SIZE }, log)
    const deps = {
      config,
      db: dbOf(running.pool),
      clock: systemClock,
      keys: deriveKeys(secretKey),
    }
    if (config.DEMO) await seedDemo(deps) // before anybody can be told that we are ready
    running.app = await buildApp({ deps, log, readiness })
    await listenOn(running.app, config.HOST, config.PORT, 'PORT')
    if (config.WORKER) running.worker = await startWorker(deps, log, databaseUrl)
    running.worker?.ended.catch((error: Error) => log.fatal({ err: error }, 'durable jobs have stopped'))
    if (config.DEMO) running.demo = await startDemo(deps, log)
    return { config, log, demoUrl: running.demo?.url, officeUrl: running.demo?.officeUrl, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function openDatabase(config: Config, log: Log, running: Running) {
  if (!config.DATABASE_URL) running.embedded = await startEmbedded(config.DATA_DIR, log)
  const databaseUrl = config.DATABASE_URL ?? running.embedded?.databaseUrl ?? ''
  const secretKey = config.SECRET_KEY ?? running.embedded?.secretKey ?? ''
  if (config.MIGRATE) {
    await migrate(databaseUrl).catch((error: Error) => {
      throw new Error(
        `the database cannot be used: ${error.message}\ncheck DATABASE_URL, or unset it to use the embedded one`,
      )
    })
  }
  return { databaseUrl, secretKey }
}
