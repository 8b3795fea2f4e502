import { readFileSync } from 'node:fs'
import { expect } from 'vitest'
import type { RunningProcess } from '../acceptance/system.ts'

/** Resident memory of a process in MB; 0 where the system has no /proc. */
export function residentMb({ child }: RunningProcess): number {
  if (process.platform !== 'linux') return 0
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024
}

const LINES_OF_AN_ERROR = 12

/** The log's entries at level error and above, each with the lines that follow. */
function errorsIn(output: string): string[] {
  const lines = output.split('\n')
  return lines.flatMap((line, place) =>
    /"level":(50|60)|ERROR|FATAL|[Uu]nhandled/.test(line)
      ? [lines.slice(place, place + LINES_OF_AN_ERROR).join('\n')]
      : [],
  )
}

/** Expects the process to be alive, its log to hold no error, and its memory to stop growing once caches are full. */
export function expectSound(running: RunningProcess, memory: readonly number[]): void {
  expect(running.child.exitCode, 'the process is alive').toBeNull()
  expect(errorsIn(running.output()).slice(0, 3).join('\n\n'), 'nothing is logged as an error').toBe('')
  if (memory.length < 10) return
  // Memory falls with each garbage collection and rises in between, so the lowest value of a third is what is retained.
  const third = Math.floor(memory.length / 3)
  const [settled = 0, last] = [memory.slice(third, 2 * third), memory.slice(-third)].map((part) => Math.min(...part))
  expect(last, memory.map(Math.round).join(' ')).toBeLessThan(settled * 1.3 + 60)
}
