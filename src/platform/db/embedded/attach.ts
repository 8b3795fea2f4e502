import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../lib/log.ts'
import { holderOf } from './lock.ts'
import { keptSecrets } from './secrets.ts'
import { databaseUrlOf, startEmbedded } from './server.ts'

/** The embedded server for the duration of a command: the running one, or one `started` for it, which ends with it. */
export async function attachEmbedded(dataDirectory: string, log: Log) {
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
    const lines = readIfThere(file).split('\n')
    if (lines[7]?.trim() === 'ready') return Number(lines[3])
    await sleep(100)
  }
  throw new Error(`the service on ${dataDir} runs, but its PostgreSQL is not ready`)
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
}
