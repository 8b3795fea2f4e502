import { z } from 'zod'
import { type Db, type Fragment, sql } from '../db/sql.ts'
import { addSeconds, DAY_S } from '../lib/clock.ts'
import { storedText } from '../lib/localized-text.ts'

/** Where the changes of an order are, for the purge. */
export const ORDER_HISTORY = { table: 'record_change', column: 'order_id' } as const

/** Insert targets for statements of other rooms: changes of an order and its parts, and of a product. */
export const ORDER_CHANGES = sql.part`record_change (at, partner_id, record, record_id, order_id, cause, cause_id, change)`
export const PRODUCT_CHANGES = sql.part`record_change (at, partner_id, record, record_id, cause, cause_id, change)`

const PRODUCT_HISTORY_S = 90 * DAY_S

/**
 * Deletes up to two old changes with each pull and each new change, as sellers may change prices every minute. The
 * purge would need an index by age on the history of all orders, which stays.
 */
export const forgetOldChanges = (partnerId: bigint, partnerDealId: string, now: Date): Fragment => sql.part`
  delete from record_change where change_id = any (array(
    select change_id from (
      select change_id, at from record_change
      where partner_id = ${partnerId} and record = 'product' and record_id = ${partnerDealId} order by change_id limit 2
    ) oldest where at < ${addSeconds(now, -PRODUCT_HISTORY_S)}::timestamptz))`

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

/** The field of a product's changes that counts those of its prices. */
export const PRICES = 'prices'

/** With stored texts as such. Other fields of products are the partner's: an object there is what it sent. */
const rowWithTexts = historyRow.transform((row): HistoryRow => {
  const withTexts = ([field, sides]: [string, [unknown, unknown]]) =>
    row.record === 'product' && field !== PRICES ? [field, sides] : [field, sides.map(textIn)]
  return { ...row, change: Object.fromEntries(Object.entries(row.change).map(withTexts)) }
})

const textIn = (side: unknown): unknown => {
  const { data } = storedText.safeParse(side)
  return data ?? side
}

const CHANGE = sql.part`at, record, record_id, cause, cause_id, change`

const MOST_CHANGES = 10_000

/** The latest changes of an order and its parts, oldest first. */
export const historyOfOrder = (db: Db, orderId: bigint): Promise<HistoryRow[]> =>
  db.many(
    rowWithTexts,
    sql`select ${CHANGE}
        from (select change_id, ${CHANGE} from record_change
              where order_id = ${orderId} order by change_id desc limit ${MOST_CHANGES}) newest
        order by change_id`,
  )

/** The latest changes of a product, oldest first. */
export const historyOfProduct = (db: Db, partnerId: bigint, partnerDealId: string, limit: number) =>
  db.many(
    rowWithTexts,
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

export const wasSentForPayment = async (db: Db, orderId: bigint): Promise<boolean> =>
  (await countOrderMoves(db, orderId, { to: 'paying', notFrom: 'pay_unknown' })) > 0

/** How many tickets of the order were refunded when this refund was requested, and which refunds were done by then. */
export const refundedBefore = (db: Db, orderId: bigint, refundId: string) =>
  db.one(
    z.object({ refunded_quantity: z.number(), refund_ids: z.array(z.string()) }),
    sql`with before as (
          select record, record_id, change, change_id from record_change where order_id = ${orderId} and change_id < (
            select min(change_id) from record_change
            where order_id = ${orderId} and record = 'refund' and record_id = ${refundId})
        )
        select coalesce((select (change -> 'refunded_quantity' ->> 1)::int from before
              where record = 'order' and change -> 'refunded_quantity' is not null
              order by change_id desc limit 1), 0) as refunded_quantity,
          array(select record_id from before
            where record = 'refund' and change -> 'state' ->> 1 = 'refunded') as refund_ids`,
  )
