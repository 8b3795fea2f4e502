import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

/** The demo's rows are marked when they are created; migration 0023 marked those of earlier builds. */

export async function markAppsAndUsers(db: Db, apps: readonly string[], passports: readonly string[]): Promise<void> {
  await db.exec(sql`update micro_app set demo = true where app_key = any(${apps})`)
  await db.exec(
    sql`update user_profile u set demo = true
        from user_credential c
        where c.passport = any(${passports}) and (u.routing_key, u.cid, u.user_id) = (c.routing_key, c.cid, c.user_id)`,
  )
}

export const markPartner = (db: Db, partnerId: bigint): Promise<number> =>
  db.exec(sql`update partner set demo = true where partner_id = ${partnerId}`)

const found = z.object({ kind: z.enum(['micro-app', 'user', 'partner']), name: z.string(), status: z.string() })
export type DemoRow = z.output<typeof found>

const whichSchema = z.object({ filled: z.boolean(), marked: z.boolean() })

/** Rows of the demo that are neither suspended nor blocked, also in a database whose schema has no mark yet, or no tables. */
export async function findActiveDemo(db: Db): Promise<DemoRow[]> {
  const { filled, marked } = await db.one(
    whichSchema,
    sql`select to_regclass('micro_app') is not null and to_regclass('partner') is not null as filled, exists (
          select 1 from pg_attribute where attrelid = to_regclass('micro_app') and attname = 'demo' and not attisdropped
        ) as marked`,
  )
  if (!filled) return []
  return db.many(found, marked ? activeByMark() : activeByName())
}

const activeByMark = () =>
  sql`select 'micro-app' as kind, app_key as name, status from micro_app where demo and status <> 'suspended'
      union all
      select 'user', c.passport, u.status
      from user_profile u
      join user_credential c on (c.routing_key, c.cid, c.user_id) = (u.routing_key, u.cid, u.user_id)
      where u.demo and u.status <> 'blocked'
      union all
      select 'partner', partner_id::text, status from partner where demo and status <> 'suspended'
      order by kind, name`

const activeByName = () =>
  sql`select 'micro-app' as kind, app_key as name, status
      from micro_app
      where app_key in ('demo-app', 'demo-phone-only', 'demo-pending') and status <> 'suspended'
      union all
      select 'user', c.passport, u.status
      from user_credential c
      join user_profile u on (u.routing_key, u.cid, u.user_id) = (c.routing_key, c.cid, c.user_id)
      where (c.passport, c.cid, c.user_id) in (('alice', 1, '10001'), ('bob', 1, '10002'), ('mallory', 1, '10003'))
        and u.status <> 'blocked'
      union all
      select 'partner', partner_id::text, status
      from partner where partner_id = 7001 and client_id = 'demo-partner' and status <> 'suspended'
      order by kind, name`

const grantKey = z.object({ routing_key: z.number(), grant_id: z.string() })

/** Grants of the demo's users and grants to the demo's micro-apps, with everything that belongs to them. */
export async function deleteDemoGrants(db: Db): Promise<void> {
  const grants = await db.many(
    grantKey,
    sql`select g.routing_key, g.grant_id from user_grant g join micro_app a on a.app_key = g.app_key where a.demo
        union
        select g.routing_key, g.grant_id
        from user_grant g
        join user_profile u on (u.routing_key, u.cid, u.user_id) = (g.routing_key, g.cid, g.user_id)
        where u.demo`,
  )
  const keys = grants.map((grant) => grant.routing_key)
  const ids = grants.map((grant) => grant.grant_id)
  await db.exec(
    sql`delete from access_token where (routing_key, grant_id) in (select g.key, g.id from unnest(${keys}::int[], ${ids}::uuid[]) as g (key, id))`,
  )
  await db.exec(
    sql`delete from refresh_token where (routing_key, grant_id) in (select g.key, g.id from unnest(${keys}::int[], ${ids}::uuid[]) as g (key, id))`,
  )
  await db.exec(
    sql`delete from authorization_code where (routing_key, grant_id) in (select g.key, g.id from unnest(${keys}::int[], ${ids}::uuid[]) as g (key, id))`,
  )
  await db.exec(
    sql`delete from user_grant where (routing_key, grant_id) in (select g.key, g.id from unnest(${keys}::int[], ${ids}::uuid[]) as g (key, id))`,
  )
}

/** With their secrets. */
export const deleteDemoApps = (db: Db): Promise<number> => db.exec(sql`delete from micro_app where demo`)

/** With their passwords and sessions. */
export async function deleteDemoUsers(db: Db): Promise<number> {
  await db.exec(
    sql`delete from browser_session s using user_profile u
        where u.demo and (s.routing_key, s.cid, s.user_id) = (u.routing_key, u.cid, u.user_id)`,
  )
  await db.exec(
    sql`delete from user_credential c using user_profile u
        where u.demo and (c.routing_key, c.cid, c.user_id) = (u.routing_key, u.cid, u.user_id)`,
  )
  return db.exec(sql`delete from user_profile where demo`)
}

/** With their secrets, sandbox sessions, test runs and products; those that orders refer to stay. */
export async function deleteDemoPartners(db: Db): Promise<number> {
  await db.exec(
    sql`delete from product
        where partner_id in (select partner_id from partner where demo)
          and not exists (select 1 from ticket_order o where o.partner_id = product.partner_id)`,
  )
  return db.exec(
    sql`delete from partner
        where demo and not exists (select 1 from ticket_order o where o.partner_id = partner.partner_id)`,
  )
}

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
