import { readdirSync, readFileSync } from 'node:fs'

/** CPU time and memory of a contestant and its child processes, as counted by the kernel (Linux). */

export interface Usage {
  /** User and system time since the start, seconds. */
  readonly cpuS: number
  /** Resident memory, MB (2^20 bytes). */
  readonly residentMb: number
}

/** USER_HZ, which Linux fixes at 100 for everything that /proc shows. */
const TICKS_PER_S = 100

interface Stat {
  readonly pid: number
  readonly parent: number
  readonly cpuTicks: number
}

const sum = (texts: readonly string[]): number => texts.reduce((total, text) => total + Number(text), 0)

/** Undefined if the process has ended meanwhile. Its time includes that of children that it has waited for. */
function statOf(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { pid, parent: Number(fields[1]), cpuTicks: sum(fields.slice(11, 15)) }
  } catch {
    return undefined
  }
}

function residentKb(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** Undefined on systems without /proc. */
export function usageOf(root: number): Usage | undefined {
  if (process.platform !== 'linux') return undefined
  const pids = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
  const stats = pids.flatMap((pid) => statOf(pid) ?? [])
  const family = new Set([root])
  // Children may have lower pids than their parents, because pids wrap around: repeat until nothing is added.
  for (let before = 0; before < family.size; ) {
    before = family.size
    for (const { pid, parent } of stats) if (family.has(parent)) family.add(pid)
  }
  const members = stats.filter(({ pid }) => family.has(pid))
  return {
    cpuS: members.reduce((sum, { cpuTicks }) => sum + cpuTicks, 0) / TICKS_PER_S,
    residentMb: members.reduce((sum, { pid }) => sum + residentKb(pid), 0) / 1024,
  }
}
