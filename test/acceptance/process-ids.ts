import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunningProcess } from './system.ts'

/** Finds the processes of a service in its log and in the folder of its PostgreSQL. */

/** The process ids in lines that end with `message`, in the order of the log. */
export const pidsIn = (output: string, message: string): number[] =>
  [...output.matchAll(new RegExp(`\\((\\d+)\\): ${message}`, 'g'))].map(([, pid]) => Number(pid))

export const serverPids = ({ output }: RunningProcess): number[] => pidsIn(output(), 'a server process is ready')

/** The process id of the PostgreSQL of a service with this DATA_DIR. */
export const postgresPid = (folder: string): number =>
  Number.parseInt(readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8'), 10)

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
