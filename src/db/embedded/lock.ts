import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** When the process began, in clock ticks since boot: tells a reused pid from the one that was meant. Linux only. */
function startOf(pid: number): string {
  try {
    const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1) ?? ''
    return afterName.split(' ')[19] ?? ''
  } catch {
    return ''
  }
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

/** Claims `dataDir` for this process; throws when another live process holds it. Returns how to let go. */
export function claimDataDir(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true })
  const file = join(dataDir, 'gatehouse.pid')
  for (;;) {
    try {
      writeFileSync(file, identity(process.pid), { flag: 'wx' })
      return () => rmSync(file, { force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const holder = readFileSync(file, 'utf8')
    const pid = Number.parseInt(holder, 10)
    if (isAlive(pid) && identity(pid) === holder) {
      throw new Error(
        `another Gatehouse (process ${pid}) is running on the data folder ${dataDir}; stop it, or set DATA_DIR to another folder`,
      )
    }
    rmSync(file, { force: true })
  }
}

/**
 * Waits for the PostgreSQL of a killed predecessor, which ends by itself once its parent is gone, and removes the pid
 * file of one that was killed too. PostgreSQL would mistake a reused pid in it for a running server.
 */
export async function awaitPredecessor(cluster: string): Promise<void> {
  const file = join(cluster, 'postmaster.pid')
  const holder = (): number => {
    try {
      return Number.parseInt(readFileSync(file, 'utf8'), 10)
    } catch {
      return 0
    }
  }
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
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'postgres'
  } catch {
    return false
  }
}
