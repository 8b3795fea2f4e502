import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

/** Where the changes of an order are, for the purge. */
export const ORDER_HISTORY = { table: 'record_change', column: 'order_id' } as const

/** Insert targets for statements of other rooms: changes of an order and its parts, and of a product. */
export const ORDER_CHANGES = sql.part`record_change (at, partner_id, record, record_id, order_id, cause, cause_id, change)`
export const PRODUCT_CHANGES = sql.part`record_change (at, partner_id, record, record_id, cause, cause_id, change)`

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

const CHANGE = sql.part`at, record, record_id, cause, cause_id, change`

export const historyOfOrder = (db: Db, orderId: bigint): Promise<HistoryRow[]> =>
  db.many(historyRow, sql`select ${CHANGE} from record_change where order_id = ${orderId} order by change_id`)

/** The latest changes of a product, oldest first. */
export const historyOfProduct = (db: Db, partnerId: bigint, partnerDealId: string, limit: number) =>
  db.many(
    historyRow,
    sql`select ${CHANGE}
        from (select change_id, ${CHANGE} from record_change
              where partner_id = ${partnerId} and record = 'product' and record_id = ${partnerDealId}
              order by change_id desc limit ${limit}) newest
        order by change_id`,
  )

/** How often an order moved to the state `to`, except from `notFrom`. */
export const countOrderMoves = (db: Db, orderId: bigint, { to, notFrom }: { to: string; notFrom: string }) =>
  db.value(
    z.number(),
    sql`select count(*)::int as times from record_change
          where order_id = ${orderId} and record = 'order' and change -> 'state' ->> 1 = ${to}
            and change -> 'state' ->> 0 <> ${notFrom}`,
  )
