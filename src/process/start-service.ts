import { setTimeout as sleep } from 'node:timers/promises'
import { type Demo, loadDemo, refuseDemoRows, seedDemo, startDemo } from '../demo/index.ts'
import { type JobWorker, startWorker } from '../operations/jobs/index.ts'
import { type Config, operatorsAddress, withPorts } from '../platform/config/index.ts'
import { awaitDatabase } from '../platform/db/await-database.ts'
import { checkSessions } from '../platform/db/check-sessions.ts'
import { nodesOfShards } from '../platform/db/citus.ts'
import { keepAddress } from '../platform/db/embedded/lock.ts'
import { type EmbeddedServer, startEmbedded } from '../platform/db/embedded/server.ts'
import { checkSecretKey } from '../platform/db/installation.ts'
import { migrate } from '../platform/db/migrate.ts'
import { connectionSettings } from '../platform/db/pool.ts'
import { checkShards } from '../platform/db/shard-count.ts'
import { endInOrder, endTogether } from '../platform/lib/end-all.ts'
import { type Log, openLog } from '../platform/lib/log.ts'
import { checkPorts, freePort, type WantedPort } from '../platform/lib/web/listen.ts'
import { MetricsOfProcesses } from './gather-metrics.ts'
import { serveInProcesses } from './http-cluster.ts'
import { type Database, type Opened, openDeps, type Serving, serve } from './http-server.ts'

export interface Service {
  readonly config: Config
  readonly log: Log
  readonly demoUrl: string | undefined
  /** The back office of the demo partner; undefined if it is not running. */
  readonly officeUrl: string | undefined
  /** Turns readiness off, lets requests and jobs in flight finish, then closes the pool and the embedded database. */
  stop(): Promise<void>
}

const CONNECTIONS_SHORT =
  'HTTP_PROCESSES times DATABASE_POOL_SIZE (with SHARDS, times one more than these), and seven for jobs, leave no connection of PostgreSQL over: lower one of them, or raise its max_connections; until then requests are refused under load'

/** Connections of the queue, and the one that renews the worker's lease. */
const OF_JOBS = 7

const CLOSE_TIMEOUT_MS = 2_000

interface Running {
  embedded?: EmbeddedServer
  forgetAddress?: () => void
  opened?: Opened
  serving?: Serving
  demo?: Demo
  worker?: JobWorker
}

