import type { Config } from './config.ts'
import type { Db } from './db/sql.ts'
import type { Clock } from './lib/clock.ts'
import type { Keys } from './lib/keys.ts'

/** What operations are given; they find nothing by themselves. */
export interface Deps {
  readonly config: Config
  readonly db: Db
  readonly clock: Clock
  readonly keys: Keys
}
