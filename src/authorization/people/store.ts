import { z } from 'zod'
import { listPage, type Page } from '../../platform/db/page.ts'
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
import { DELETION_OF_PERSON } from './deletion-store.ts'

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
