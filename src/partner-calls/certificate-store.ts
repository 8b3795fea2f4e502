import { z } from 'zod'
import { DAY_S, type Retention } from '../db/retention.ts'
import { type Db, sql } from '../db/sql.ts'

/** Of a host that is not called any more. */
export const CERTIFICATE_RETENTION: readonly Retention[] = [
  { table: 'partner_certificate', column: 'seen_at', keptS: () => 30 * DAY_S },
]

const certificate = z.object({ partner_id: z.coerce.bigint(), origin: z.string(), ends_at: z.date() })
type PartnerCertificate = z.output<typeof certificate>

/** Of two processes at once the later handshake counts. */
export const upsertCertificate = (db: Db, { partner_id, origin, ends_at }: PartnerCertificate, now: Date) =>
  db.exec(
    sql`insert into partner_certificate as known (partner_id, origin, ends_at, seen_at)
        values (${partner_id}, ${origin}, ${ends_at}, ${now})
        on conflict (partner_id, origin) do update set ends_at = excluded.ends_at, seen_at = excluded.seen_at
          where known.seen_at <= excluded.seen_at`,
  )

/** Those that have ended, or end before that moment; the next one to end first. */
export const certificatesEnding = (db: Db, before: Date, limit: number): Promise<PartnerCertificate[]> =>
  db.listWithCustomPlan(
    certificate,
    sql`select partner_id, origin, ends_at from partner_certificate
        where ends_at < ${before} order by ends_at limit ${limit}`,
  )
