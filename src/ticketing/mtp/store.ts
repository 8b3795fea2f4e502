import { z } from 'zod'
import { listPage, SEARCHED_ROWS } from '../../platform/db/page.ts'
import type { Retention } from '../../platform/db/retention.ts'
import { type Db, type Fragment, sql } from '../../platform/db/sql.ts'
import { DAY_S } from '../../platform/lib/clock.ts'
import { storedDetail, type TextId } from '../../platform/lib/localized-text.ts'
import type { Warning } from '../mws/index.ts'
import type { NoticeFilter } from './wire.ts'

/**
 * Repeats are recognised for 24 hours (of product changes and level prices for seconds: accept-once.ts); the business
 * keys that never expire are columns of orders and refunds. Notices are kept longer for their partner to look at, but
 * not for ever: they hold visitors' data.
 */
export const NOTICE_RETENTION: readonly Retention[] = [
  { table: 'notice', key: ['client_id', 'path', 'body_hash'], column: 'received_at', keptS: () => 30 * DAY_S },
]

export interface NoticeRow {
  readonly noticeId: string
  readonly clientId: string
  readonly path: string
  readonly bodyHash: Buffer
  readonly partnerId: bigint
  readonly receivedAt: Date
  readonly body: string
  readonly answer: string
  readonly warnings: readonly Warning[]
}

export const withWarning = (row: NoticeRow, warning: Warning): NoticeRow => ({
  ...row,
  warnings: [...row.warnings, warning],
})

/** Ids to search notices by. Found by pattern, so that a search also finds notices whose ids do not fit the schema. */
const SEARCHED_OF_BODY = 4_096
const ORDER_ID = /"orderId"\s*:\s*"?(\d{1,19})/
const REFUND_ID = /"refundId"\s*:\s*"?([^",}\s]{1,64})/
const idIn = (body: string, pattern: RegExp): string | null =>
  pattern.exec(body.slice(0, SEARCHED_OF_BODY))?.[1] ?? null

const NOTICE = (row: NoticeRow) => sql.part`
  ${row.clientId}::text as client_id, ${row.path}::text as path, ${row.bodyHash}::bytea as body_hash,
  ${row.noticeId}::uuid as notice_id, ${row.partnerId}::bigint as partner_id,
  ${row.receivedAt}::timestamptz as received_at, ${row.body}::text as body, ${row.answer}::text as answer,
  ${row.warnings.join(' ')}::text as warnings, ${idIn(row.body, ORDER_ID)}::text as order_id,
  ${idIn(row.body, REFUND_ID)}::text as refund_id`

/**
 * Claims notices, no two of them the same, and returns how many are new. The same notice again within `repeatWithinS`
 * seconds is not new; if the stored one is that far in the future, the clock was set back, and it counts as new. While
 * another transaction claims the same notice this waits for it, and takes its place if it fails.
 */
export const claimNotices = (db: Db, rows: readonly NoticeRow[], repeatWithinS: number): Promise<number> =>
  db.exec(
    sql`insert into notice as known (client_id, path, body_hash, notice_id, partner_id, received_at, body, answer, warnings,
          order_id, refund_id)
        select client_id, path, body_hash, notice_id, partner_id, received_at, body, answer, warnings, order_id, refund_id
        from ${sql.rows('row', rows, NOTICE)}
        on conflict (client_id, path, body_hash) do update
          set notice_id = excluded.notice_id, received_at = excluded.received_at, answer = excluded.answer,
            warnings = excluded.warnings, arrival = excluded.arrival
          where known.received_at <= excluded.received_at - make_interval(secs => ${repeatWithinS})
            or known.received_at >= excluded.received_at + make_interval(secs => ${repeatWithinS})`,
  )

export interface RememberedAnswer {
  readonly noticeId: string
  readonly answer: string
}

const remembered = z.object({ ordinal: z.coerce.number(), notice_id: z.string(), answer: z.string() })

const ASKED = (row: NoticeRow) => sql.part`
  ${row.clientId}::text as client_id, ${row.path}::text as path, ${row.bodyHash}::bytea as body_hash,
  ${row.receivedAt}::timestamptz as received_at`

/** The first responses to repeated notices, by their position in the list. */
export const firstAnswers = async (db: Db, rows: readonly NoticeRow[], repeatWithinS: number) => {
  const kept = await db.many(
    remembered,
    sql`select asked.ordinal - 1 as ordinal, known.notice_id, known.answer
        from ${sql.rows('asked', rows, ASKED)}
        cross join lateral (
          select notice_id, answer, received_at from notice
          where client_id = asked.client_id and path = asked.path and body_hash = asked.body_hash
          offset 0 -- one look-up by primary key each, however small the table was when the plan was made
        ) known
        where known.received_at > asked.received_at - make_interval(secs => ${repeatWithinS})
          and known.received_at < asked.received_at + make_interval(secs => ${repeatWithinS})`,
  )
  return new Map(kept.map(({ ordinal, notice_id, answer }) => [ordinal, { noticeId: notice_id, answer }]))
}

