import { z } from 'zod'
import type { Retention } from '../../platform/db/retention.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import type { Activity, ActivityKind } from '../../platform/lib/activity.ts'
import { DAY_S } from '../../platform/lib/clock.ts'

export const HISTORY_RETENTION: readonly Retention[] = [
  { table: 'activity_hour', key: ['hour', 'kind', 'subject'], column: 'hour', keptS: () => 31 * DAY_S },
]

const COUNTED = ({ kind, subject, total, refused, failed }: Activity) => sql.part`
  ${kind}::text as kind, ${subject}::text as subject, ${total}::bigint as total, ${refused}::bigint as refused,
  ${failed}::bigint as failed`

/** Adds to the rows of this hour, in the order of their keys so that processes writing at once do not deadlock. */
export const addActivity = (db: Db, hour: Date, counted: readonly Activity[]): Promise<number> =>
  db.exec(
    sql`insert into activity_hour as known (hour, kind, subject, total, refused, failed)
        select ${hour}, kind, subject, total, refused, failed from ${sql.rows('row', counted, COUNTED)}
        order by kind, subject
        on conflict (hour, kind, subject) do update set total = known.total + excluded.total,
          refused = known.refused + excluded.refused, failed = known.failed + excluded.failed`,
  )

const counts = { total: z.coerce.number(), refused: z.coerce.number(), failed: z.coerce.number() }

const span = z.object({ span: z.number(), ...counts })
export type ActivitySpan = z.output<typeof span>

/** The sums of a kind since then, by spans of `spanS` seconds; spans without activity are left out. */
export const activityBySpan = (db: Db, kind: ActivityKind, since: Date, spanS: number): Promise<ActivitySpan[]> =>
  db.listWithCustomPlan(
    span,
    sql`select floor(extract(epoch from hour - ${since}::timestamptz) / ${spanS}::float8)::int as span,
          sum(total) as total, sum(refused) as refused, sum(failed) as failed
        from activity_hour where hour >= ${since} and kind = ${kind} group by 1 order by 1`,
  )

const ranked = z.object({ subject: z.string(), ...counts })
export type RankedActivity = z.output<typeof ranked>

/** Apps or partners with the most refused or failed requests since then, worst first. */
export const worstSince = (db: Db, kinds: readonly ActivityKind[], since: Date, limit: number) =>
  db.listWithCustomPlan(
    ranked,
    sql`select subject, sum(total) as total, sum(refused) as refused, sum(failed) as failed
        from activity_hour where hour >= ${since} and kind = any(${kinds})
        group by subject having sum(refused + failed) > 0
        order by sum(refused + failed) desc, subject limit ${limit}`,
  )
