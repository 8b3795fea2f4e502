import { z } from 'zod'
import { type Db, sql } from '../../platform/db/sql.ts'

/** The demo's micro-apps, which are marked when they are created. */

const markDemoApps = (db: Db, appKeys: readonly string[]): Promise<number> =>
  db.exec(sql`update micro_app set demo = true where app_key = any(${appKeys})`)

const exists = z.object({ exists: z.boolean() })

/** Whether this micro-app exists; without an app_key, whether any does. */
const hasMicroApp = async (db: Db, appKey?: string): Promise<boolean> => {
  const asked =
    appKey === undefined
      ? sql`select exists (select 1 from micro_app)`
      : sql`select exists (select 1 from micro_app where app_key = ${appKey})`
  return (await db.one(exists, asked)).exists
}

const demoApp = z.object({ name: z.string(), status: z.string() })

const findActive = (db: Db): Promise<z.output<typeof demoApp>[]> =>
  db.many(
    demoApp,
    sql`select app_key as name, status from micro_app where demo and status <> 'suspended' order by app_key`,
  )

const demoAppKeys = (db: Db): Promise<string[]> => db.values(z.string(), sql`select app_key from micro_app where demo`)

/** With their secrets. */
const deleteDemoApps = (db: Db): Promise<number> => db.exec(sql`delete from micro_app where demo`)

export const DEMO_APPS = {
  hasRows: hasMicroApp,
  mark: markDemoApps,
  findActive,
  keys: demoAppKeys,
  remove: deleteDemoApps,
}
