import { Writable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import { buildApp } from '../src/app.ts'
import { openLongLived } from '../src/long-lived.ts'
import type { ServiceDeps } from '../src/operations/jobs/index.ts'
import { type Config, readConfig } from '../src/platform/config/index.ts'
import { BATCH_LIMITS } from '../src/platform/db/batch.ts'
import { nodesOfShards } from '../src/platform/db/citus.ts'
import { openDatabase } from '../src/platform/db/open-database.ts'
import { type ConnectionSettings, connectionSettings, openPool } from '../src/platform/db/pool.ts'
import { addSeconds, type Clock } from '../src/platform/lib/clock.ts'
import { deriveKeys } from '../src/platform/lib/crypto/keys.ts'
import { type Log, openLog } from '../src/platform/lib/log.ts'
import { openMetrics } from '../src/platform/lib/metrics.ts'
import { freshDatabase } from './database.ts'
import { CITUS_URL, EVERYBODY, SHARDS } from './one-table.ts'
import { OPEN_WORLDS } from './open-worlds.ts'
import { ADMIN_TOKEN, SECRET_KEY } from './secrets.ts'

export { ADMIN_TOKEN, freshDatabase, SECRET_KEY }

/** Stands still until `advance` is called; negative seconds set it back. */
interface TestClock extends Clock {
  advance(seconds: number): void
}

function testClock(start = '2026-05-06T10:34:20Z'): TestClock {
  let now = new Date(start)
  let elapsedMs = 0
  return {
    now: () => now,
    elapsedMs: () => elapsedMs,
    advance: (seconds) => {
      elapsedMs += Math.max(0, seconds * 1_000)
      now = addSeconds(now, seconds)
    },
  }
}

/** For tests of concurrency. Other worlds use fewer connections, as PostgreSQL is slow to open them. */
export const MANY_CONNECTIONS = { DATABASE_POOL_SIZE: '10' }

/** Queues may be slow on a busy machine. */
export const PATIENT = { ...BATCH_LIMITS, waitMs: 20_000 }

export interface World {
  readonly deps: ServiceDeps
  readonly app: FastifyInstance
  readonly clock: TestClock
  readonly pool: pg.Pool
  readonly log: Log
  readonly databaseUrl: string
  /** Everything that was logged, as text. */
  logged(): string
  close(): Promise<void>
}

type Database = Awaited<ReturnType<typeof freshDatabase>>

/** Connection settings like those of the service, which detects Citus itself. */
export const connectionOf = (config: Config, databaseUrl: string): ConnectionSettings => ({
  ...connectionSettings(config, databaseUrl),
  ...(CITUS_URL ? { genericPlan: false } : {}),
})

/** The whole app on a fresh database, with a clock that stands still. `environment` holds settings as in the environment. */
export async function openWorld(environment: Record<string, string> = {}, given?: Database): Promise<World> {
  const database = given ?? (await freshDatabase())
  const config: Config = readConfig({
    NODE_ENV: 'test',
    DATABASE_URL: database.url,
    SHARDS: String(SHARDS),
    SECRET_KEY,
    ADMIN_TOKEN,
    LOG_LEVEL: 'debug',
    LOG_REQUESTS: 'all',
    PAGES_PER_MINUTE: '1000000',
    QUEUE_WAIT_MS: '20000',
    DATABASE_POOL_SIZE: '4',
    MAX_REQUESTS: '10000',
    SIGN_IN_QUEUE: '10000',
    ...environment,
  })
  const lines: string[] = []
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const log = openLog({ level: config.LOG_LEVEL, pretty: false }, sink)
  const settings = { ...connectionOf(config, database.url), size: config.DATABASE_POOL_SIZE }
  const nodes = CITUS_URL ? await nodesOfShards(database.url, config.SHARDS) : undefined
  const opened = openDatabase(settings, log, { shards: config.SHARDS, limits: PATIENT, nodes })
  const pool = !given && SHARDS > 1 ? openPool({ ...settings, schema: EVERYBODY }, log) : opened.pool
  const clock = testClock()
  const [db, keys] = [opened.db, deriveKeys(SECRET_KEY)]
  const { longLived, close } = openLongLived({ config, db, clock, keys }, log)
  const deps: ServiceDeps = { config, db, clock, keys, metrics: openMetrics(), ...longLived }
  const app = await buildApp({ deps, log, readiness: { draining: false } })
  await app.ready()
  OPEN_WORLDS.set(database.url, { app, clock })
  return {
    deps,
    app,
    clock,
    pool,
    log,
    databaseUrl: database.url,
    logged: () => lines.join(''),
    close: async () => {
      OPEN_WORLDS.delete(database.url)
      await app.close()
      await close()
      await opened.close()
      if (pool !== opened.pool) await pool.end()
      await database.drop()
    },
  }
}
