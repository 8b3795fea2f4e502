import { z } from 'zod'
import { type AskedPage, listPage } from '../../platform/db/page.ts'
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
export const accessKind = z.enum(['phone', 'profile'])
export type AccessKind = z.output<typeof accessKind>

/** One app's reads in an hour (UTC), as counted by one process. */
export interface CountedReads extends UserRowKey {
  readonly hour: Date
  readonly appKey: string
  readonly kind: AccessKind
  readonly reads: number
  readonly lastAt: Date
}

const COUNTED = (input: CountedReads) => sql.part`
  ${input.routingKey}::int as routing_key, ${input.cid}::int as cid, ${input.userId}::text as user_id,
  ${input.hour}::timestamptz as hour, ${input.appKey}::text as app_key, ${input.kind}::text as kind,
  ${input.reads}::int as reads, ${input.lastAt}::timestamptz as last_at`

/**
 * Adds reads of people of one shard; each key may occur once. Somebody who is being erased gets no row: their profile is
 * locked until the statement ends. Pass the reads in the order of their keys, so that two processes do not deadlock.
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

const counts = { reads: z.number(), last_at: z.date() }

const access = z.object({ app_key: z.string(), kind: accessKind, hour: z.date(), ...counts })
/** An app's reads in the hour that begins at `hour`. */
export type Access = z.output<typeof access>

export const accessesOfUser = (db: Db, person: UserRowKey, page: AskedPage) => {
  const listing = {
    row: access,
    columns: sql.part`app_key, kind, hour, reads, last_at`,
    from: sql.part`data_access where ${ofPerson(person)}`,
    keys: { hour: 'timestamptz', app_key: 'text', kind: 'text' },
    newestFirst: true,
  } as const
  return listPage(db.of(person.routingKey), listing, page)
}

/** `app_name` is null if the app was deleted. */
const total = z.object({ app_key: z.string(), app_name: z.string().nullable(), kind: accessKind, ...counts })
export type TotalReads = z.output<typeof total>

/** `place`: which of the days, counted from 0. */
const dayOfReads = z.object({ place: z.number(), app_key: z.string(), kind: accessKind, ...counts })

/** Rows of a page: a month of twenty apps that read both kinds every day. */
const MAX_DAY_ROWS = 1_300

/**
 * Reads by day, app and kind, newest first. `starts` are the beginnings of the days, and the end of the last one. An hour
 * belongs to the day of the last read in it. `more`: whether there are earlier reads.
 */
export async function readsByDay(
  db: Db,
  person: UserRowKey,
  starts: readonly [Date, ...Date[]],
): Promise<{ days: z.output<typeof dayOfReads>[]; more: boolean }> {
  const begin = starts[0]
  const days = await db.of(person.routingKey).listWithCustomPlan(
    dayOfReads,
    sql`select width_bucket(last_at, ${starts}::timestamptz[]) - 1 as place, app_key, kind, sum(reads)::float8 as reads,
          max(last_at) as last_at
        from data_access
        where ${ofPerson(person)} and hour > ${begin}::timestamptz - interval '1 hour' and hour < ${starts.at(-1)}
          and last_at >= ${begin} and last_at < ${starts.at(-1)}
        group by 1, app_key, kind order by place desc, last_at desc, app_key, kind limit ${MAX_DAY_ROWS}`,
  )
  const before = await db
    .of(person.routingKey)
    .listWithCustomPlan(
      z.object({}),
      sql`select from data_access where ${ofPerson(person)} and hour < ${begin} and last_at < ${begin} limit 1`,
    )
  return { days, more: before.length > 0 }
}

/** Only the newest hours are summed: more than a year of one app that reads all the time. */
const MAX_HOURS = 10_000

/** By app and kind, most recently read first. */
export const totalsOfUser = (db: Db, person: UserRowKey): Promise<TotalReads[]> =>
  db.of(person.routingKey).listWithCustomPlan(
    total,
    sql`select r.app_key, a.name as app_name, r.kind, r.reads, r.last_at
        from (select app_key, kind, sum(reads)::float8 as reads, max(last_at) as last_at
              from (select app_key, kind, reads, last_at from data_access where ${ofPerson(person)}
                    order by hour desc, app_key desc, kind desc limit ${MAX_HOURS}) newest
              group by app_key, kind) r
        left join ${joinedMicroApp(sql.part`r.app_key`)}
        order by r.last_at desc, r.app_key, r.kind`,
  )
