import { z } from 'zod'
import { type Db, sql } from '../platform/db/sql.ts'

// Any number that nothing else in this database uses as an advisory lock.
const SEEDING = 7_001_001

/** Held until the end of the transaction, so that of several starting processes one seeds. */
export const lockSeeding = (db: Db): Promise<number> => db.exec(sql`select pg_advisory_xact_lock(${SEEDING})`)

const schema = z.object({ filled: z.boolean(), marked: z.boolean() })

/** Whether the database has our tables, and whether its schema has the mark yet. */
export const demoSchema = (db: Db): Promise<z.output<typeof schema>> =>
  db.one(
    schema,
    sql`select to_regclass('micro_app') is not null and to_regclass('partner') is not null as filled, exists (
          select 1 from pg_attribute where attrelid = to_regclass('micro_app') and attname = 'demo' and not attisdropped
        ) as marked`,
  )
