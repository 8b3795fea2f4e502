import { columnsOf } from '../db/field.ts'
import { beginsWith, cursorOf, type Page, pageOf, withCursor } from '../db/page.ts'
import { type Db, sql } from '../db/sql.ts'
import { type MicroApp, type MicroAppFilter, microApp } from './wire.ts'

const COLUMNS = columnsOf(Object.keys(microApp.shape))

/** Oldest first. */
export async function listMicroApps(db: Db, { limit, after, ...filter }: MicroAppFilter): Promise<Page<MicroApp>> {
  const [createdAt, appKey] = after ?? []
  const found = await db.listWithCustomPlan(
    withCursor(microApp),
    sql`select ${COLUMNS}, ${cursorOf(sql.part`created_at, app_key`)} from micro_app
        where (${createdAt}::timestamptz is null or (created_at, app_key) > (${createdAt}::timestamptz, ${appKey}::text))
          and (${filter.app_key}::text is null or app_key like ${beginsWith(filter.app_key)})
          and (${filter.name}::text is null or lower(name) like lower(${beginsWith(filter.name)}))
          and (${filter.status}::text is null or status = ${filter.status})
        order by created_at, app_key limit ${limit + 1}`,
  )
  return pageOf(found, limit)
}
