import { z } from 'zod'
import { type AskedPage, idKey, listPage, momentKey, pageInput } from '../../platform/db/page.ts'
import type { Retention } from '../../platform/db/retention.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { DAY_S } from '../../platform/lib/clock.ts'
import { positiveId } from '../../platform/lib/json/fields.ts'

const certificate = z.object({
  partner_id: z.coerce.bigint(),
  origin: z.string(),
  ends_at: z.date(),
  seen_at: z.date(),
})
type Certificate = z.output<typeof certificate>

/** Of two processes the later handshake counts. */
export const upsertCertificate = (db: Db, { partner_id, origin, ends_at, seen_at }: Certificate): Promise<number> =>
  db.exec(
    sql`insert into partner_certificate as known (partner_id, origin, ends_at, seen_at)
        values (${partner_id}, ${origin}, ${ends_at}, ${seen_at})
        on conflict (partner_id, origin) do update set ends_at = excluded.ends_at, seen_at = excluded.seen_at
          where known.seen_at <= excluded.seen_at`,
  )

export const certificateFilter = z.strictObject({
  within_days: z.coerce.number().int().min(0).max(36_500).optional(),
  ...pageInput(z.tuple([momentKey, idKey, z.string().max(512)])),
})
export type CertificateFilter = z.output<typeof certificateFilter>

/** Soonest to end first; with `before` only those that end before it. */
export const listedCertificates = (db: Db, page: AskedPage, before: Date | undefined) => {
  const listing = {
    row: certificate,
    columns: sql.part`partner_id, origin, ends_at, seen_at`,
    from: sql.part`partner_certificate where (${before}::timestamptz is null or ends_at < ${before})`,
    keys: { ends_at: 'timestamptz', partner_id: 'int8', origin: 'text' },
  }
  return listPage(db, listing, page)
}

/** Certificates of hosts, and breakers of processes, without any call since. */
export const REACH_RETENTION: readonly Retention[] = [
  { table: 'partner_certificate', key: ['partner_id', 'origin'], column: 'seen_at', keptS: () => 30 * DAY_S },
  { table: 'partner_circuit', key: ['partner_id', 'process'], column: 'retry_at', keptS: () => DAY_S },
]

interface BreakerKey {
  readonly partnerId: bigint
  readonly process: string
}

/** `now` becomes the time of opening, unless it was open before. */
export const upsertOpenBreaker = (db: Db, { partnerId, process }: BreakerKey, retryAt: Date, now: Date) =>
  db.exec(
    sql`insert into partner_circuit (partner_id, process, opened_at, retry_at)
        values (${partnerId}, ${process}, ${now}, ${retryAt})
        on conflict (partner_id, process) do update set retry_at = excluded.retry_at`,
  )

export const deleteOpenBreaker = (db: Db, { partnerId, process }: BreakerKey): Promise<number> =>
  db.exec(sql`delete from partner_circuit where partner_id = ${partnerId} and process = ${process}`)

export const deleteOpenBreakersOf = (db: Db, partnerId: bigint, now: Date): Promise<number> =>
  db.value(
    z.number(),
    sql`with gone as (delete from partner_circuit where partner_id = ${partnerId} returning retry_at)
          select count(*) filter (where retry_at > ${now})::int as open from gone`,
  )

export const hasOpenBreaker = (db: Db, { partnerId, process }: BreakerKey): Promise<boolean> =>
  db.value(
    z.boolean(),
    sql`select exists (select 1 from partner_circuit where partner_id = ${partnerId} and process = ${process})`,
  )

const openBreaker = z.object({
  partner_id: z.coerce.bigint(),
  processes: z.number(),
  opened_at: z.date(),
  retry_at: z.date(),
})
export type OpenBreaker = z.output<typeof openBreaker>

export const breakerFilter = z.strictObject({
  partner_id: positiveId.optional(),
  ...pageInput(z.tuple([idKey])),
})
export type BreakerFilter = z.output<typeof breakerFilter>

/** Partners whose breaker is open in some process, by PartnerId. */
export const listOpenBreakers = (db: Db, { partner_id, ...page }: BreakerFilter, now: Date) => {
  const listing = {
    row: openBreaker,
    columns: sql.part`partner_id, processes, opened_at, retry_at`,
    from: sql.part`(
        select partner_id, count(*)::int as processes, min(opened_at) as opened_at, max(retry_at) as retry_at
        from partner_circuit
        where retry_at > ${now} and (${partner_id}::bigint is null or partner_id = ${partner_id})
        group by partner_id) open where true`,
    keys: { partner_id: 'int8' },
  }
  return listPage(db, listing, page)
}
