import { type EmbeddedServer, startEmbedded } from '../src/platform/db/embedded/server.ts'
import { attachEmbedded } from '../src/platform/db/find-database.ts'
import { openLog } from '../src/platform/lib/log.ts'

/** PostgreSQL for tests that stop it, or that query the one of a running service: all that acceptance tests use of src/. */

export type { EmbeddedServer }

const silent = openLog({ level: 'silent', pretty: false })

export const startPostgres = (folder: string): Promise<EmbeddedServer> => startEmbedded(folder, silent)

/** The URL of the PostgreSQL that a running service has started on this DATA_DIR. */
export const runningDatabaseUrl = async (folder: string): Promise<string> =>
  (await attachEmbedded(folder, silent)).databaseUrl
