import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { startEmbedded } from '../../src/platform/db/embedded/server.ts'
import { deriveKeys } from '../../src/platform/lib/crypto/keys.ts'
import { openLog } from '../../src/platform/lib/log.ts'
import { newDataFolder, removeDataFolder } from '../bench/data-folder.ts'
import type { Endings } from '../bench/endings.ts'
import { fillWorld } from '../bench/fixtures/fill.ts'
import { BENCH } from '../bench/verify.ts'
import type { Options } from './options.ts'
import { resume } from './processes.ts'
import type { Ground } from './scenario.ts'
import { startService } from './service.ts'

const TOKENS = 5_000

/** Starts one PostgreSQL for all scenarios, with the schema of the service and valid tokens. */
export async function openGround(
  options: Options,
  endings: Endings,
  progress: (text: string) => void,
): Promise<Ground> {
  const folder = newDataFolder()
  endings.add(() => removeDataFolder(folder))
  progress('starting PostgreSQL')
  const server = await startEmbedded(folder, openLog({ level: 'error', pretty: false }))
  endings.add(() => server.stop())
  const pool = new pg.Pool({ connectionString: server.databaseUrl, max: 4, application_name: BENCH })
  pool.on('error', () => {})
  endings.add(() => pool.end())
  const { rows } = await pool.query(`select pg_read_file('postmaster.pid') as text`)
  const databasePid = Number.parseInt(rows[0].text, 10)
  endings.add(() => resume(databasePid))
  const secretKey = randomBytes(48).toString('base64')
  const start: Ground['start'] = async (settings = {}) => {
    const given = { DATABASE_URL: server.databaseUrl, SECRET_KEY: secretKey, ...settings }
    const service = await startService({ checkout: options.checkout, folder, settings: given })
    endings.add(() => service.stop())
    return service
  }
  const first = await start() // creates the schema and the people of the demo
  await first.stop()
  const world = await fillWorld({ pool, keys: deriveKeys(secretKey), folder }, TOKENS, progress)
  return { options, endings, world, databaseUrl: server.databaseUrl, databasePid, progress, start }
}
