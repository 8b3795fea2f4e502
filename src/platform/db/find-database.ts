import { readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/index.ts'
import { rethrowUnavailable } from '../lib/database-errors.ts'
import type { Log } from '../lib/log.ts'
import { checkSessions } from './check-sessions.ts'
import { holderOf } from './embedded/lock.ts'
import { keptSecrets } from './embedded/secrets.ts'
import { databaseUrlOf, startEmbedded } from './embedded/server.ts'
import { connectionSettings } from './pool.ts'

export interface FoundDatabase {
  readonly databaseUrl: string
  readonly secretKey: string
  /** It was started for this caller, which therefore has to bring the schema up to date. */
  readonly started: boolean
  stop(): Promise<void>
}

/** The database that the settings name: DATABASE_URL, or else the embedded one of DATA_DIR. */
export async function findDatabase(config: Config, log: Log): Promise<FoundDatabase> {
  const { DATABASE_URL, SECRET_KEY, DATA_DIR } = config
  if (DATABASE_URL) {
    await checkSessions(connectionSettings(config, DATABASE_URL)).catch((error: unknown) => rethrowUnavailable(error))
    return { databaseUrl: DATABASE_URL, secretKey: SECRET_KEY ?? '', started: false, stop: async () => {} }
  }
  const embedded = await attachEmbedded(DATA_DIR, log)
  return { ...embedded, secretKey: SECRET_KEY ?? embedded.secretKey }
}

/** The embedded server for the duration of a command: the running one, or one `started` for it, which ends with it. */
export async function attachEmbedded(dataDirectory: string, log: Log): Promise<FoundDatabase> {
  const dataDir = resolve(dataDirectory)
  const own = await startEmbedded(dataDir, log, { purpose: 'command' }).catch((error: unknown) => {
    if (holderOf(dataDir)?.purpose !== 'service') throw error
  })
  if (own) return { ...own, started: true }
  const port = await portOfRunning(dataDir)
  const { password, secretKey } = keptSecrets(dataDir)
  return { databaseUrl: databaseUrlOf(password, port), secretKey, started: false, stop: async () => {} }
}

/** PostgreSQL writes its port on line 4 of its pid file and its state on line 8; a service may just be starting. */
async function portOfRunning(dataDir: string): Promise<number> {
  const file = join(dataDir, 'postgres', 'postmaster.pid')
  for (let waited = 0; waited < 100; waited++) {
    const lines = statSync(file, { throwIfNoEntry: false }) ? readFileSync(file, 'utf8').split('\n') : []
    if (lines[7]?.trim() === 'ready') return Number(lines[3])
    await sleep(100)
  }
  throw new Error(`the service on ${dataDir} runs, but its PostgreSQL is not ready`)
}
