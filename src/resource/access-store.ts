import { z } from 'zod'
import { lockedUserByKey } from '../account/index.ts'
import { cursorOf, type Page, pageOf, withCursor } from '../db/page.ts'
import type { PersonalRows, UserRowKey } from '../db/personal-rows.ts'
import { DAY_S, type Retention } from '../db/retention.ts'
import { type Db, sql } from '../db/sql.ts'
import { joinedMicroApp } from '../registry/index.ts'

export const ACCESS_RETENTION: readonly Retention[] = [
  {
    table: 'data_access',
    key: ['routing_key', 'cid', 'user_id', 'hour', 'app_key', 'kind'],
    column: 'hour',
    keptS: ({ ACCESS_LEDGER_DAYS }) => ACCESS_LEDGER_DAYS * DAY_S,
  },
]

export const ACCESSES_OF_PERSON: readonly PersonalRows[] = [
  {
    what: 'accesses',
    table: 'data_access',
    key: { hour: 'timestamptz', app_key: 'text', kind: 'text' },
    shown: ['hour', 'app_key', 'kind', 'reads', 'last_at'],
  },
]

/** What an app may read of a person. */
export type AccessKind = 'profile' | 'phone'
const kind = z.enum(['profile', 'phone'])

/** Reads of one hour (UTC) by one app, as one process has counted them. */
export interface CountedReads extends UserRowKey {
  readonly hour: Date
  readonly appKey: string
  readonly kind: AccessKind
  readonly reads: number
  readonly lastAt: Date
}

/**
 * Adds to the rows of these people, each key named once. Who is erased meanwhile gets no row any more: their profiles are
 * locked until the statement is done. Give them in the order of their keys: two processes then wait for one another in that
 * order.
 */
export const addReads = (db: Db, counted: readonly CountedReads[]): Promise<number> =>
  db.exec(
    sql`insert into data_access as known (routing_key, cid, user_id, hour, app_key, kind, reads, last_at)
        select c.routing_key, c.cid, c.user_id, c.hour, c.app_key, c.kind, c.reads, c.last_at
        from unnest(
          ${counted.map((one) => one.routingKey)}::int[], ${counted.map((one) => one.cid)}::int[],
          ${counted.map((one) => one.userId)}::text[], ${counted.map((one) => one.hour)}::timestamptz[],
          ${counted.map((one) => one.appKey)}::text[], ${counted.map((one) => one.kind)}::text[],
          ${counted.map((one) => one.reads)}::int[], ${counted.map((one) => one.lastAt)}::timestamptz[]
        ) as c (routing_key, cid, user_id, hour, app_key, kind, reads, last_at)
        cross join ${lockedUserByKey(sql.part`c.routing_key`, sql.part`c.cid`, sql.part`c.user_id`)} locked
        on conflict (routing_key, cid, user_id, hour, app_key, kind) do update set
          reads = known.reads + excluded.reads, last_at = greatest(known.last_at, excluded.last_at)`,
  )

const access = z.object({
  app_key: z.string(),
  kind,
  hour: z.date(),
  reads: z.number(),
  last_at: z.date(),
})
/** How often an app has read it in the hour that begins at `hour`, and when last. */
export type Access = z.output<typeof access>

interface AccessPage {
  readonly limit: number
  readonly after?: readonly [hour: string, appKey: string, kind: string] | undefined
}

/** Newest hour first. */
export async function accessesOfUser(
  db: Db,
  { routingKey, cid, userId }: UserRowKey,
  { limit, after }: AccessPage,
): Promise<Page<Access>> {
  const [hour, appKey, ofKind] = after ?? []
  const found = await db.listWithCustomPlan(
    withCursor(access),
    sql`select app_key, kind, hour, reads, last_at, ${cursorOf(sql.part`hour, app_key, kind`)} from data_access
        where routing_key = ${routingKey} and cid = ${cid} and user_id = ${userId}
          and (${hour}::timestamptz is null
            or (hour, app_key, kind) < (${hour}::timestamptz, ${appKey}::text, ${ofKind}::text))
        order by hour desc, app_key desc, kind desc limit ${limit + 1}`,
  )
  return pageOf(found, limit)
}

const total = z.object({
  app_key: z.string(),
  /** Null where the app is gone. */
  app_name: z.string().nullable(),
  kind,
  reads: z.number(),
  last_at: z.date(),
})
export type TotalReads = z.output<typeof total>

const dayOfReads = z.object({
  /** `2026-05-06`, in UTC. */
  day: z.string(),
  app_key: z.string(),
  kind,
  reads: z.number(),
  last_at: z.date(),
})

/** Rows of a page: a month of twenty apps that read both each day. */
const MOST_DAYS = 1_300

/** By day (UTC), app and kind, the newest first; `more`: whether something was read before. */
export async function readsByDay(
  db: Db,
  { routingKey, cid, userId }: UserRowKey,
  { begin, end }: { readonly begin: Date; readonly end: Date },
): Promise<{ days: z.output<typeof dayOfReads>[]; more: boolean }> {
  const ofPerson = sql.part`routing_key = ${routingKey} and cid = ${cid} and user_id = ${userId}`
  const days = await db.listWithCustomPlan(
    dayOfReads,
    sql`select (hour at time zone 'utc')::date::text as day, app_key, kind, sum(reads)::int as reads, max(last_at) as last_at
        from data_access where ${ofPerson} and hour >= date_trunc('day', ${begin}::timestamptz, 'utc') and hour < ${end}
        group by 1, app_key, kind order by day desc, last_at desc, app_key, kind limit ${MOST_DAYS}`,
  )
  const before = await db.listWithCustomPlan(
    z.object({}),
    sql`select from data_access where ${ofPerson} and hour < date_trunc('day', ${begin}::timestamptz, 'utc') limit 1`,
  )
  return { days, more: before.length > 0 }
}

/** The newest hours that are summed: over a year of one app that reads all the time. */
const MAX_HOURS = 10_000

/** By app and kind, what was read last first. */
export const totalsOfUser = (db: Db, { routingKey, cid, userId }: UserRowKey): Promise<TotalReads[]> =>
  db.listWithCustomPlan(
    total,
    sql`select r.app_key, max(a.name) as app_name, r.kind, sum(r.reads)::int as reads, max(r.last_at) as last_at
        from (select app_key, kind, reads, last_at from data_access
              where routing_key = ${routingKey} and cid = ${cid} and user_id = ${userId}
              order by hour desc, app_key desc, kind desc limit ${MAX_HOURS}) r
        left join ${joinedMicroApp(sql.part`r.app_key`)}
        group by r.app_key, r.kind order by last_at desc, r.app_key, r.kind`,
  )
