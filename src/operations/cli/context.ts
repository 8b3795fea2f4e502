import type { Deps } from '../../platform/deps.ts'
import { type Clock, systemClock } from '../../platform/lib/clock.ts'

/** What a command reads from and writes to, and what it ends with: `process`, or a stand-in for tests. */
export interface Terminal {
  /** With `isTTY` a person types: only then are questions asked. */
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  /** For the output of commands. */
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean }
  /** For progress, warnings and failures. */
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean }
  readonly env: Readonly<Record<string, string | undefined>>
  exitCode?: number | string | null | undefined
}

/** What the commands are given. */
export interface CliContext {
  readonly terminal: Terminal
  readonly clock: Clock
  /** With the database that the service uses, whatever its schema; it is closed when `work` is done, as below. */
  withDatabase<T>(work: (databaseUrl: string, shards: number) => Promise<T>): Promise<T>
  /** On the service's database and with its keys. */
  withDeps<T>(work: (deps: Deps) => Promise<T>): Promise<T>
}

export function openContext(terminal: Terminal, clock: Clock = systemClock): CliContext {
  const machine = () => import('./machine.ts') // few commands need the database
  return {
    terminal,
    clock,
    withDatabase: async (work) => (await machine()).withDatabase(terminal, work),
    withDeps: async (work) => (await machine()).withDeps(terminal, work),
  }
}
