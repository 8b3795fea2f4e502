import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'
import { stringifyLossless } from '../lib/lossless.ts'
import { type Entry, exactEntry, type ProductKey } from './product-store.ts'

/** One day of a product, or one session or kind of ticket on that day. */
export interface Price {
  readonly price_date: string
  /** Empty in plain price calendars. */
  readonly partner_primary_key: string
  readonly market_price: number
  readonly mt_price: number
  readonly settlement_price: number
  /** -1 unlimited */
  readonly stock: number
  /** The entry as it came. */
  readonly details: Entry
}

export interface PricesToSave extends ProductKey {
  readonly from: string
  readonly to: string
  readonly level: boolean
  readonly prices: readonly Price[]
  /** Whether days that are missing are gone; they are not when some entries could not be read. */
  readonly complete: boolean
}

/** Stores the calendar of a range of days; returns how many entries are new or changed, and how many are gone. */
export const savePrices = (
  db: Db,
  { partnerId, partnerDealId, from, to, level, prices, complete }: PricesToSave,
  now: Date,
): Promise<{ changed: number; removed: number }> =>
  db.one(
    z.object({ changed: z.number(), removed: z.number() }),
    sql`with incoming as (
      select * from jsonb_to_recordset(${stringifyLossless(prices)}::jsonb) as i (price_date date,
        partner_primary_key text, market_price numeric, mt_price numeric, settlement_price numeric, stock int,
        details jsonb)
    ), changed as (
      select from incoming i
      left join product_price p on p.partner_id = ${partnerId} and p.partner_deal_id = ${partnerDealId}
        and p.price_date = i.price_date and p.partner_primary_key = i.partner_primary_key
      where p.details is distinct from i.details
    ), saved as (
      insert into product_price (partner_id, partner_deal_id, price_date, partner_primary_key, market_price, mt_price,
        settlement_price, stock, details, pulled_at)
      select ${partnerId}, ${partnerDealId}, price_date, partner_primary_key, market_price, mt_price, settlement_price,
        stock, details, ${now}
      from incoming
      on conflict (partner_id, partner_deal_id, price_date, partner_primary_key) do update set
        market_price = excluded.market_price, mt_price = excluded.mt_price,
        settlement_price = excluded.settlement_price, stock = excluded.stock, details = excluded.details,
        pulled_at = excluded.pulled_at
    ), removed as (
      delete from product_price p
      where ${complete} and partner_id = ${partnerId} and partner_deal_id = ${partnerDealId}
        and price_date between ${from}::date and ${to}::date and (partner_primary_key <> '') = ${level}
        and not exists (select from incoming i
          where i.price_date = p.price_date and i.partner_primary_key = p.partner_primary_key)
      returning 1
    )
    select (select count(*)::int from changed) as changed, (select count(*)::int from removed) as removed`,
  )

/** Whether the product's prices come from the level price calendar. */
export const hasLevels = async (db: Db, { partnerId, partnerDealId }: ProductKey): Promise<boolean> => {
  const row = await db.one(
    z.object({ levels: z.boolean() }),
    sql`select exists (select from product_price where partner_id = ${partnerId}
          and partner_deal_id = ${partnerDealId} and partner_primary_key <> '') as levels`,
  )
  return row.levels
}

const money = z.coerce.number().nullable()
const shownPrice = z.object({
  price_date: z.string(),
  partner_primary_key: z.string(),
  market_price: money,
  mt_price: money,
  settlement_price: money,
  stock: z.number(),
  details: exactEntry,
  pulled_at: z.date(),
})
export type ShownPrice = z.output<typeof shownPrice>

export const pricesFrom = (db: Db, { partnerId, partnerDealId }: ProductKey, from: string): Promise<ShownPrice[]> =>
  db.many(
    shownPrice,
    sql`select price_date, partner_primary_key, market_price, mt_price, settlement_price, stock,
          details::text as details, pulled_at
        from product_price
        where partner_id = ${partnerId} and partner_deal_id = ${partnerDealId} and price_date >= ${from}::date
        order by price_date, partner_primary_key`,
  )

/** Keys of the sessions and kinds of tickets that are to be had on a day; an empty one where the calendar is plain. */
export const keysOnSale = async (db: Db, { partnerId, partnerDealId }: ProductKey, day: string): Promise<string[]> => {
  const rows = await db.many(
    z.object({ partner_primary_key: z.string() }),
    sql`select partner_primary_key from product_price
        where partner_id = ${partnerId} and partner_deal_id = ${partnerDealId} and price_date = ${day}::date and stock <> 0
        order by partner_primary_key limit 20`,
  )
  return rows.map(({ partner_primary_key }) => partner_primary_key)
}
