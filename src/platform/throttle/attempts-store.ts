import { z } from 'zod'
import type { Batched } from '../db/batch.ts'
import { type Db, type Fragment, sql } from '../db/sql.ts'
import { addSeconds } from '../lib/clock.ts'

/** Uses that one process has counted since it last wrote its counts. */
interface CountedUses {
  readonly subject: Buffer
  readonly uses: number
  readonly windowS: number
}

/** Count of all processes in the current window, and the time left in it. */
const sharedCount = z.object({ subject: z.instanceof(Buffer), uses: z.number(), endsInMs: z.number() })

/** Bytes are counted too, by several processes: a sum may be greater. */
const MAX_INT = 2_147_483_647

const COUNTED = (counted: CountedUses) =>
  sql.part`${counted.subject}::bytea as subject, ${counted.uses}::int as uses, ${counted.windowS}::int as window_s`

/**
 * Adds to the counts of several distinct subjects and returns the new totals. All processes agree on windows by the
 * database's clock; `least` keeps a window from outliving its length when that is set back. Sorted, so that processes
 * cannot deadlock.
 */
export const addUses = (db: Db, counted: readonly CountedUses[]) =>
  db.many(
    sharedCount,
    sql`insert into rate_count as known (subject, uses, window_ends_at)
        select subject, uses, now() + window_s * interval '1 second'
        from ${sql.rows('counted', counted, COUNTED)}
        order by subject
        on conflict (subject) do update set
          uses = least(excluded.uses + case when known.window_ends_at > now() then known.uses::bigint else 0 end, ${MAX_INT}),
          window_ends_at = case when known.window_ends_at > now()
            then least(known.window_ends_at, excluded.window_ends_at) else excluded.window_ends_at end
        returning subject, uses, ceil(extract(epoch from window_ends_at - now()) * 1000)::int as "endsInMs"`,
  )

export const deleteExpiredCounts = (db: Db, limit: number): Promise<number> =>
  db.exec(
    sql`delete from rate_count where subject = any (array(
          select subject from rate_count where window_ends_at <= now() limit ${limit} for update skip locked))`,
  )

/** Also of uses, where each is counted (attempts.ts). */
const row = z.object({ failures: z.number(), windowEndsAt: z.date() })
export type Failures = z.infer<typeof row>

/** The row of one subject, to be joined in any statement; `offset 0` forces an index lookup however the table grows. */
export const failedAttemptByKey = (subject: Fragment): Fragment =>
  sql.part`lateral (select failures, window_ends_at from failed_attempt where subject = ${subject} offset 0)`

const FAILURES = failedAttemptByKey(sql.part`asked.subject`)

const failureCounts: Batched<Buffer, Failures> = {
  row,
  key: (subject) => subject.toString('latin1'),
  duplicates: 'share',
  statement: (subjects) =>
    sql`
    select asked.ordinal, known.failures, known.window_ends_at as "windowEndsAt"
    from ${sql.rows('asked', subjects, (subject) => sql.part`${subject}::bytea as subject`)}
    cross join ${FAILURES} known`,
}

/** Window for failed authentications of an app, in seconds. */
export const CLIENT_WINDOW_S = 300

/** Upper bound on clock skew between machines that share a database. */
const MAX_CLOCK_SKEW_S = 60

/** No window that has already begun ends later than this, unless the clock was set back since. */
const latestEnd = (now: Date, windowSeconds: number): Date => addSeconds(now, windowSeconds + MAX_CLOCK_SKEW_S)

/** The failures if their window is open. Windows begun under a wrong clock are ignored: they would last too long. */
export const currentWindow = (
  failures: Failures | undefined,
  now: Date,
  windowSeconds: number,
): Failures | undefined =>
  failures && failures.windowEndsAt > now && failures.windowEndsAt <= latestEnd(now, windowSeconds)
    ? failures
    : undefined

export const readFailures = async (db: Db, subject: Buffer, now: Date, windowSeconds: number) =>
  currentWindow((await db.batch(failureCounts, subject))[0], now, windowSeconds)

/**
 * Adds one failure and returns the new count, in one statement, so that concurrent ones are all counted. Also deletes
 * two expired rows: callers can invent names without end.
 */
export const countFailure = (db: Db, subject: Buffer, now: Date, windowSeconds: number): Promise<Failures> => {
  const windowEndsAt = addSeconds(now, windowSeconds)
  const latest = latestEnd(now, windowSeconds)
  return db.one(
    row,
    sql`
    with over as (
      delete from failed_attempt where subject = any (array(
        select subject from failed_attempt where window_ends_at <= ${now} and subject <> ${subject}
        limit 2 for update skip locked))
    )
    insert into failed_attempt as known (subject, failures, window_ends_at) values (${subject}, 1, ${windowEndsAt})
    on conflict (subject) do update set
      failures = case when known.window_ends_at > ${now} and known.window_ends_at <= ${latest}
        then known.failures + 1 else 1 end,
      window_ends_at = case when known.window_ends_at > ${now} and known.window_ends_at <= ${latest}
        then known.window_ends_at else excluded.window_ends_at end
    returning failures, window_ends_at as "windowEndsAt"`,
  )
}

/** Undoes one counted failure that turned out not to be one. */
export const uncountFailure = (db: Db, subject: Buffer): Promise<number> =>
  db.exec(sql`update failed_attempt set failures = failures - 1 where subject = ${subject} and failures > 0`)

export const clearFailures = (db: Db, subject: Buffer): Promise<number> =>
  db.exec(sql`delete from failed_attempt where subject = ${subject}`)
