import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { jsonOf } from '../../lib/read-or.ts'
import { RESTORE } from './diagnosis.ts'

const secrets = z.object({ password: z.string().min(1), secretKey: z.string().min(32) })
type KeptSecrets = z.output<typeof secrets>

/** The database's password and the default SECRET_KEY, generated on the first start and kept in `dataDir`. */
export function keptSecrets(dataDir: string): KeptSecrets {
  const file = join(dataDir, 'secrets.json')
  if (!existsSync(file)) {
    // New ones would not work: the database has the old password, and its contents were encrypted with the old key.
    if (existsSync(join(dataDir, 'postgres', 'PG_VERSION'))) {
      throw new Error(`DATA_DIR ${dataDir} holds a database, and its keys in secrets.json are gone: ${RESTORE}`)
    }
    generateSecrets(file)
  }
  const kept = secrets.safeParse(jsonOf(readSecrets(file)))
  if (!kept.success)
    throw new Error(`${file} is cut short or was changed, and the database cannot be opened without: ${RESTORE}`)
  return kept.data
}

function generateSecrets(file: string): void {
  const fresh: KeptSecrets = {
    password: randomBytes(24).toString('hex'),
    secretKey: randomBytes(48).toString('base64'),
  }
  // Flushed before the rename: a power cut must not leave an empty file beside a database.
  writeFileSync(`${file}.new`, JSON.stringify(fresh), { mode: 0o600, flush: true })
  renameSync(`${file}.new`, file)
}

function readSecrets(file: string): string {
  try {
    const text = readFileSync(file, 'utf8')
    chmodSync(file, 0o600)
    return text
  } catch (error) {
    const { message } = error as Error
    throw new Error(`${file} cannot be read (${message}): give it to the user that runs Gatehouse, with mode 600`)
  }
}
