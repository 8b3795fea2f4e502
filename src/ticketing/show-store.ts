import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

/** What operators look at: the history of a record, and lists. */

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

const orderSummary = z.object({
  order_id: z.coerce.bigint(),
  partner_id: z.coerce.bigint(),
  partner_deal_id: z.string(),
  /** Made in the sandbox: nobody has paid for it. */
  sandbox: z.boolean(),
  state: z.string(),
  quantity: z.number(),
  used_quantity: z.number(),
  refunded_quantity: z.number(),
  total_price: z.coerce.number(),
  created_at: z.date(),
})
export type OrderSummary = z.output<typeof orderSummary>

/** Newest first; an undefined filter lets everything through. */
export const listOrders = (
  db: Db,
  filter: {
    partner_id?: bigint | undefined
    state?: string | undefined
    sandbox?: boolean | undefined
    limit: number
  },
): Promise<OrderSummary[]> =>
  db.search(
    orderSummary,
    sql`select order_id, partner_id, partner_deal_id, sandbox, state, quantity, used_quantity, refunded_quantity,
          total_price, created_at
        from ticket_order
        where (${filter.partner_id}::bigint is null or partner_id = ${filter.partner_id})
          and (${filter.state}::text is null or state = ${filter.state})
          and (${filter.sandbox}::boolean is null or sandbox = ${filter.sandbox})
        order by created_at desc, order_id desc limit ${filter.limit}`,
  )
