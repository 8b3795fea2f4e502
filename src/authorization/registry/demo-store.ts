import { z } from 'zod'
import { type Db, sql } from '../../platform/db/sql.ts'

const demoApp = z.object({ name: z.string(), status: z.string() })

/** The demo's micro-apps, which are marked when they are created. */
export const DEMO_APPS = {
  /** Whether this micro-app exists; without an app_key, whether any does. */
  hasRows: (db: Db, appKey?: string): Promise<boolean> =>
    db.value(
      z.boolean(),
      sql`select exists (select 1 from micro_app where ${appKey}::text is null or app_key = ${appKey}::text)`,
    ),
  mark: (db: Db, appKeys: readonly string[]): Promise<number> =>
    db.exec(sql`update micro_app set demo = true where app_key = any(${appKeys})`),
  findActive: (db: Db): Promise<z.output<typeof demoApp>[]> =>
    db.many(
      demoApp,
      sql`select app_key as name, status from micro_app where demo and status <> 'suspended' order by app_key`,
    ),
  keys: (db: Db): Promise<string[]> => db.values(z.string(), sql`select app_key from micro_app where demo`),
  /** Also deletes their secrets. */
  remove: (db: Db): Promise<number> => db.exec(sql`delete from micro_app where demo`),
}
