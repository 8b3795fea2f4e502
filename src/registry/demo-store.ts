import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

/** The demo's micro-apps and partner. They are marked when they are created; migration 0023 marked those of earlier builds. */

export const markDemoApps = (db: Db, appKeys: readonly string[]): Promise<number> =>
  db.exec(sql`update micro_app set demo = true where app_key = any(${appKeys})`)

export const markDemoPartner = (db: Db, partnerId: bigint): Promise<number> =>
  db.exec(sql`update partner set demo = true where partner_id = ${partnerId}`)

const exists = z.object({ exists: z.boolean() })

export const hasMicroApps = async (db: Db): Promise<boolean> =>
  (await db.one(exists, sql`select exists (select 1 from micro_app)`)).exists

/** Whether the micro-app is there and no partner is. */
export const hasAppWithoutPartners = async (db: Db, appKey: string): Promise<boolean> =>
  (
    await db.one(
      exists,
      sql`select exists (select 1 from micro_app where app_key = ${appKey}) and not exists (select 1 from partner) as exists`,
    )
  ).exists

const schema = z.object({ filled: z.boolean(), marked: z.boolean() })

/** Whether the database has our tables, and whether its schema has the mark yet. */
export const demoSchema = (db: Db): Promise<z.output<typeof schema>> =>
  db.one(
    schema,
    sql`select to_regclass('micro_app') is not null and to_regclass('partner') is not null as filled, exists (
          select 1 from pg_attribute where attrelid = to_regclass('micro_app') and attname = 'demo' and not attisdropped
        ) as marked`,
  )

const demoRow = z.object({ kind: z.enum(['micro-app', 'user', 'partner']), name: z.string(), status: z.string() })
/** One row of the demo, by the name that an operator knows. */
export type DemoRow = z.output<typeof demoRow>

/** Micro-apps and partners of the demo that are not suspended. */
export const findActiveDemoParties = (db: Db): Promise<DemoRow[]> =>
  db.many(
    demoRow,
    sql`select 'micro-app' as kind, app_key as name, status from micro_app where demo and status <> 'suspended'
        union all
        select 'partner', partner_id::text, status from partner where demo and status <> 'suspended'
        order by kind, name`,
  )

/** The same in a schema that has no mark yet. */
export const findActiveDemoPartiesByName = (
  db: Db,
  { appKeys, partnerId, clientId }: { appKeys: readonly string[]; partnerId: bigint; clientId: string },
): Promise<DemoRow[]> =>
  db.many(
    demoRow,
    sql`select 'micro-app' as kind, app_key as name, status
        from micro_app where app_key = any(${appKeys}) and status <> 'suspended'
        union all
        select 'partner', partner_id::text, status
        from partner where partner_id = ${partnerId} and client_id = ${clientId} and status <> 'suspended'
        order by kind, name`,
  )

export const demoAppKeys = async (db: Db): Promise<string[]> =>
  (await db.many(z.object({ app_key: z.string() }), sql`select app_key from micro_app where demo`)).map(
    (row) => row.app_key,
  )

export const demoPartnerIds = async (db: Db): Promise<bigint[]> =>
  (await db.many(z.object({ partner_id: z.coerce.bigint() }), sql`select partner_id from partner where demo`)).map(
    (row) => row.partner_id,
  )

/** With their secrets. */
export const deleteDemoApps = (db: Db): Promise<number> => db.exec(sql`delete from micro_app where demo`)

/** With their secrets, sandbox sessions and test runs. */
export const deleteDemoPartners = (db: Db, kept: readonly bigint[]): Promise<number> =>
  db.exec(sql`delete from partner where demo and partner_id <> all(${kept}::bigint[])`)

/**
 * Partners that stay can neither be called nor call nor sign in; deleting their secrets also deletes their sandbox
 * sessions.
 */
export async function disableDemoPartners(db: Db, now: Date): Promise<number> {
  const disabled = await db.exec(
    sql`update partner set status = 'suspended', base_url = null, interface_urls = '{}', updated_at = ${now}
        where demo and (status <> 'suspended'
          or exists (select 1 from partner_secret s where s.partner_id = partner.partner_id))`,
  )
  await db.exec(sql`delete from partner_contact where partner_id in (select partner_id from partner where demo)`)
  await db.exec(sql`delete from partner_secret where partner_id in (select partner_id from partner where demo)`)
  return disabled
}
