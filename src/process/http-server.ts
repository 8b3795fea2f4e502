import { collectDefaultMetrics } from 'prom-client'
import { openLongLived } from '../long-lived.ts'
import type { ServiceDeps } from '../operations/jobs/index.ts'
import { type GatherMetrics, keepHistory, openTracing } from '../operations/metrics/index.ts'
import type { Config } from '../platform/config/index.ts'
import type { ShardNodes } from '../platform/db/citus.ts'
import { isSecretKey, KEY_FOLLOWED_WITHIN_S } from '../platform/db/installation.ts'
import { type OpenDatabase, openDatabase } from '../platform/db/open-database.ts'
import { connectionSettings } from '../platform/db/pool.ts'
import type { Db } from '../platform/db/sql.ts'
import { systemClock } from '../platform/lib/clock.ts'
import { deriveKeys, type Keys } from '../platform/lib/crypto/keys.ts'
import { endInOrder } from '../platform/lib/end-all.ts'
import type { Log } from '../platform/lib/log.ts'
import { type Metrics, openMetrics } from '../platform/lib/metrics.ts'
import { drain } from '../platform/lib/web/drain.ts'
import { listenOn } from '../platform/lib/web/listen.ts'
import { furtherListener, HEALTH_PATHS, OPERATORS_PATHS, type Where } from './further-listener.ts'

/** Where the data is, and the key it is protected with. */
export interface Database {
  readonly databaseUrl: string
  readonly secretKey: string
  /** Set on Citus, which cannot join under the generic plans of DATABASE_PLANNING=forced. */
  readonly nodes: ShardNodes | undefined
}

export interface Opened {
  readonly deps: ServiceDeps
  close(): Promise<void>
}

/** Creates the dependencies of operations, with this process's own database connections. */
export async function openDeps(config: Config, log: Log, database: Database): Promise<Opened> {
  const tracing = await openTracing(config, log)
  const { databaseUrl, secretKey, nodes } = database
  const metrics = openMetrics()
  const limits = {
    items: config.BATCH_ITEMS,
    batches: config.BATCHES_AT_ONCE,
    length: config.QUEUE_LENGTH,
    waitMs: config.QUEUE_WAIT_MS,
    onBatch: (kind: 'read' | 'write', requests: number) => metrics.batchItems.observe({ kind }, requests),
  }
  const keys = deriveKeys(secretKey, config.SECRET_KEYS_OLD)
  const settings = {
    ...connectionSettings(config, databaseUrl),
    ...(nodes ? { genericPlan: false } : {}),
    size: config.DATABASE_POOL_SIZE,
  }
  const { db, ...opened } = openDatabase(settings, log, { shards: config.SHARDS, limits, tracing, nodes })
  const { longLived, close: closeLongLived } = openLongLived({ config, db, clock: systemClock, keys }, log)
  measureProcess(metrics, opened, longLived.calls)
  const following = followKey(db, keys)
  const endHistory = keepHistory({ db, clock: systemClock, metrics })
  const close = () =>
    endInOrder(
      () => clearInterval(following),
      endHistory,
      closeLongLived,
      opened.close,
      () => tracing?.close(),
    )
  return { deps: { config, db, clock: systemClock, keys, metrics, tracing, ...longLived }, close }
}

/** Adds the metrics that are read at each scrape: of the process, its connections, and the partners that it calls. */
function measureProcess(
  { registry, watch }: Metrics,
  { connections, waiting }: Pick<OpenDatabase, 'connections' | 'waiting'>,
  { breakers, certificates }: ServiceDeps['calls'],
): void {
  collectDefaultMetrics({ register: registry })
  watch('gatehouse_processes', 'Number of processes summed here', () => 1)
  const byState = () => {
    const { total, idle } = connections()
    return { used: total - idle, idle }
  }
  const [state, room] = [{ label: 'state' }, { label: 'room' }]
  watch('gatehouse_database_connections', 'Connections of the pool by state: used, idle', byState, state)
  watch('gatehouse_database_waiting', 'Statements that wait for a connection, by room', waiting, room)
  watch(
    'gatehouse_partner_breakers',
    'Partners whose circuit breaker is open (calls failed) or slow (no background calls); the maximum over all processes',
    () => ({ ...breakers.counts() }),
    { label: 'state', aggregator: 'max' },
  )
  watch(
    'gatehouse_partner_certificates_ending',
    'Hosts of partners whose TLS certificate ends within 14 days; the maximum over all processes',
    () => certificates.ending(),
    { aggregator: 'max' },
  )
}

/** While SECRET_KEY is being rotated: adopts the current key soon after it changes in the database. */
function followKey(db: Db, keys: Keys): NodeJS.Timeout | undefined {
  if (keys.others.length === 0) return undefined
  const adopt = () => void isSecretKey(db, keys).catch(() => {}) // /readyz reports an unreachable database
  return setInterval(adopt, KEY_FOLLOWED_WITHIN_S * 500).unref()
}

export interface Serving {
  /** Turns readiness off, stops accepting connections after SHUTDOWN_DELAY_S, and lets requests in flight finish. */
  stop(): Promise<void>
}

/** Serves requests in this process: on PORT, operators' on ADMIN_PORT, and health checks on HEALTH_PORT. */
export async function serve(
  deps: ServiceDeps,
  log: Log,
  gatherMetrics?: GatherMetrics,
  othersClosed?: () => Promise<void>,
): Promise<Serving> {
  const { HOST, PORT, SHUTDOWN_DELAY_S } = deps.config
  const readiness = { draining: false }
  const { operators, health } = furtherListeners(deps.config)
  const { buildApp } = await import('../app.ts') // loaded late: job workers and the primary process do not need it
  const app = await buildApp({
    deps,
    log,
    readiness,
    gatherMetrics,
    ...(operators ? { isForOperators: operators.received } : {}),
  })
  app.addHook('preClose', async () => operators?.close()) // meanwhile the time of PORT's own requests runs too
  const stop = async () => {
    if (app.server.listening)
      await drain(app.server, readiness, SHUTDOWN_DELAY_S, () => app.unreadConnections(), othersClosed)
    readiness.draining = true
    await endInOrder(
      () => app.close(),
      () => health?.close(),
    )
  }
  const listen = async () => {
    await listenOn(app, HOST, PORT, 'PORT')
    await operators?.open(app, readiness)
    await health?.open(app, readiness)
  }
  await listen().catch(async (error: Error) => {
    await stop()
    throw error
  })
  return { stop }
}

const MAX_HEALTH_CONNECTIONS = 100

function furtherListeners({ HOST, ADMIN_HOST, ADMIN_PORT, HEALTH_PORT, MAX_CONNECTIONS, SHUTDOWN_GRACE_S }: Config) {
  const open = (port: number | undefined, where: Omit<Where, 'port' | 'graceS'>) =>
    port === undefined ? undefined : furtherListener({ ...where, port, graceS: SHUTDOWN_GRACE_S })
  return {
    operators: open(ADMIN_PORT, {
      setting: 'ADMIN_PORT',
      host: ADMIN_HOST,
      paths: OPERATORS_PATHS,
      maxConnections: MAX_CONNECTIONS,
    }),
    health: open(HEALTH_PORT, {
      setting: 'HEALTH_PORT',
      host: HOST,
      paths: HEALTH_PATHS,
      maxConnections: MAX_HEALTH_CONNECTIONS,
    }),
  }
}
