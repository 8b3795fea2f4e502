import { type Fragment, sql } from './statement.ts'

/** Rows about one person. Each room declares its own in the store that owns the table, in the order in which they may be deleted. */
export interface PersonalRows {
  /** Their name in texts for people: `sessions`. */
  readonly what: string
  readonly table: string
  /** How they belong to the person, besides the routing key; by default by their columns cid and user_id. */
  readonly of?: (person: UserRowKey) => Fragment
  /** What they are ordered by, besides the three columns of the person: column → type. */
  readonly key: Readonly<Record<string, string>>
  /** Columns of the person's export: never a hash. */
  readonly shown: readonly string[]
}

/** Leads the primary key of every row about a user; the routing key is derived from the other two. */
export interface UserRowKey {
  readonly routingKey: number
  readonly cid: number
  readonly userId: string
}

/** A condition: the row is about this person. `alias` is the table's, where the statement has others. */
export function ofPerson({ routingKey, cid, userId }: UserRowKey, alias?: string): Fragment {
  const of = alias ? sql.part`${sql.identifier(alias)}.` : sql.part``
  return sql.part`${of}routing_key = ${routingKey} and ${of}cid = ${cid} and ${of}user_id = ${userId}`
}
