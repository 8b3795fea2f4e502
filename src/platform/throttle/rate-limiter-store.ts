import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

/** What one process has counted since it last shared its counts. */
export interface CountedUses {
  readonly subject: Buffer
  readonly uses: number
  readonly windowS: number
}

const sharedCount = z.object({ subject: z.instanceof(Buffer), uses: z.number(), endsInMs: z.number() })

/** What all processes have counted in the current window, and when that ends. */
export type SharedCount = z.infer<typeof sharedCount>

const COUNTED = (counted: CountedUses) =>
  sql.part`${counted.subject}::bytea as subject, ${counted.uses}::int as uses, ${counted.windowS}::int as window_s`

/**
 * Adds to the counts of several subjects, each named once, and returns what they are now. Uses the database's clock, which
 * is the same for all processes; if it is set back, no window lasts longer than its length. Sorted, so that two
 * processes which count the same subjects wait for one another in the same order.
 */
export const addUses = (db: Db, counted: readonly CountedUses[]): Promise<SharedCount[]> =>
  db.many(
    sharedCount,
    sql`insert into rate_count as known (subject, uses, window_ends_at)
        select subject, uses, now() + window_s * interval '1 second'
        from ${sql.rows('counted', counted, COUNTED)}
        order by subject
        on conflict (subject) do update set
          uses = excluded.uses + case when known.window_ends_at > now() then known.uses else 0 end,
          window_ends_at = case when known.window_ends_at > now()
            then least(known.window_ends_at, excluded.window_ends_at) else excluded.window_ends_at end
        returning subject, uses, ceil(extract(epoch from window_ends_at - now()) * 1000)::int as "endsInMs"`,
  )

/** Deletes windows that are over; skips rows that another process has locked. */
export const deleteExpiredCounts = (db: Db, most: number): Promise<number> =>
  db.exec(
    sql`delete from rate_count where subject = any (array(
          select subject from rate_count where window_ends_at <= now() limit ${most} for update skip locked))`,
  )
