import { z } from 'zod'
import { type Db, sql } from '../../platform/db/sql.ts'
import { storedDetail, type TextId } from '../../platform/lib/localized-text.ts'

/** The Date is checked after the signature. */
const DATE_FAILURES: readonly TextId[] = ['date-form', 'date-impossible', 'date-weekday', 'date-differs']

const received = z.object({
  id: z.string(),
  received_at: z.date(),
  path: z.string(),
  /** Why it was refused; null if it was accepted. */
  refused: storedDetail.nullable(),
  body: z.string(),
})
/** An accepted or refused notice that the partner is known to have signed. */
export type NoticeEntry = z.output<typeof received>

/**
 * Newest first; of these paths, or of all. The Date is checked after the signature: a call that is refused for it was
 * signed by the partner, though it may have been sent again by somebody else, so it does not count as verified.
 */
export const listReceived = (
  db: Db,
  filter: {
    readonly partnerId: bigint
    readonly clientId: string
    readonly paths: readonly string[] | undefined
    readonly limit: number
    /** So many characters of each body, from its beginning. */
    readonly bodyChars: number
  },
): Promise<NoticeEntry[]> =>
  db.listWithCustomPlan(
    received,
    sql`
    (select notice_id as id, received_at, path, null::jsonb as refused, left(body, ${filter.bodyChars}::int) as body
      from notice
      where partner_id = ${filter.partnerId} and client_id = ${filter.clientId}
        and (${filter.paths}::text[] is null or path = any (${filter.paths}::text[]))
      order by received_at desc limit ${filter.limit})
    union all
    (select call_id, received_at, path, reason, left(body, ${filter.bodyChars}::int)
      from refused_notice
      where partner_id = ${filter.partnerId} and (verified or reason->>'id' = any (${DATE_FAILURES}::text[]))
        and (${filter.paths}::text[] is null or path = any (${filter.paths}::text[]))
      order by received_at desc limit ${filter.limit})
    order by received_at desc, id limit ${filter.limit}`,
  )

const receivedCall = z.object({
  id: z.string(),
  path: z.string(),
  /** Why it was refused; null of a notice that was accepted. */
  reason: storedDetail.nullable(),
  body: z.string(),
  /** Whether it is known that the partner sent it. */
  verified: z.boolean(),
  /** It came to another path, which does not exist, or with a wrong method. */
  wrong_path: z.boolean(),
  /** What an accepted notice was taken with all the same: names of src/ticketing/mws/diagnose/warnings.ts. */
  warnings: z.string().transform((names) => names.split(' ').filter((name) => name !== '')),
})
/** A call that names a partner. */
export type ReceivedCall = z.output<typeof receivedCall>

export interface ReceivedFilter {
  readonly partnerId: bigint
  readonly paths: readonly string[]
  /** From when on accepted and refused ones count. */
  readonly accepted: Date
  readonly refused: Date
  /** Ids that are left out. */
  readonly seen: readonly string[]
}

/**
 * Calls to these paths, and to paths that do not exist, in the order in which they came, of the same moment accepted ones
 * first; 200 at most.
 */
export const receivedSince = (db: Db, { partnerId, paths, accepted, refused, seen }: ReceivedFilter) =>
  db.many(
    receivedCall,
    sql`select id, path, reason, body, verified, wrong_path, warnings from (
          select notice_id as id, path, null::jsonb as reason, body, true as verified, false as wrong_path, warnings, received_at
          from notice
          where partner_id = ${partnerId} and received_at >= ${accepted}
          union all
          select call_id, path, reason, body, verified, wrong_path, '', received_at from refused_notice
          where partner_id = ${partnerId} and received_at >= ${refused}
        ) incoming
        where (path = any (${paths}::text[]) or wrong_path) and id <> all (${seen}::uuid[])
        order by received_at, reason is not null limit 200`,
  )
