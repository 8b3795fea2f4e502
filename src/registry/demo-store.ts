import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

/** The demo's micro-apps. They are marked when they are created; migration 0023 marked those of earlier builds. */

export const markDemoApps = (db: Db, appKeys: readonly string[]): Promise<number> =>
  db.exec(sql`update micro_app set demo = true where app_key = any(${appKeys})`)

const exists = z.object({ exists: z.boolean() })

/** Whether there is this micro-app; without an app_key: any. */
export const hasMicroApp = async (db: Db, appKey?: string): Promise<boolean> => {
  const asked =
    appKey === undefined
      ? sql`select exists (select 1 from micro_app)`
      : sql`select exists (select 1 from micro_app where app_key = ${appKey})`
  return (await db.one(exists, asked)).exists
}

const schema = z.object({ filled: z.boolean(), marked: z.boolean() })

/** Whether the database has our tables, and whether its schema has the mark yet. */
export const demoSchema = (db: Db): Promise<z.output<typeof schema>> =>
  db.one(
    schema,
    sql`select to_regclass('micro_app') is not null and to_regclass('partner') is not null as filled, exists (
          select 1 from pg_attribute where attrelid = to_regclass('micro_app') and attname = 'demo' and not attisdropped
        ) as marked`,
  )

const demoApp = z.object({ name: z.string(), status: z.string() })

/** Micro-apps of the demo that are not suspended. Where the schema has no mark yet: those of these app_keys. */
export const findActiveDemoApps = (db: Db, appKeys?: readonly string[]): Promise<z.output<typeof demoApp>[]> =>
  db.many(
    demoApp,
    appKeys === undefined
      ? sql`select app_key as name, status from micro_app where demo and status <> 'suspended' order by app_key`
      : sql`select app_key as name, status from micro_app
            where app_key = any(${appKeys}) and status <> 'suspended' order by app_key`,
  )

export const demoAppKeys = async (db: Db): Promise<string[]> =>
  (await db.many(z.object({ app_key: z.string() }), sql`select app_key from micro_app where demo`)).map(
    (row) => row.app_key,
  )

/** With their secrets. */
export const deleteDemoApps = (db: Db): Promise<number> => db.exec(sql`delete from micro_app where demo`)
