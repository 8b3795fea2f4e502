import { type Config, withPort } from './config.ts'
import { type EmbeddedServer, startEmbedded } from './db/embedded/server.ts'
import { migrate } from './db/migrate.ts'
import { type Demo, startDemo } from './demo/index.ts'
import { seedDemo } from './demo/seed.ts'
import { type JobWorker, startWorker } from './jobs/worker.ts'
import { freePort } from './lib/listen.ts'
import { type Log, openLog } from './lib/log.ts'
import { serveInProcesses } from './server-processes.ts'
import { type Database, type Opened, openDeps, type Serving, serve } from './serving.ts'

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
  opened?: Opened
  serving?: Serving
  demo?: Demo
  worker?: JobWorker
}

/** config → log → database → app → listen; what was started is stopped again when a later step fails. */
export async function startService(settings: Config): Promise<Service> {
  // Chosen before anything is told its address: PUBLIC_URL holds the port.
  const config = settings.PORT === 0 ? withPort(settings, await freePort()) : settings
  const log = openLog({
    level: config.LOG_LEVEL,
    pretty: config.NODE_ENV === 'development',
  })
  const running: Running = {}
  const stop = async () => {
    await Promise.all([running.demo?.stop(), running.serving?.stop(), running.worker?.stop()]) // each may take SHUTDOWN_GRACE_S
    await running.opened?.close()
    await running.embedded?.stop()
  }
  try {
    const database = await openDatabase(config, log, running)
    running.opened = openDeps(config, log, database)
    const { deps } = running.opened
    if (config.DEMO) await seedDemo(deps) // before anybody can be told that we are ready
    running.serving = await (config.WORKERS > 1 ? serveInProcesses(config, database, log) : serve(deps, log))
    if (config.WORKER) running.worker = await startWorker(deps, log, database.databaseUrl)
    running.worker?.ended.catch((error: Error) => log.fatal({ err: error }, 'durable jobs have stopped'))
    if (config.DEMO) running.demo = await startDemo(deps, log)
    return { config, log, demoUrl: running.demo?.url, officeUrl: running.demo?.officeUrl, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function openDatabase(config: Config, log: Log, running: Running): Promise<Database> {
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