/** config → log → database → app → listen. If a step fails, what was started before is stopped. */
export async function startService(settings: Config, signal?: AbortSignal): Promise<Service> {
  const config = await withFreePorts(settings)
  const log = openLog({ level: config.LOG_LEVEL, pretty: config.NODE_ENV === 'development' })
  await checkPorts(portsOf(config))
  const running: Running = {}
  const stop = () =>
    endInOrder(
      () => running.forgetAddress?.(),
      // Each may take SHUTDOWN_GRACE_S.
      () => endTogether(...[running.demo, running.serving, running.worker].map((part) => () => part?.stop())),
      // A hanging statement must not keep the process alive: nobody waits for its result any more.
      () => Promise.race([running.opened?.close(), sleep(CLOSE_TIMEOUT_MS)]),
      () => running.embedded?.stop(),
    )
  try {
    const database = await openDatabase(config, log, running, signal)
    running.opened = await openDeps(config, log, database)
    const { deps } = running.opened
    await checkSecretKey(deps)
    if (config.NODE_ENV === 'production') await refuseDemoRows(deps)
    if (config.DEMO) {
      await loadDemo()
      await seedDemo(deps) // before the service reports that it is ready
    }
    const metrics = new MetricsOfProcesses(() => deps.metrics.registry.getMetricsAsJSON())
    const several = config.HTTP_PROCESSES > 1
    running.serving = await (several ? serveInProcesses(config, database, log, metrics) : serve(deps, log))
    if (running.embedded) running.forgetAddress = keepAddress(config.DATA_DIR, operatorsAddress(config))
    if (config.JOBS) running.worker = await startWorker(deps, log, database.databaseUrl)
    if (config.DEMO) running.demo = await startDemo(deps, log)
    return { config, log, demoUrl: running.demo?.url, officeUrl: running.demo?.officeUrl, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Ports are chosen first, since PUBLIC_URL and PARTNER_ADDRESS_ALLOW contain them. */
async function withFreePorts(config: Config): Promise<Config> {
  const { ADMIN_PORT, HEALTH_PORT, DEMO_PORT, DEMO_PARTNER_PORT } = config
  const port = config.PORT || (await freePort([ADMIN_PORT, HEALTH_PORT, DEMO_PORT, DEMO_PARTNER_PORT]))
  const demoPartnerPort =
    config.DEMO && DEMO_PARTNER_PORT === 0
      ? await freePort([port, ADMIN_PORT, HEALTH_PORT, DEMO_PORT])
      : DEMO_PARTNER_PORT
  return withPorts(config, { port, demoPartnerPort })
}

/** The demo partner's back office has no password, so it listens on loopback, whatever HOST says. */
function portsOf(config: Config): WantedPort[] {
  const { HOST, PORT, HEALTH_PORT, ADMIN_HOST, ADMIN_PORT, DEMO, DEMO_PORT, DEMO_PARTNER_PORT } = config
  const own: WantedPort[] = [{ setting: 'PORT', host: HOST, port: PORT }]
  if (ADMIN_PORT !== undefined) own.push({ setting: 'ADMIN_PORT', host: ADMIN_HOST, port: ADMIN_PORT })
  if (HEALTH_PORT !== undefined) own.push({ setting: 'HEALTH_PORT', host: HOST, port: HEALTH_PORT })
  if (!DEMO) return own
  return [
    ...own,
    { setting: 'DEMO_PORT', host: HOST, port: DEMO_PORT },
    { setting: 'DEMO_PARTNER_PORT', host: '127.0.0.1', port: DEMO_PARTNER_PORT },
  ]
}

/** Pools per process: a common one and one for each shard. */
const poolsOf = ({ SHARDS }: Config): number => (SHARDS > 1 ? SHARDS + 1 : 1)

async function openDatabase(config: Config, log: Log, running: Running, signal?: AbortSignal): Promise<Database> {
  const { DATABASE_URL, DATABASE_WAIT_S } = config
  if (DATABASE_URL) await awaitDatabase(DATABASE_URL, { seconds: DATABASE_WAIT_S, log, signal })
  else running.embedded = await startEmbedded(config.DATA_DIR, log)
  const databaseUrl = config.DATABASE_URL ?? running.embedded?.databaseUrl ?? ''
  const secretKey = config.SECRET_KEY ?? running.embedded?.secretKey ?? ''
  try {
    if (config.DATABASE_URL) {
      const available = await checkSessions(connectionSettings(config, databaseUrl))
      const ofRequests = config.HTTP_PROCESSES * config.DATABASE_POOL_SIZE * poolsOf(config)
      const wanted = ofRequests + (config.JOBS ? OF_JOBS : 0)
      if (wanted >= available) log.warn({ wanted, available }, CONNECTIONS_SHORT)
    }
    await (config.MIGRATE
      ? migrate(databaseUrl, config.SHARDS, (message) => log.warn(message))
      : checkShards(databaseUrl, config.SHARDS))
    const nodes = await nodesOfShards(databaseUrl, config.SHARDS)
    if (nodes)
      log.info(
        { shards_asked_directly: Object.keys(nodes).length },
        'the shards are on nodes of Citus: statements are planned as with DATABASE_PLANNING=server',
      )
    return { databaseUrl, secretKey, nodes }
  } catch (error) {
    const { message } = error as Error
    // An error without a code is our own and says what to do.
    const remedy =
      DATABASE_URL && 'code' in (error as Error) ? '\ncheck DATABASE_URL, or unset it to use the embedded database' : ''
    throw new Error(`the database cannot be used: ${message}${remedy}`)
  }
}
