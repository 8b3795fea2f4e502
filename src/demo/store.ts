import { z } from 'zod'
import { type Db, sql } from '../platform/db/sql.ts'

// Any number that nothing else in this database uses as an advisory lock.
const SEEDING = 7_001_001

/** Held until the end of the transaction, so that of several starting processes one seeds. */
export const lockSeeding = (db: Db): Promise<number> => db.exec(sql`select pg_advisory_xact_lock(${SEEDING})`)

/** Whether the database has our tables. */
export const hasTables = (db: Db): Promise<boolean> =>
  db.value(z.boolean(), sql`select to_regclass('micro_app') is not null and to_regclass('partner') is not null`)
