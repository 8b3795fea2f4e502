import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

/** What has changed of products, orders, vouchers and refunds: one row a change, with its cause. */

const historyRow = z.object({
  at: z.date(),
  record: z.string(),
  record_id: z.string(),
  cause: z.string(),
  cause_id: z.string().nullable(),
  /** Field → [before, after]. */
  change: z.record(z.string(), z.tuple([z.unknown(), z.unknown()])),
})
export type HistoryRow = z.output<typeof historyRow>

export const historyOfOrder = (db: Db, orderId: bigint): Promise<HistoryRow[]> =>
  db.many(
    historyRow,
    sql`select at, record, record_id, cause, cause_id, change
        from record_change where order_id = ${orderId} order by change_id`,
  )

/** The newest changes of a product, oldest first. */
export const historyOfProduct = (
  db: Db,
  partnerId: bigint,
  partnerDealId: string,
  limit: number,
): Promise<HistoryRow[]> =>
  db.many(
    historyRow,
    sql`select at, record, record_id, cause, cause_id, change
        from (select change_id, at, record, record_id, cause, cause_id, change from record_change where partner_id = ${partnerId} and record = 'product'
                and record_id = ${partnerDealId} order by change_id desc limit ${limit}) newest
        order by change_id`,
  )
