import type { Deps } from '../../platform/deps.ts'
import { type Clock, systemClock } from '../../platform/lib/clock.ts'
import type { Terminal } from './terminal.ts'

/** What commands work with. */
export interface CliContext {
  readonly terminal: Terminal
  readonly clock: Clock
  /** Opens the service's database, whatever the state of its schema, and closes it once `work` is done. */
  withDatabase<T>(work: (databaseUrl: string, shards: number) => Promise<T>): Promise<T>
  /** Opens the service's database with its keys, and closes it once `work` is done. */
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
