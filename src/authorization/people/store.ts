import { z } from 'zod'
import { type AskedPage, listPage, momentKey, type Page, pageInput } from '../../platform/db/page.ts'
import { ofPerson, type PersonalRows, type UserRowKey } from '../../platform/db/personal-rows.ts'
import { type Db, type Fragment, sql } from '../../platform/db/sql.ts'
import { jsonOf } from '../../platform/lib/read-or.ts'
import { ACCOUNT_OF_PERSON } from '../account/index.ts'
import { APP_EVENTS_OF_PERSON } from '../app-events/index.ts'
import { OAUTH_OF_PERSON } from '../oauth/index.ts'
import { REFUSALS_OF_PERSON } from '../refusals/index.ts'
import { joinedMicroApp } from '../registry/index.ts'
import { ACCESSES_OF_PERSON } from '../resource/index.ts'
import { TEAMS_OF_PERSON } from '../teams/index.ts'

// ---- requests to delete an account

const DELETION_OF_PERSON: readonly PersonalRows[] = [
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

// ---- a person's data

const appOfPerson = z.object({
  app_key: z.string(),
  name: z.string(),
  logo_url: z.string().nullable(),
  hosts: z.array(z.string()),
  redirect_uris: z.array(z.string()),
})
export type AppOfPerson = z.output<typeof appOfPerson>

export const findApps = (db: Db, appKeys: readonly string[]): Promise<AppOfPerson[]> =>
  db.listWithCustomPlan(
    appOfPerson,
    sql`select a.app_key, a.name, a.logo_url, a.hosts, a.redirect_uris from unnest(${appKeys}::text[]) as given (app_key)
        join ${joinedMicroApp(sql.part`given.app_key`)}`,
  )

const whose = ({ of }: PersonalRows, person: UserRowKey): Fragment =>
  of ? sql.part`routing_key = ${person.routingKey} and ${of(person)}` : ofPerson(person)

/** Counts up to `most`; all if it is null. */
export const countRows = (db: Db, rows: PersonalRows, person: UserRowKey, most: number | null): Promise<number> =>
  db.of(person.routingKey).value(
    z.number(),
    sql`select count(1)::int as count from (
          select 1 from ${sql.identifier(rows.table)} where ${whose(rows, person)} limit ${most}::int) counted`,
  )

export const deleteRows = (db: Db, rows: PersonalRows, person: UserRowKey): Promise<number> =>
  db.of(person.routingKey).exec(sql`delete from ${sql.identifier(rows.table)} where ${whose(rows, person)}`)

const shownRow = z.object({ row: z.string() })
const cursorKeys = z.array(z.unknown())

/** A page of rows, each as JSON text with the columns that the person may see. */
export function readRows(
  db: Db,
  rows: PersonalRows,
  person: UserRowKey,
  { limit, after }: { readonly limit: number; readonly after: string | null },
): Promise<Page<{ row: string }>> {
  const shown = sql.join(rows.shown.map((column) => sql.part`${sql.identifier(column)} as ${sql.identifier(column)}`))
  const listing = {
    row: shownRow,
    columns: sql.part`(select to_jsonb(r)::text from (select ${shown}) r) as row`,
    from: sql.part`${sql.identifier(rows.table)} where ${whose(rows, person)}`,
    // Without the person's columns, which are the same in all rows: with them the index would be read from its
    // beginning. A table without a key has one row of the person.
    keys: Object.keys(rows.key).length > 0 ? rows.key : { routing_key: 'int4' },
  }
  const last = after === null ? undefined : cursorKeys.parse(jsonOf(Buffer.from(after, 'base64url').toString()))
  return listPage(db.of(person.routingKey), listing, { limit, after: last })
}

/** Everything stored about a person, in an order in which it can be deleted. Orders and members name no user. */
export const ROWS_OF_PERSON: readonly PersonalRows[] = [
  ...OAUTH_OF_PERSON,
  ...ACCESSES_OF_PERSON,
  ...REFUSALS_OF_PERSON,
  ...APP_EVENTS_OF_PERSON,
  ...DELETION_OF_PERSON,
  ...TEAMS_OF_PERSON,
  ...ACCOUNT_OF_PERSON,
]
