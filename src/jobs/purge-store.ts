import { type Db, sql } from '../db/sql.ts'

export const deleteRejectedCalls = (db: Db, before: Date): Promise<number> =>
  db.exec(sql`delete from rejected_call where received_at < ${before}`)

export const deletePartnerCalls = (db: Db, before: Date): Promise<number> =>
  db.exec(sql`delete from partner_call where started_at < ${before}`)
