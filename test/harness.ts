import { randomBytes } from 'node:crypto'
import { Writable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import pg from 'pg'
import { inject } from 'vitest'
import { buildApp } from '../src/app.ts'
import { LogFollowers } from '../src/certification/follow.ts'
import { RunningAttempts } from '../src/certification/running-attempts.ts'
import { type Config, readConfig } from '../src/config/index.ts'
import { BATCH_LIMITS } from '../src/db/batch.ts'
import { connectionSettings, openPool } from '../src/db/pool.ts'
import { dbOf } from '../src/db/sql.ts'
import type { Deps } from '../src/deps.ts'
import { addSeconds, type Clock } from '../src/lib/clock.ts'
import { deriveKeys } from '../src/lib/crypto/keys.ts'
import { type Log, openLog } from '../src/lib/log.ts'
import { CircuitBreakers } from '../src/partner-calls/breaker.ts'
import { openRates } from '../src/throttle/index.ts'
import { TEMPLATE } from './global-setup.ts'
import { until } from './until.ts'

export const SECRET_KEY = 'a secret key that is used by tests and by nothing else'
export const ADMIN_TOKEN = 'admin-token-used-by-tests-only'

/** Stands still until told to move. */
interface TestClock extends Clock {
  advance(seconds: number): void
}

function testClock(start = '2026-05-06T10:34:20Z'): TestClock {
  let now = new Date(start)
  return {
    now: () => now,
    advance: (seconds) => {
      now = addSeconds(now, seconds)
    },
  }
}

/** On a busy machine a queue may be slow. */
const PATIENT = { ...BATCH_LIMITS, waitMs: 20_000 }

/** A fresh database, cloned from the migrated template. */
export async function freshDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const serverUrl = inject('serverUrl')
  const name = `t_${randomBytes(6).toString('hex')}`
  const asAdmin = async (statement: string) => {
    const client = new pg.Client({ connectionString: serverUrl })
    await client.connect()
    await client.query(statement).finally(() => client.end())
  }
  await asAdmin(`create database ${name} template ${TEMPLATE}`)
  const url = new URL(serverUrl)
  url.pathname = name
  // A pool that has ended still closes its connections: PostgreSQL waits five seconds for these. One that it ends by force
  // meanwhile makes an error that nobody listens to any more.
  const dropOnce = () =>
    asAdmin(`drop database if exists ${name}`).catch(() => asAdmin(`drop database if exists ${name} with (force)`))
  // PostgreSQL drops with a checkpoint of all databases, and the disk of a neighbour may be full (test/readiness.test.ts).
  const drop = async () => {
    await until(() =>
      dropOnce().then(
        () => true,
        (error: Error) => {
          if (error.message === 'checkpoint request failed') return false
          throw error
        },
      ),
    )
  }
  return { url: url.href, drop }
}

export interface World {
  readonly deps: Deps
  readonly app: FastifyInstance
  readonly clock: TestClock
  readonly pool: pg.Pool
  readonly log: Log
  readonly databaseUrl: string
  /** Everything that was logged, as text. */
  logged(): string
  close(): Promise<void>
}

/** The whole app on a fresh database with a clock that stands still. Settings are given as environment variables. */
export async function openWorld(environment: Record<string, string> = {}): Promise<World> {
  const database = await freshDatabase()
  const config: Config = readConfig({
    NODE_ENV: 'test',
    DATABASE_URL: database.url,
    SECRET_KEY,
    ADMIN_TOKEN,
    LOG_LEVEL: 'debug',
    PAGES_PER_MINUTE: '1000000',
    QUEUE_WAIT_MS: '20000',
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
  const pool = openPool({ ...connectionSettings(config, database.url), size: config.DATABASE_POOL_SIZE }, log)
  const clock = testClock()
  const [db, keys] = [dbOf(pool, PATIENT), deriveKeys(SECRET_KEY)]
  const deps: Deps = {
    config,
    db,
    clock,
    keys,
    rates: openRates(db, keys),
    calls: { breakers: new CircuitBreakers(clock) },
    runningAttempts: new RunningAttempts(),
    logFollowers: new LogFollowers(db),
  }
  const app = await buildApp({ deps, log, readiness: { draining: false } })
  await app.ready()
  return {
    deps,
    app,
    clock,
    pool,
    log,
    databaseUrl: database.url,
    logged: () => lines.join(''),
    close: async () => {
      await app.close()
      await deps.rates.close()
      await pool.end()
      await database.drop()
    },
  }
}
