import { z } from 'zod'
import { cursorOf, idKey, momentKey, type Page, pageInput, pageOf, withCursor } from '../../platform/db/page.ts'
import { type Db, sql } from '../../platform/db/sql.ts'

const certificate = z.object({ partner_id: z.coerce.bigint(), origin: z.string(), ends_at: z.date() })
export type PartnerCertificate = z.output<typeof certificate>

/** The later handshake of two processes counts. */
export const upsertCertificate = (db: Db, { partner_id, origin, ends_at }: PartnerCertificate, now: Date) =>
  db.exec(
    sql`insert into partner_certificate as known (partner_id, origin, ends_at, seen_at)
        values (${partner_id}, ${origin}, ${ends_at}, ${now})
        on conflict (partner_id, origin) do update set ends_at = excluded.ends_at, seen_at = excluded.seen_at
          where known.seen_at <= excluded.seen_at`,
  )

/** Certificates that have ended, or end before that moment; the next one to end first. */
export const certificatesEnding = (db: Db, before: Date, limit: number): Promise<PartnerCertificate[]> =>
  db.listWithCustomPlan(
    certificate,
    sql`select partner_id, origin, ends_at from partner_certificate
        where ends_at < ${before} order by ends_at limit ${limit}`,
  )
const shownCertificate = certificate.extend({ seen_at: z.date() })
export type ShownCertificate = z.output<typeof shownCertificate>

export const certificateFilter = z.strictObject({
  /** Only those that have ended, or end within so many days. */
  within_days: z.coerce.number().int().min(0).max(36_500).optional(),
  ...pageInput(z.tuple([momentKey, idKey, z.string().max(512)])),
})
export type CertificateFilter = z.output<typeof certificateFilter>

/** The next one to end first; `before`: only those that have ended, or end before it. */
export async function listedCertificates(
  db: Db,
  { limit, after }: Pick<CertificateFilter, 'limit' | 'after'>,
  before: Date | undefined,
): Promise<Page<ShownCertificate>> {
  const [endsAt, partnerId, origin] = after ?? []
  const ending = before ? sql.part`and ends_at < ${before}` : sql.part``
  const next = after
    ? sql.part`and (ends_at, partner_id, origin) > (${endsAt}::timestamptz, ${partnerId}::bigint, ${origin}::text)`
    : sql.part``
  const rows = await db.listWithCustomPlan(
    withCursor(shownCertificate),
    sql`select partner_id, origin, ends_at, seen_at, ${cursorOf(sql.part`ends_at, partner_id::text, origin`)}
        from partner_certificate where true ${ending} ${next}
        order by ends_at, partner_id, origin limit ${limit + 1}`,
  )
  return pageOf(rows, limit)
}
