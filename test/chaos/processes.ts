import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { usageOf } from '../bench/processes.ts'

/** `pid` and its direct children, such as a PostgreSQL server and its backends. */
function familyOf(pid: number): number[] {
  return [pid, ...processes().flatMap(([child, parent]) => (parent === pid ? [child] : []))]
}

/** All direct and indirect children of a process. */
export function descendantsOf(pid: number): number[] {
  const all = processes()
  const below = (one: number): number[] =>
    all.flatMap(([child, parent]) => (parent === one ? [child, ...below(child)] : []))
  return below(pid)
}

/** All processes with their parents; on Linux read from /proc, as small images have no ps. */
function processes(): [pid: number, parent: number][] {
  if (process.platform !== 'linux') {
    const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n')
    return lines.map((line) => line.trim().split(/\s+/).map(Number) as [number, number])
  }
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
      return [[Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])] as [number, number]]
    } catch {
      return [] // it has ended meanwhile
    }
  })
}

export function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}

export const freeze = (pid: number): void => signal(familyOf(pid), 'SIGSTOP')
export const resume = (pid: number): void => signal(familyOf(pid), 'SIGCONT')

/** Samples the resident memory of a process until `most` is called, which returns the maximum. */
export function watchMemory(pid: number): { before: number | undefined; most(): number | undefined } {
  const before = usageOf(pid)?.residentMb
  let most = before
  const timer = setInterval(() => {
    const now = usageOf(pid)?.residentMb
    if (now !== undefined) most = Math.max(most ?? 0, now)
  }, 250)
  return {
    before,
    most: () => {
      clearInterval(timer)
      return most
    },
  }
}
