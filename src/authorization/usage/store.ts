import { z } from 'zod'
import type { Retention } from '../../platform/db/retention.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { DAY_S } from '../../platform/lib/clock.ts'
import { USAGE_KINDS, type Usage } from '../../platform/lib/usage.ts'

export const KEPT_DAYS = 90

export const USAGE_RETENTION: readonly Retention[] = [
  { table: 'app_usage', key: ['app_key', 'day', 'kind', 'code'], column: 'day', keptS: () => KEPT_DAYS * DAY_S },
]

const COUNTED = ({ appKey, kind, code, times }: Usage) => sql.part`
  ${appKey}::text as app_key, ${kind}::text as kind, ${code}::int as code, ${times}::bigint as times`

/** Adds to the day's rows in the order of their keys, so that concurrent writers do not deadlock. */
export const addUsage = (db: Db, day: Date, counted: readonly Usage[]): Promise<number> =>
  db.exec(
    sql`insert into app_usage as known (app_key, day, kind, code, times)
        select app_key, ${day}, kind, code, times from ${sql.rows('row', counted, COUNTED)}
        order by app_key, kind, code
        on conflict (app_key, day, kind, code) do update set times = known.times + excluded.times`,
  )

const dayOfUsage = z.object({
  day: z.date(),
  kind: z.enum(USAGE_KINDS),
  code: z.number(),
  times: z.coerce.number(),
})
export type DayOfUsage = z.output<typeof dayOfUsage>

/** Oldest first. */
export const usageOf = (db: Db, appKey: string, since: Date): Promise<DayOfUsage[]> =>
  db.listWithCustomPlan(
    dayOfUsage,
    sql`select day, kind, code, times from app_usage
        where app_key = ${appKey} and day >= ${since} order by day, kind, code`,
  )