const summary = z.object({
  id: z.string(),
  received_at: z.date(),
  partner_id: z.coerce.bigint(),
  client_id: z.string(),
  path: z.string(),
  warnings: z.string(),
  answer: z.string(),
})
export type NoticeSummary = z.output<typeof summary>

/** `id`: that of the request that first brought it. */
export const findNotice = (db: Db, id: string): Promise<NoticeSummary | undefined> =>
  db.maybe(
    summary,
    sql`select notice_id as id, received_at, partner_id, client_id, path, warnings, answer from notice where notice_id = ${id}`,
  )

const DATE_FAILURES: readonly TextId[] = ['date-form', 'date-impossible', 'date-weekday', 'date-differs']

/** An accepted or refused notice that the partner is known to have signed. */
const received = z.object({
  id: z.string(),
  received_at: z.date(),
  path: z.string(),
  /** Why it was refused; null if it was accepted. */
  refused: storedDetail.nullable(),
  body: z.string(),
})

/**
 * Newest first, to these paths or to any, accepted or refused or both. The Date is checked after the signature, so a
 * call that is refused for its Date was signed by the partner. It is listed, but does not count as verified: somebody
 * else may have sent it again. No index has the paths, which are searched.
 */
export function listReceived(
  db: Db,
  filter: {
    readonly partnerId: bigint
    readonly clientId: string
    readonly paths: readonly string[] | undefined
    readonly bodyChars: number
  } & Pick<NoticeFilter, 'outcome' | 'from' | 'to' | 'limit' | 'after'>,
) {
  const { partnerId, clientId, paths, outcome, from, to, limit } = filter
  const [at, id] = filter.after ?? []
  const newest = (idColumn: Fragment) => sql.part`
    and (${from}::timestamptz is null or received_at >= ${from}) and (${to}::timestamptz is null or received_at < ${to})
    and (${at}::timestamptz is null or (received_at, ${idColumn}) < (${at}::timestamptz, ${id}::uuid))
    order by received_at desc, ${idColumn} desc limit ${paths ? SEARCHED_ROWS : limit + 1}`
  const accepted = sql.part`
    (select notice_id as id, received_at, path, null::jsonb as refused, body from notice
      where partner_id = ${partnerId} and client_id = ${clientId} ${newest(sql.part`notice_id`)})`
  const refused = sql.part`
    (select call_id as id, received_at, path, reason as refused, body from refused_notice
      where partner_id = ${partnerId} and (verified or reason->>'id' = any (${DATE_FAILURES}::text[]))
      ${newest(sql.part`call_id`)})`
  const sources = [...(outcome === 'refused' ? [] : [accepted]), ...(outcome === 'accepted' ? [] : [refused])]
  const listing = {
    row: received,
    columns: sql.part`id, received_at, path, refused, body`,
    shown: sql.part`id, received_at, path, refused, left(body, ${filter.bodyChars}::int) as body`,
    from: sql.part`(${sql.join(sources, ' union all ')}) incoming where true`,
    wanted: paths && sql.part`path = any (${paths}::text[])`,
    keys: { received_at: 'timestamptz', id: 'uuid' },
    newestFirst: true,
  } as const
  return listPage(db, listing, { limit }) // `newest` has what follows the cursor
}

const receivedCall = z.object({
  id: z.string(),
  path: z.string(),
  /** Why it was refused; null of a notice that was accepted. */
  reason: storedDetail.nullable(),
  body: z.string(),
  /** Whether it is known that the partner sent it. */
  verified: z.boolean(),
  /** Whether its path does not exist, or its method was wrong. */
  wrong_path: z.boolean(),
  /** Warnings with which a notice was accepted (src/ticketing/mws/diagnose/mistakes.ts). */
  warnings: z.string().transform((names) => names.split(' ').filter((name) => name !== '')),
  received_at: z.date(),
})
export type ReceivedCall = z.output<typeof receivedCall>

export interface ReceivedFilter {
  readonly partnerId: bigint
  readonly paths: readonly string[]
  /** Accepted and refused calls from these moments on. */
  readonly accepted: Date
  readonly refused: Date
  readonly seen: readonly string[]
}

/** Calls to these paths and to wrong ones by time of arrival, accepted ones first among equals; 200 at most. */
export const receivedSince = (db: Db, { partnerId, paths, accepted, refused, seen }: ReceivedFilter) =>
  db.many(
    receivedCall,
    sql`select id, path, reason, body, verified, wrong_path, warnings, received_at from (
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
