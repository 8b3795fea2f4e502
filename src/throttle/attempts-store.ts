import { z } from 'zod'
import type { Gathered } from '../db/gather.ts'
import { type Db, sql } from '../db/sql.ts'
import { addSeconds } from '../lib/clock.ts'

const row = z.object({ failures: z.number(), windowEndsAt: z.date() })

/** Failures in the current window of one subject, and when that window ends. */
export type Failures = z.infer<typeof row>

const failuresOf: Gathered<Buffer, Failures> = {
  row,
  key: (subject) => subject.toString('latin1'),
  same: 'share',
  statement: (subjects) =>
    sql`
    select asked.nth, known.failures, known.window_ends_at as "windowEndsAt"
    from unnest(${subjects}::bytea[]) with ordinality as asked (subject, nth)
    cross join failed_attempt_by_key(asked.subject) known`,
}

/** How long failed authentications of an app are counted together. */
export const CLIENT_WINDOW_S = 300

/** Clocks of the machines that share a database differ by less. */
const CLOCKS_DIFFER_S = 60

/** The latest end of a window that began by now. A window that ends later was begun by a clock that was set back since. */
const latestEnd = (now: Date, windowSeconds: number): Date => addSeconds(now, windowSeconds + CLOCKS_DIFFER_S)

/** The failures, if their window is current: not over, and not begun by a clock that ran ahead (it would last too long). */
export const currentWindow = (
  failures: Failures | undefined,
  now: Date,
  windowSeconds: number,
): Failures | undefined =>
  failures && failures.windowEndsAt > now && failures.windowEndsAt <= latestEnd(now, windowSeconds)
    ? failures
    : undefined

export const readFailures = async (
  db: Db,
  subject: Buffer,
  now: Date,
  windowSeconds: number,
): Promise<Failures | undefined> => currentWindow((await db.gather(failuresOf, subject))[0], now, windowSeconds)

/**
 * Adds one failure and returns the new count: one statement, so failures that race are all counted, each differently.
 * It also deletes two rows whose window is over, so that guesses at ever new names do not make the table grow.
 */
export const countFailure = (db: Db, subject: Buffer, now: Date, windowSeconds: number): Promise<Failures> => {
  const windowEndsAt = addSeconds(now, windowSeconds)
  const latest = latestEnd(now, windowSeconds)
  return db.one(
    row,
    sql`
    with over as (
      delete from failed_attempt where ctid = any (array(
        select ctid from failed_attempt where window_ends_at <= ${now} and subject <> ${subject}
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

export const clearFailures = (db: Db, subject: Buffer): Promise<number> =>
  db.exec(sql`delete from failed_attempt where subject = ${subject}`)
