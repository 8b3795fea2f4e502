import type { Config } from '../config/index.ts'
import { rethrowUnavailable } from '../lib/database-errors.ts'
import type { Log } from '../lib/log.ts'
import { checkSessions } from './check-sessions.ts'
import { attachEmbedded } from './embedded/attach.ts'
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
