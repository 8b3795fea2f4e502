import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '../../lib/clock.ts'
import { readOr } from '../../lib/read-or.ts'
import { diagnoseFolder, unusableFolder } from './diagnosis.ts'

/** When the process started, in clock ticks since boot: detects a reused pid. Linux only. */
function startOf(pid: number): string {
  const afterName =
    readOr(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), '')
      .split(') ')
      .at(-1) ?? ''
  return afterName.split(' ')[19] ?? ''
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const identity = (pid: number): string => `${pid} ${startOf(pid)}`

/** The service holds its data folder until it is stopped, a command only while it runs. */
export type Purpose = 'service' | 'command'

const pidFile = (dataDir: string): string => join(dataDir, 'gatehouse.pid')

export const holderOf = (dataDir: string): { pid: number; purpose: Purpose } | undefined =>
  holderIn(readOr(() => readFileSync(pidFile(dataDir), 'utf8'), ''))

function holderIn(content: string): { pid: number; purpose: Purpose } | undefined {
  const pid = Number.parseInt(content, 10)
  const purpose = content.endsWith(' command') ? 'command' : 'service'
  return isAlive(pid) && content === `${identity(pid)} ${purpose}` ? { pid, purpose } : undefined
}

function unusable(dataDir: string, error: unknown): Error {
  const { message } = error as Error
  return new Error(diagnoseFolder(message, dataDir) ?? unusableFolder(message, dataDir))
}

function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true })
  } catch (error) {
    throw unusable(dataDir, error)
  }
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

/** Also of a file dated in the future, whose writer had a clock that was set back since. */
function ageOf(path: string): number {
  const now = systemClock.now().getTime()
  return Math.abs(now - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now))
}

/** A lock file is empty until it is written. */
const WRITTEN_WITHIN_MS = 500
/** A process removes a lock within microseconds; one that was killed meanwhile leaves its turn behind. */
const REMOVED_WITHIN_MS = 10_000

function isStale(dataDir: string): boolean {
  try {
    const content = readFileSync(pidFile(dataDir), 'utf8')
    return content === '' ? ageOf(pidFile(dataDir)) > WRITTEN_WITHIN_MS : !holderIn(content)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw unusable(dataDir, error)
  }
}

/**
 * Removes the lock of a process that is gone. Processes take turns: of two that have found the same stale lock, the
 * later one would otherwise remove the one that the earlier one has taken since.
 */
function removeStale(dataDir: string): void {
  const turn = `${pidFile(dataDir)}.removing`
  try {
    mkdirSync(turn)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw unusable(dataDir, error)
    if (ageOf(turn) > REMOVED_WITHIN_MS) rmSync(turn, { recursive: true, force: true })
    return
  }
  try {
    if (isStale(dataDir)) rmSync(pidFile(dataDir), { force: true })
  } finally {
    rmSync(turn, { recursive: true, force: true })
  }
}

/** Locks `dataDir`. Waits while a command holds it, throws when another service does. Returns what releases the lock. */
export async function claimDataDir(dataDir: string, purpose: Purpose): Promise<() => void> {
  makeDataDir(dataDir)
  const file = pidFile(dataDir)
  for (let waited = 0; ; waited++) {
    try {
      writeFileSync(file, `${identity(process.pid)} ${purpose}`, { flag: 'wx' })
      return () => rmSync(file, { force: true })
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw unusable(dataDir, error)
    }
    const holder = holderOf(dataDir)
    if (!holder) {
      removeStale(dataDir)
      await sleep(10)
    } else if (holder.purpose === 'command' && waited < 300) await sleep(100)
    else {
      throw new Error(
        `another Gatehouse (process ${holder.pid}) is running on the data folder ${dataDir}; stop it, or set DATA_DIR to another folder`,
      )
    }
  }
}

/**
 * Waits for the PostgreSQL of a killed predecessor, which ends by itself. If it was killed too, removes its pid file:
 * PostgreSQL would mistake a reused pid in it for a running server.
 */
export async function awaitPredecessor(cluster: string): Promise<void> {
  const file = join(cluster, 'postmaster.pid')
  const holder = (): number => readOr(() => Number.parseInt(readFileSync(file, 'utf8'), 10), 0)
  for (let waited = 0; waited < 300; waited++) {
    const pid = holder()
    if (!pid) return
    if (!isAlive(pid) || !isPostgres(pid)) return rmSync(file, { force: true })
    await sleep(100)
  }
  throw new Error(`a PostgreSQL (process ${holder()}) still runs on ${cluster}; stop it and start again`)
}

function isPostgres(pid: number): boolean {
  if (process.platform !== 'linux') return true
  return readOr(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'postgres', false)
}

const addressFile = (dataDir: string): string => join(resolve(dataDir), 'address')

/** Writes the URL at which the service answers operators, for commands on the machine. Returns what removes it. */
export function keepAddress(dataDir: string, url: string): () => void {
  const file = addressFile(dataDir)
  writeFileSync(file, `${identity(process.pid)} ${url}`)
  return () => rmSync(file, { force: true })
}

/** Undefined if there is none, or if another process than `pid` wrote it, such as a former one with this pid. */
function addressLeftBy(pid: number, dataDir: string): string | undefined {
  const left = readOr(() => readFileSync(addressFile(dataDir), 'utf8'), '')
  const writer = `${identity(pid)} `
  return left.startsWith(writer) ? left.slice(writer.length) : undefined
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
