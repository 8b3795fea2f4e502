import { userInfo } from 'node:os'
import { openLongLived } from '../../long-lived.ts'
import { type Config, readConfig } from '../../platform/config/index.ts'
import { type FoundDatabase, findDatabase } from '../../platform/db/find-database.ts'
import { migrate } from '../../platform/db/migrate.ts'
import { connectionSettings, openPool } from '../../platform/db/pool.ts'
import { dbOf } from '../../platform/db/sql.ts'
import { systemClock } from '../../platform/lib/clock.ts'
import { deriveKeys } from '../../platform/lib/crypto/keys.ts'
import { openLog } from '../../platform/lib/log.ts'
import { openMetrics } from '../../platform/lib/metrics.ts'
import { checkSecretKey } from '../../ticketing/partners/index.ts'
import type { ServiceDeps } from '../jobs/index.ts'
import { OnlyOnTheMachine, type Remote, remoteOf } from './remote.ts'

/** What a command reads from and writes to, and what it ends with: `process`, or a stand-in for tests. */
export interface Terminal {
  /** With `isTTY` a person types: only then are questions asked. */
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  /** For the output of commands. */
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean }
  /** For progress, warnings and failures. */
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean }
  readonly env: Readonly<Record<string, string | undefined>>
  exitCode?: number | string | null | undefined
}

/** What the commands are given. Both calls close the database when `work` is done. */
export interface CliContext {
  readonly terminal: Terminal
  /** The service whose admin API the commands use instead of its database. */
  readonly remote: Remote | undefined
  /** With the database that the service uses, whatever its schema. */
  withDatabase<T>(work: (databaseUrl: string) => Promise<T>): Promise<T>
  /** With what operations need, on the service's database and with its keys. */
  withDeps<T>(work: (deps: ServiceDeps) => Promise<T>): Promise<T>
}

/** Whoever runs a command on the machine of the service, for the audit log. */
function userOfMachine(): string | undefined {
  try {
    return userInfo().username
  } catch {
    return undefined // a container may know no name for its user
  }
}

/** Standard output is for the commands' output, so the log goes to standard error. */
export function openContext(terminal: Terminal): CliContext {
  const log = openLog({ level: 'fatal', pretty: false }, terminal.stderr)

  const withFound = async <T>(work: (found: FoundDatabase, config: Config) => Promise<T>): Promise<T> => {
    if (remote) throw new OnlyOnTheMachine()
    const config = readConfig(terminal.env)
    const found = await findDatabase(config, log)
    try {
      return await work(found, config)
    } finally {
      await found.stop()
    }
  }

  const remote = remoteOf(terminal.env)
  return {
    terminal,
    remote,
    withDatabase: (work) => withFound(({ databaseUrl }) => work(databaseUrl)),
    withDeps: (work) =>
      withFound(async ({ databaseUrl, secretKey, started }, config) => {
        if (started && config.MIGRATE) await migrate(databaseUrl)
        const pool = openPool({ ...connectionSettings(config, databaseUrl), genericPlan: false, size: 1 }, log)
        const [db, keys] = [dbOf(pool), deriveKeys(secretKey, config.SECRET_KEYS_OLD)]
        const { made, close } = openLongLived({ config, db, clock: systemClock, keys }, log)
        const deps: ServiceDeps = {
          config,
          db,
          clock: systemClock,
          keys,
          metrics: openMetrics(),
          ...made,
          actor: { kind: 'cli', name: userOfMachine(), by: 'command' },
        }
        return await checkSecretKey(deps)
          .then(() => work(deps))
          .finally(close)
          .finally(() => pool.end())
      }),
  }
}
