import { TEST_USERS } from '../../authorization/account/index.ts'
import { type Config, readConfig } from '../../platform/config/index.ts'
import { type FoundDatabase, findDatabase } from '../../platform/db/find-database.ts'
import { checkSecretKey } from '../../platform/db/installation.ts'
import { migrate } from '../../platform/db/migrate.ts'
import { openDatabase } from '../../platform/db/open-database.ts'
import { connectionSettings } from '../../platform/db/pool.ts'
import { checkShards } from '../../platform/db/shard-count.ts'
import type { Deps } from '../../platform/deps.ts'
import { systemClock } from '../../platform/lib/clock.ts'
import { deriveKeys } from '../../platform/lib/crypto/keys.ts'
import { passwordSlots } from '../../platform/lib/crypto/password.ts'
import { type Log, openLog } from '../../platform/lib/log.ts'
import { LongReads } from '../../platform/lib/long-read.ts'
import { openMetrics } from '../../platform/lib/metrics.ts'
import { pictureSlots } from '../../platform/lib/picture.ts'
import { openSampledLog } from '../../platform/lib/sampled-log.ts'
import { openRateLimiter } from '../../platform/throttle/index.ts'
import { isElsewhere, OnlyOnTheMachine, userOfMachine } from './service.ts'
import type { Terminal } from './terminal.ts'

/** Opens the service's database for commands that need no running service. */

/** The log goes to standard error, as standard output holds what commands print. */
async function withFound<T>(
  terminal: Terminal,
  work: (database: FoundDatabase, config: Config, log: Log) => Promise<T>,
): Promise<T> {
  if (isElsewhere(terminal)) throw new OnlyOnTheMachine()
  const config = readConfig(terminal.env)
  const log = openLog({ level: 'fatal', pretty: false }, terminal.stderr)
  const database = await findDatabase(config, log)
  try {
    return await work(database, config, log)
  } finally {
    await database.stop()
  }
}

export const withDatabase = <T>(
  terminal: Terminal,
  work: (databaseUrl: string, shards: number) => Promise<T>,
): Promise<T> => withFound(terminal, ({ databaseUrl }, { SHARDS }) => work(databaseUrl, SHARDS))

export const withDeps = <T>(terminal: Terminal, work: (deps: Deps) => Promise<T>): Promise<T> =>
  withFound(terminal, async ({ databaseUrl, secretKey, started }, config, log) => {
    if (started && config.MIGRATE) await migrate(databaseUrl)
    await checkShards(databaseUrl, config.SHARDS)
    const settings = { ...connectionSettings(config, databaseUrl), genericPlan: false, size: 1 }
    const { db, close } = openDatabase(settings, log, { shards: config.SHARDS })
    const keys = deriveKeys(secretKey, config.SECRET_KEYS_OLD)
    const rateLimiter = openRateLimiter(db, keys, openSampledLog(log))
    const deps: Deps = {
      config,
      db,
      clock: systemClock,
      keys,
      metrics: openMetrics(),
      rateLimiter,
      passwordSlots: passwordSlots(config),
      pictureSlots: pictureSlots(),
      testUserSlots: TEST_USERS.slots(),
      longReads: new LongReads(),
      actor: { kind: 'cli', name: userOfMachine(), by: 'command' },
    }
    return await checkSecretKey(deps)
      .then(() => work(deps))
      .finally(() => rateLimiter.close())
      .finally(close)
  })
