import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'
import { joinedMicroApp } from '../registry/index.ts'

const named = z.object({ app_key: z.string(), name: z.string(), logo_url: z.string().nullable() })

/** Those that there are. */
export const namesOfApps = (db: Db, appKeys: readonly string[]): Promise<z.output<typeof named>[]> =>
  db.listWithCustomPlan(
    named,
    sql`select a.app_key, a.name, a.logo_url from unnest(${appKeys}::text[]) as asked (app_key)
        join ${joinedMicroApp(sql.part`asked.app_key`)}`,
  )
