import { z } from 'zod'
import { type Db, sql } from '../platform/db/sql.ts'

// An arbitrary number that no other advisory lock in this database uses.
const SEEDING = 7_001_001

/** Held until the end of the transaction, so that only one of several starting processes seeds. */
export const lockSeeding = (db: Db): Promise<number> => db.exec(sql`select pg_advisory_xact_lock(${SEEDING})`)

export const hasTables = (db: Db): Promise<boolean> =>
  db.value(z.boolean(), sql`select to_regclass('micro_app') is not null and to_regclass('partner') is not null`)
