import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

// Any number that nothing else in this database uses as an advisory lock.
const SEEDING = 7_001_001

/** Held until the end of the transaction, so that of several starting processes one seeds. */
export const lockSeeding = (db: Db): Promise<number> => db.exec(sql`select pg_advisory_xact_lock(${SEEDING})`)

/** Whether this is a demo's database (it has the demo's micro-app) and has no partner yet. */
export const lacksDemoPartner = async (db: Db, demoApp: string): Promise<boolean> => {
  const row = await db.one(
    z.object({ lacks: z.boolean() }),
    sql`select exists (select from micro_app where app_key = ${demoApp}) and not exists (select from partner) as lacks`,
  )
  return row.lacks
}

export const hasAppsOrUsers = async (db: Db): Promise<boolean> => {
  const row = await db.one(
    z.object({ filled: z.boolean() }),
    sql`select exists (select from micro_app) or exists (select from user_profile) as filled`,
  )
  return row.filled
}
