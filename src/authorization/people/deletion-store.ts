import { z } from 'zod'
import { type AskedPage, listPage, momentKey, pageInput } from '../../platform/db/page.ts'
import { ofPerson, type PersonalRows, type UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Db, sql } from '../../platform/db/sql.ts'

export const DELETION_OF_PERSON: readonly PersonalRows[] = [
  { what: 'deletion_requests', table: 'deletion_request', key: {}, shown: ['requested_at', 'due_at'] },
]

const deletionRequest = z.object({
  cid: z.number(),
  user_id: z.string(),
  requested_at: z.date(),
  /** When the account will be deleted automatically, put off each time that this fails; null if an operator decides. */
  due_at: z.date().nullable(),
})
export type DeletionRequest = z.output<typeof deletionRequest>

/** 0 if there is a request already, which stays. The person is locked. */
export const insertRequest = (db: Db, key: UserRowKey, now: Date, dueAt: Date | null): Promise<number> =>
  db.exec(
    sql`insert into deletion_request (routing_key, cid, user_id, requested_at, due_at)
        values (${key.routingKey}, ${key.cid}, ${key.userId}, ${now}, ${dueAt})
        on conflict do nothing`,
  )

export const deleteRequest = (db: Db, person: UserRowKey): Promise<number> =>
  db.exec(sql`delete from deletion_request where ${ofPerson(person)}`)

export const leaveToOperators = (db: Db, person: UserRowKey): Promise<number> =>
  db.exec(sql`update deletion_request set due_at = null where ${ofPerson(person)}`)

/** Unless it was cancelled, or cancelled and renewed. */
export const postponeRequest = (db: Db, person: UserRowKey, now: Date, dueAt: Date): Promise<number> =>
  db
    .of(person.routingKey)
    .exec(sql`update deletion_request set due_at = ${dueAt} where ${ofPerson(person)} and due_at <= ${now}`)

export const requestOf = (db: Db, person: UserRowKey): Promise<DeletionRequest | undefined> =>
  db.maybe(
    deletionRequest,
    sql`select cid, user_id, requested_at, due_at from deletion_request where ${ofPerson(person)}`,
  )

export const deletionFilter = z.strictObject(pageInput(z.tuple([momentKey, z.int32(), z.string()])))

/** Oldest first. */
export const listRequests = (db: Db, page: AskedPage) => {
  const listing = {
    row: deletionRequest,
    columns: sql.part`cid, user_id, requested_at, due_at`,
    from: sql.part`deletion_request where true`,
    keys: { requested_at: 'timestamptz', cid: 'int4', user_id: 'text' },
  }
  return listPage(db, listing, page)
}

export interface DueRequests {
  /** A range of routing keys: of whom. */
  readonly keys: { readonly from: number; readonly below: number }
  readonly now: Date
  readonly limit: number
  /** The last one of the page before. */
  readonly after: DeletionRequest | undefined
}

export const dueRequests = (db: Db, { keys, now, limit, after }: DueRequests): Promise<DeletionRequest[]> =>
  db.listWithCustomPlan(
    deletionRequest,
    sql`select cid, user_id, requested_at, due_at from deletion_request
        where due_at is not null and due_at <= ${now}
          and routing_key >= ${keys.from}::int and routing_key < ${keys.below}::int
          and (${after?.due_at}::timestamptz is null
            or (due_at, cid, user_id) > (${after?.due_at}::timestamptz, ${after?.cid}::int, ${after?.user_id}::text))
        order by due_at, cid, user_id limit ${limit}`,
  )
