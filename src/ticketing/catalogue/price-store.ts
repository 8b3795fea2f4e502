import { z } from 'zod'
import { type Db, sql } from '../../platform/db/sql.ts'
import { stringifyLossless } from '../../platform/lib/json/lossless.ts'
import type { UsualPrices } from '../interfaces/index.ts'
import { type Entry, exactEntry, type ProductKey } from './product-store.ts'

const money = z.coerce.number().nullable()

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
  /** Whether missing days are removed: only for a calendar that was read completely, never for a part of one. */
  readonly complete: boolean
}

/** Whether no later question about the product's prices was answered before; records this one as the newest. */
export const claimNewest = async (db: Db, { partnerId, partnerDealId }: ProductKey, asked: bigint): Promise<boolean> =>
  (await db.exec(
    sql`update product set prices_asked = ${asked}
        where partner_id = ${partnerId} and partner_deal_id = ${partnerDealId} and prices_asked < ${asked}`,
  )) > 0

const DAYS_KEPT = 30

/** Whether the entry `p` is of the kind of calendar that is being stored. */
const sameKind = (level: boolean) => sql.part`(p.partner_primary_key <> '') = ${level}`

/**
 * Stores the calendar of a range of days. `changed` counts entries that are new or differ. The calendar that came last
 * counts: its entries replace those of the other kind on the same day, and a complete one that has entries all of them.
 * Days that are long past go too, unless nothing came: only they may tell the product's kind (hasLevels) in winter.
 */
export const savePrices = (
  db: Db,
  { partnerId, partnerDealId, from, to, level, prices, complete }: PricesToSave,
  now: Date,
): Promise<{ changed: number; removed: number }> =>
  db.one(
    z.object({ changed: z.number(), removed: z.number() }),
    sql`with incoming as (
      select price_date, partner_primary_key, market_price, mt_price, settlement_price, stock, details
      from jsonb_to_recordset(${stringifyLossless(prices)}::jsonb) as i (price_date date,
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
      where partner_id = ${partnerId} and partner_deal_id = ${partnerDealId}
        and price_date between ${from}::date and ${to}::date
        and case when ${sameKind(level)}
          then ${complete} and (price_date, partner_primary_key) not in (
            select price_date, partner_primary_key from incoming)
          else ${complete && prices.length > 0} or price_date in (select price_date from incoming) end
      returning 1
    ), past as (
      delete from product_price p
      where partner_id = ${partnerId} and partner_deal_id = ${partnerDealId} and ${prices.length > 0}
        and price_date < least(${from}::date, (${now}::timestamptz at time zone 'Asia/Shanghai')::date - ${DAYS_KEPT}::int)
    )
    select (select count(*)::int from changed) as changed, (select count(*)::int from removed) as removed`,
  )

/**
 * How many days and entries are stored within the range, and how many entries the pulled calendar no longer has: of the
 * other kind, those of days that it does not have. `said_at`: since when they have been held back, if all of them are.
 */
export const countGone = (db: Db, { partnerId, partnerDealId, from, to, level, prices }: PricesToSave) =>
  db.one(
    z.object({ days: z.number(), entries: z.number(), gone: z.number(), said_at: z.date().nullable() }),
    sql`select count(distinct p.price_date)::int as days, count(*)::int as entries,
          count(*) filter (where is_gone)::int as gone,
          case when count(*) filter (where is_gone) = count(r.said_at) filter (where is_gone) then max(r.said_at) end as said_at
        from product_price p
        left join unnest(${prices.map((price) => price.price_date)}::date[], ${prices.map((price) => price.partner_primary_key)}::text[])
          as pulled (price_date, partner_primary_key)
          on pulled.price_date = p.price_date and pulled.partner_primary_key = p.partner_primary_key
        left join unnest(${[...new Set(prices.map((price) => price.price_date))]}::date[]) as day (price_date)
          on day.price_date = p.price_date
        cross join lateral (
          select case when ${sameKind(level)} then pulled.price_date else day.price_date end is null as is_gone
        ) compared
        left join price_removal r on r.partner_id = p.partner_id and r.partner_deal_id = p.partner_deal_id
          and r.level = ${level} and p.price_date between r.from_date and r.to_date and p.pulled_at < r.said_at
        where p.partner_id = ${partnerId} and p.partner_deal_id = ${partnerDealId}
          and p.price_date between ${from}::date and ${to}::date and (${prices.length > 0} or ${sameKind(level)})`,
  )

/** Records that the partner has removed most of a calendar, in an answer about these days. */
export const noteRemoval = (
  db: Db,
  { partnerId, partnerDealId, level, from, to }: PricesToSave,
  now: Date,
): Promise<number> =>
  db.exec(
    sql`insert into price_removal (partner_id, partner_deal_id, level, said_at, from_date, to_date)
        values (${partnerId}, ${partnerDealId}, ${level}, ${now}, ${from}::date, ${to}::date)
        on conflict (partner_id, partner_deal_id, level) do update
          set said_at = excluded.said_at, from_date = excluded.from_date, to_date = excluded.to_date, digest = null`,
  )

export const forgetRemoval = (db: Db, { partnerId, partnerDealId, level }: PricesToSave): Promise<number> =>
  db.exec(
    sql`delete from price_removal
        where partner_id = ${partnerId} and partner_deal_id = ${partnerDealId} and level = ${level}`,
  )

/** The median of each kind of stored price of the product, in yuan. */
export const usualPrices = (db: Db, { partnerId, partnerDealId }: ProductKey): Promise<UsualPrices> =>
  db.one(
    z.object({ marketPrice: money, mtPrice: money, settlementPrice: money }),
    sql`select percentile_disc(0.5) within group (order by market_price) filter (where market_price > 0) as "marketPrice",
          percentile_disc(0.5) within group (order by mt_price) filter (where mt_price > 0) as "mtPrice",
          percentile_disc(0.5) within group (order by settlement_price) filter (where settlement_price > 0)
            as "settlementPrice"
        from product_price where partner_id = ${partnerId} and partner_deal_id = ${partnerDealId}`,
  )

/** Whether the product's newest prices come from the level price calendar. */
export const hasLevels = (db: Db, { partnerId, partnerDealId }: ProductKey): Promise<boolean> =>
  db.value(
    z.boolean(),
    sql`select coalesce((select partner_primary_key <> '' from product_price
          where partner_id = ${partnerId} and partner_deal_id = ${partnerDealId}
          order by pulled_at desc limit 1), false) as levels`,
  )

export const countPrices = (db: Db, { partnerId, partnerDealId }: ProductKey, from: string): Promise<number> =>
  db.value(
    z.number(),
    sql`select count(*)::int as entries from product_price
        where partner_id = ${partnerId} and partner_deal_id = ${partnerDealId} and price_date >= ${from}::date`,
  )

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

/** Keys of the sessions and ticket kinds on sale on a day; the key is empty in a plain calendar. */
export const keysOnSale = (db: Db, { partnerId, partnerDealId }: ProductKey, day: string): Promise<string[]> =>
  db.values(
    z.string(),
    sql`select partner_primary_key from product_price
        where partner_id = ${partnerId} and partner_deal_id = ${partnerDealId} and price_date = ${day}::date and stock <> 0
        order by partner_primary_key limit 20`,
  )
