import { z } from 'zod'
import { type Fragment, sql } from './statement.ts'

/** Rows about one person. Each room declares its own in the store that owns the table, in deletion order. */
export interface PersonalRows {
  /** Their name in the texts for people, such as `sessions`. */
  readonly what: string
  readonly table: string
  /** The condition that selects a person's rows; by default `ofPerson`. */
  readonly of?: (person: UserRowKey) => Fragment
  /** Their sort keys after the person's three columns: column → type. */
  readonly key: Readonly<Record<string, string>>
  /** Columns included in the person's export; never a hash. */
  readonly shown: readonly string[]
}

/** Leads the primary key of every row about a user; the routing key is derived from the other two. */
export const userRowKey = z.object({ routingKey: z.number(), cid: z.number(), userId: z.string() })
export type UserRowKey = Readonly<z.output<typeof userRowKey>>

/** The condition that a row is about this person. `alias` is the table's, if the statement needs one. */
export function ofPerson({ routingKey, cid, userId }: UserRowKey, alias?: string): Fragment {
  const of = alias ? sql.part`${sql.identifier(alias)}.` : sql.part``
  return sql.part`${of}routing_key = ${routingKey} and ${of}cid = ${cid} and ${of}user_id = ${userId}`
}
