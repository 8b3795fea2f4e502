import type { Config } from '../config/index.ts'
import { rethrowUnavailable } from '../lib/database-errors.ts'
import type { Log } from '../lib/log.ts'
import { checkSessions } from './check-sessions.ts'
import { attachEmbedded } from './embedded/attach.ts'
import { connectionSettings } from './pool.ts'

export interface FoundDatabase {
  readonly databaseUrl: string
  readonly secretKey: string
  /** It was started for this caller, so only it can bring the schema up to date here. */
  readonly started: boolean
  stop(): Promise<void>
}

/** The service's database by its settings: that of DATABASE_URL, else the embedded one of DATA_DIR. */
export async function findDatabase(config: Config, log: Log): Promise<FoundDatabase> {
  const { DATABASE_URL, SECRET_KEY, DATA_DIR } = config
  if (DATABASE_URL) {
    await checkSessions(connectionSettings(config, DATABASE_URL)).catch((error: unknown) => rethrowUnavailable(error))
    return { databaseUrl: DATABASE_URL, secretKey: SECRET_KEY ?? '', started: false, stop: async () => {} }
  }
  const embedded = await attachEmbedded(DATA_DIR, log)
  return { ...embedded, secretKey: SECRET_KEY ?? embedded.secretKey }
}
