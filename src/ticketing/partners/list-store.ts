import { beginsWith, cursorOf, type Page, pageOf, withCursor } from '../../platform/db/page.ts'
import { columnsOf } from '../../platform/db/record-fields.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { type Partner, type PartnerFilter, partner } from './wire.ts'

const COLUMNS = columnsOf(
  Object.keys(partner.shape).filter((name) => name !== 'contacts'),
  'p',
)

/** Oldest first, with their contacts. */
export async function listPartners(db: Db, { limit, after, ...filter }: PartnerFilter): Promise<Page<Partner>> {
  const [createdAt, partnerId] = after ?? []
  const rows = await db.listWithCustomPlan(
    withCursor(partner),
    sql`select ${COLUMNS}, coalesce(people.contacts, '{}') as contacts,
          ${cursorOf(sql.part`p.created_at, p.partner_id::text`)}
        from partner p
        left join lateral (
          select jsonb_object_agg(role, jsonb_build_object('name', name, 'mail', mail, 'webhook_url', webhook_url)) as contacts
          from partner_contact
          where partner_id = p.partner_id
        ) people on true
        where (${createdAt}::timestamptz is null
            or (p.created_at, p.partner_id) > (${createdAt}::timestamptz, ${partnerId}::bigint))
          and (${filter.name}::text is null or lower(p.name) like lower(${beginsWith(filter.name)}))
          and (${filter.client_id}::text is null or p.client_id like ${beginsWith(filter.client_id)})
          and (${filter.stage}::text is null or p.stage = ${filter.stage})
          and (${filter.status}::text is null or p.status = ${filter.status})
        order by p.created_at, p.partner_id limit ${limit + 1}`,
  )
  return pageOf(rows, limit)
}
