import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readOr } from '../../lib/read-or.ts'
import { holderOf } from './lock.ts'

/** A service writes the URL at which it answers operators into its data folder, where commands find it without a setting. */

const fileOf = (dataDir: string): string => join(resolve(dataDir), 'address')

/** Writes the address of this process, which holds the folder. Returns what removes it. */
export function keepAddress(dataDir: string, url: string): () => void {
  const file = fileOf(dataDir)
  writeFileSync(file, `${process.pid} ${url}`)
  return () => rmSync(file, { force: true })
}

/** Undefined if there is none, or if another process than `pid` wrote it. */
function addressLeftBy(pid: number, dataDir: string): string | undefined {
  const [left, url] = readOr(() => readFileSync(fileOf(dataDir), 'utf8'), '').split(' ')
  return Number(left) === pid ? url : undefined
}

const STARTS_WITHIN_MS = 30_000
const EVERY_MS = 50

/** Address of the running service of `dataDir`, also of one that is still starting; undefined where none runs. */
export async function addressOfRunning(dataDir: string): Promise<string | undefined> {
  for (let waited = 0; waited < STARTS_WITHIN_MS; waited += EVERY_MS) {
    const holder = holderOf(resolve(dataDir))
    if (holder?.purpose !== 'service') return undefined
    const url = addressLeftBy(holder.pid, dataDir)
    if (url) return url
    await sleep(EVERY_MS)
  }
  return undefined
}
