import { z } from 'zod'
import { type Db, sql } from '../../platform/db/sql.ts'

const demoPartner = z.object({ name: z.string(), status: z.string() })

/** The partners of the demo, which marks them when it creates them. */
export const DEMO_PARTNERS = {
  /** Whether there are any partners, of the demo or not. */
  hasRows: (db: Db): Promise<boolean> => db.value(z.boolean(), sql`select exists (select 1 from partner)`),
  mark: (db: Db, partnerId: bigint): Promise<number> =>
    db.exec(sql`update partner set demo = true where partner_id = ${partnerId}`),
  findActive: (db: Db): Promise<z.output<typeof demoPartner>[]> =>
    db.many(
      demoPartner,
      sql`select partner_id::text as name, status from partner where demo and status <> 'suspended' order by partner_id`,
    ),
  keys: (db: Db): Promise<bigint[]> => db.values(z.coerce.bigint(), sql`select partner_id from partner where demo`),
  /** Deletes them with all that is theirs, except `kept`: those can no longer call, be called or sign in. */
  remove: async (db: Db, kept: readonly bigint[], now: Date) => {
    const removed = await db.exec(sql`delete from partner where demo and partner_id <> all(${kept}::bigint[])`)
    const disabled = await db.exec(
      sql`update partner set status = 'suspended', base_url = null, interface_urls = '{}', updated_at = ${now}
          where demo and (status <> 'suspended'
            or exists (select 1 from partner_secret s where s.partner_id = partner.partner_id))`,
    )
    await db.exec(sql`delete from partner_contact where partner_id in (select partner_id from partner where demo)`)
    await db.exec(sql`delete from partner_secret where partner_id in (select partner_id from partner where demo)`)
    return { removed, disabled }
  },
}
