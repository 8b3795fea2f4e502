import type { Endings } from '../bench/endings.ts'
import type { FilledWorld } from '../bench/fixtures/world.ts'
import type { Options } from './options.ts'
import type { Service } from './service.ts'

/** One row of the results. */
export interface Figure {
  readonly figure: string
  /** A number with its unit, or words. */
  readonly value: string
}

/** The environment of a scenario. */
export interface Ground {
  readonly options: Options
  /** Cleanup functions, run even if a signal interrupts the run. */
  readonly endings: Endings
  readonly world: FilledWorld
  readonly databaseUrl: string
  /** Process id of the PostgreSQL server that all scenarios except `embedded` share. */
  readonly databasePid: number
  progress(text: string): void
  /** Starts the service of the checkout on the shared database, with settings that override the defaults. */
  start(settings?: Readonly<Record<string, string>>): Promise<Service>
}

export type Scenario = (ground: Ground) => Promise<readonly Figure[]>

export const ms = (value: number): string =>
  value >= 10_000 ? `${(value / 1000).toFixed(1)} s` : `${Math.round(value)} ms`
export const mb = (value: number | undefined): string => (value === undefined ? 'n/a' : `${Math.round(value)} MB`)
export const percent = (part: number, whole: number): string =>
  whole === 0
    ? 'n/a'
    : `${((100 * part) / whole).toFixed(part === 0 || part === whole ? 0 : 1)} % (${part} of ${whole})`
