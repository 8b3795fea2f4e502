import type { Config } from '../config/index.ts'
import type { Db } from './sql.ts'
import type { Fragment } from './statement.ts'

/** Expired rows stay for another hour: clocks differ, and repeated refreshes read them (REFRESH_DUPLICATE_WINDOW_S). */
export const MARGIN_S = 3_600

/** Rows that the purge deletes. Each room declares its own in the store that owns the table. */
export interface Retention {
  readonly table: string
  /**
   * By which rows are deleted: columns of an index that tell rows apart, usually the primary key. No other index begins
   * with one of them, except the first and `column` (sql.sameKey).
   */
  readonly key: readonly string[]
  /** The timestamptz from which a row's age is counted; it needs an index. */
  readonly column: string
  /** Strangers can cause many such rows: they are purged every two minutes, not every hour. */
  readonly often?: true
  /** Seconds after `column` for which a row is kept; Infinity keeps it for good. */
  readonly keptS: (config: Config) => number
  /** The database role may lack the right to delete these rows, which then stay. */
  readonly mayBeForbidden?: true
  /** Rows of another table, without a foreign key, that are deleted too: those with the same value in this column. */
  readonly also?: { readonly table: string; readonly column: string }
  /** Rows that stay although they are that old. */
  readonly unless?: (now: Date) => Fragment
  /** Done with the oldest rows instead of deleting them. */
  readonly remove?: (db: Db, batch: RetentionBatch) => Promise<RemovedBatch>
  /** The name of that in reports, in place of the table's. */
  readonly what?: string
}

export interface RetentionBatch {
  /** Rows dated before this have expired. */
  readonly before: Date
  /** The date of the previous batch's last row. */
  readonly from: Date
  readonly limit: number
  readonly now: Date
}

/** How many rows a batch handled, and the date of the last one. */
export interface RemovedBatch {
  readonly rows: number
  readonly last: Date | null
}
