import type { Config } from '../config/index.ts'
import type { Db } from './sql.ts'
import type { Fragment } from './statement.ts'

/** Rows that are over stay an hour: clocks differ, and repeated refreshes read them (REFRESH_DUPLICATE_WINDOW_S). */
export const MARGIN_S = 3_600

/** Rows that the purge deletes. Each room declares its own in the store that owns the table. */
export interface Retention {
  readonly table: string
  /** Its primary key, by which rows are deleted. */
  readonly key: readonly string[]
  /** The timestamptz that a row's age is counted from; it needs an index. */
  readonly column: string
  /** Strangers can cause many such rows: they go every two minutes, not every hour. */
  readonly often?: true
  /** Seconds after that date for which a row is kept; Infinity keeps it for good. */
  readonly keptS: (config: Config) => number
  /** The database role may lack the right to delete these rows: then they stay. */
  readonly mayBeForbidden?: true
  /** Rows of another table, not bound to this one by a key, that go with a row: those with the same value in a column. */
  readonly also?: { readonly table: string; readonly column: string }
  /** Rows that stay although they are that old. */
  readonly unless?: (now: Date) => Fragment
  /** In place of deleting them: what is done with the oldest rows. Says with how many. */
  readonly remove?: (db: Db, batch: RetentionBatch) => Promise<RemovedBatch>
  /** What that is called beside the tables. */
  readonly what?: string
}

export interface RetentionBatch {
  /** Rows dated before this are over. */
  readonly before: Date
  /** The date of the last row of the batch before. */
  readonly from: Date
  readonly limit: number
  readonly now: Date
}

/** How many rows a batch was about, and the date of the last one. */
export interface RemovedBatch {
  readonly rows: number
  readonly last: Date | null
}
