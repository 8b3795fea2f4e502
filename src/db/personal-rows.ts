import type { Fragment } from './statement.ts'

/** Rows about one person. Each room declares its own in the store that owns the table, in the order in which they may go. */
export interface PersonalRows {
  /** What they are called where people read of them: `sessions`. */
  readonly what: string
  readonly table: string
  /** Whose they are, beside the routing key; without it the rows say so themselves (cid, user_id). */
  readonly of?: (person: UserRowKey) => Fragment
  /** What they are ordered by, besides the three columns of the person: column → type. */
  readonly key: Readonly<Record<string, string>>
  /** Columns that the person is given: never a hash. */
  readonly shown: readonly string[]
}

/** Leads the primary key of every row about a user; the routing key is derived from the other two. */
export interface UserRowKey {
  readonly routingKey: number
  readonly cid: number
  readonly userId: string
}
