import { z } from 'zod'
import { ofPerson, type PersonalRows, type UserRowKey } from '../../platform/db/personal-rows.ts'
import { columnsOf } from '../../platform/db/record-fields.ts'
import type { Retention } from '../../platform/db/retention.ts'
import { keyOfRow, readByShard } from '../../platform/db/shards.ts'
import { type Db, type Fragment, sql } from '../../platform/db/sql.ts'
import { DAY_S } from '../../platform/lib/clock.ts'
import { storableJson } from '../../platform/lib/storable.ts'
import { lockedUserByKey } from '../account/index.ts'

export const REFUSAL_RETENTION: readonly Retention[] = [
  { table: 'refused_request', key: ['request_id'], column: 'at', keptS: () => 30 * DAY_S },
]

export const REFUSALS_OF_PERSON: readonly PersonalRows[] = [
  {
    what: 'refused_requests',
    table: 'refused_request',
    key: { request_id: 'uuid' },
    shown: ['request_id', 'at', 'endpoint', 'rescode', 'failure', 'app_key'],
  },
]

const refusedRow = z.object({
  request_id: z.string(),
  at: z.date(),
  /** A1 to A5, or the path in the standard dialect. */
  endpoint: z.string(),
  method: z.string(),
  status: z.number(),
  rescode: z.number(),
  failure: z.string().nullable(),
  detail: z.string().nullable(),
  parameters: z.string().transform((names) => names.split(' ').filter((name) => name !== '')),
  app_key: z.string().nullable(),
  /** Whether the caller was authenticated as that app. */
  proved: z.boolean(),
  /** Only its first characters. */
  token: z.string().nullable(),
  cid: z.number().nullable(),
  user_id: z.string().nullable(),
  /** The parameter that it was refused for, if that can be compared with the registration. */
  received: z.record(z.string(), z.string()).nullable(),
})
export type RefusedRow = z.output<typeof refusedRow>

const NAMES = Object.keys(refusedRow.shape)
const COLUMNS = columnsOf(NAMES)

export interface NewRefused extends Omit<RefusedRow, 'parameters'> {
  readonly parameters: string
  readonly routing_key: number
}

const REFUSED = (row: NewRefused) => sql.part`
  ${row.request_id}::uuid as request_id, ${row.at}::timestamptz as at, ${row.endpoint}::text as endpoint,
  ${row.method}::text as method, ${row.status}::int as status, ${row.rescode}::int as rescode,
  ${row.failure}::text as failure, ${row.detail}::text as detail, ${row.parameters}::text as parameters,
  ${row.app_key}::text as app_key, ${row.proved}::boolean as proved, ${row.token}::text as token,
  ${row.routing_key}::int as routing_key, ${row.cid}::int as cid, ${row.user_id}::text as user_id,
  ${row.received && storableJson(row.received)}::jsonb as received`

/** Somebody who is being erased is not named in a row: profiles are locked until the rows are written. */
export async function insertRefused(db: Db, rows: readonly NewRefused[]): Promise<void> {
  const named = rows.filter(({ user_id }) => user_id !== null)
  if (named.length === 0) await insertRows(db, withoutErased(rows, []))
  else await db.tx(async (tx) => insertRows(tx, withoutErased(rows, await lockNamed(tx, named))))
}

const person = z.object({ cid: z.number(), user_id: z.string() })
type Person = z.output<typeof person>

const PERSON = (row: NewRefused) => sql.part`
  ${row.routing_key}::int as routing_key, ${row.cid}::int as cid, ${row.user_id}::text as user_id`

const lockNamed = (tx: Db, rows: readonly NewRefused[]): Promise<Person[]> =>
  readByShard(tx, rows, keyOfRow, (shard, own) =>
    shard.many(
      person,
      sql`select locked.cid, locked.user_id from ${sql.rows('row', own, PERSON)}
          cross join ${lockedUserByKey(sql.part`row.routing_key`, sql.part`row.cid`, sql.part`row.user_id`)} locked`,
    ),
  )

function withoutErased(rows: readonly NewRefused[], people: readonly Person[]): NewRefused[] {
  const existing = new Set(people.map(({ cid, user_id }) => `${cid} ${user_id}`))
  const exists = ({ cid, user_id }: NewRefused) => existing.has(`${cid} ${user_id}`)
  return rows.map((row) => (exists(row) ? row : { ...row, routing_key: 0, cid: null, user_id: null }))
}

const insertRows = (db: Db, rows: readonly NewRefused[]): Promise<number> =>
  db.exec(
    sql`insert into refused_request (routing_key, ${COLUMNS}) select row.routing_key, ${columnsOf(NAMES, 'row')}
        from ${sql.rows('row', rows, REFUSED)}
        on conflict do nothing`,
  )

export const findRefused = (db: Db, requestId: string): Promise<RefusedRow | undefined> =>
  db.maybe(refusedRow, sql`select ${COLUMNS} from refused_request where request_id = ${requestId}`)

const newest = (db: Db, where: Fragment, limit: number): Promise<RefusedRow[]> =>
  db.listWithCustomPlan(
    refusedRow,
    sql`select ${COLUMNS} from refused_request where ${where} order by at desc limit ${limit}`,
  )

/** Newest first, like those below. */
export const refusedOfApp = (
  db: Db,
  appKey: string,
  { limit, proved = false }: { readonly limit: number; readonly proved?: boolean },
): Promise<RefusedRow[]> =>
  newest(db, proved ? sql.part`app_key = ${appKey} and proved` : sql.part`app_key = ${appKey}`, limit)

export const refusedOfUser = (db: Db, person: UserRowKey, limit: number): Promise<RefusedRow[]> =>
  newest(db, ofPerson(person), limit)

/** `token`: the stored prefix. */
export const refusedWithToken = (db: Db, token: string, limit: number): Promise<RefusedRow[]> =>
  newest(db, sql.part`token = ${token}`, limit)

/** What the same app, or a caller with the same token, was refused afterwards; oldest first. */
export const refusedAfter = (
  db: Db,
  { at, request_id, app_key, token }: Pick<RefusedRow, 'at' | 'request_id' | 'app_key' | 'token'>,
  until: Date,
  limit: number,
): Promise<RefusedRow[]> =>
  db.listWithCustomPlan(
    refusedRow,
    sql`select ${COLUMNS} from refused_request
        where at >= ${at} and at < ${until} and request_id <> ${request_id} and (app_key = ${app_key} or token = ${token})
        order by at limit ${limit}`,
  )
