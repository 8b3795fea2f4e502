import { z } from 'zod'
import { cursorOf, type Page, pageOf, withCursor } from '../../platform/db/page.ts'
import { ofPerson, type PersonalRows, type UserRowKey } from '../../platform/db/personal-rows.ts'
import type { Retention } from '../../platform/db/retention.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { DAY_S } from '../../platform/lib/clock.ts'
import { lockedUserByKey } from '../account/index.ts'
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

const COUNTED = (one: CountedReads) => sql.part`
  ${one.routingKey}::int as routing_key, ${one.cid}::int as cid, ${one.userId}::text as user_id,
  ${one.hour}::timestamptz as hour, ${one.appKey}::text as app_key, ${one.kind}::text as kind, ${one.reads}::int as reads,
  ${one.lastAt}::timestamptz as last_at`

/**
 * Adds to the rows of these people, who are of one shard, each key named once. Who is erased meanwhile gets no row any more: their profiles are
 * locked until the statement is done. Give them in the order of their keys: two processes then wait for one another in that
 * order.
 */
export const addReads = (shard: Db, counted: readonly CountedReads[]): Promise<number> =>
  shard.exec(
    sql`insert into data_access as known (routing_key, cid, user_id, hour, app_key, kind, reads, last_at)
        select c.routing_key, c.cid, c.user_id, c.hour, c.app_key, c.kind, c.reads, c.last_at
        from ${sql.rows('c', counted, COUNTED)}
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
export async function accessesOfUser(db: Db, person: UserRowKey, { limit, after }: AccessPage): Promise<Page<Access>> {
  const [hour, appKey, ofKind] = after ?? []
  const found = await db.of(person.routingKey).listWithCustomPlan(
    withCursor(access),
    sql`select app_key, kind, hour, reads, last_at, ${cursorOf(sql.part`hour, app_key, kind`)} from data_access
        where ${ofPerson(person)}
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
  /** Which of the days that were asked for. */
  place: z.number(),
  app_key: z.string(),
  kind,
  reads: z.number(),
  last_at: z.date(),
})

/** Rows of a page: a month of twenty apps that read both each day. */
const MOST_DAYS = 1_300

/**
 * By day, app and kind, the newest first. `starts` says when each day begins, the last one when the last day ends; an hour is of
 * the day in which something was read in it last. `more`: whether something was read before.
 */
export async function readsByDay(
  db: Db,
  person: UserRowKey,
  starts: readonly [Date, ...Date[]],
): Promise<{ days: z.output<typeof dayOfReads>[]; more: boolean }> {
  const begin = starts[0]
  const days = await db.of(person.routingKey).listWithCustomPlan(
    dayOfReads,
    sql`select width_bucket(last_at, ${starts}::timestamptz[]) - 1 as place, app_key, kind, sum(reads)::int as reads,
          max(last_at) as last_at
        from data_access
        where ${ofPerson(person)} and hour > ${begin}::timestamptz - interval '1 hour' and hour < ${starts.at(-1)}
          and last_at >= ${begin} and last_at < ${starts.at(-1)}
        group by 1, app_key, kind order by place desc, last_at desc, app_key, kind limit ${MOST_DAYS}`,
  )
  const before = await db
    .of(person.routingKey)
    .listWithCustomPlan(
      z.object({}),
      sql`select from data_access where ${ofPerson(person)} and hour < ${begin} and last_at < ${begin} limit 1`,
    )
  return { days, more: before.length > 0 }
}

/** The newest hours that are summed: over a year of one app that reads all the time. */
const MAX_HOURS = 10_000

/** By app and kind, what was read last first. */
export const totalsOfUser = (db: Db, person: UserRowKey): Promise<TotalReads[]> =>
  db.of(person.routingKey).listWithCustomPlan(
    total,
    sql`select r.app_key, max(a.name) as app_name, r.kind, sum(r.reads)::int as reads, max(r.last_at) as last_at
        from (select app_key, kind, reads, last_at from data_access where ${ofPerson(person)}
              order by hour desc, app_key desc, kind desc limit ${MAX_HOURS}) r
        left join ${joinedMicroApp(sql.part`r.app_key`)}
        group by r.app_key, r.kind order by last_at desc, r.app_key, r.kind`,
  )
