import type { Deps } from '../../platform/deps.ts'
import { type Clock, systemClock } from '../../platform/lib/clock.ts'
import type { Terminal } from './terminal.ts'

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
