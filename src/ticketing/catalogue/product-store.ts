import { z } from 'zod'
import { listPage } from '../../platform/db/page.ts'
import { columnsOf } from '../../platform/db/record-fields.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { type Cause, type Difference, forgetOldChanges, PRODUCT_CHANGES } from '../../platform/history/index.ts'
import { parseLossless, placed, stringifyLossless } from '../../platform/lib/json/lossless.ts'
import { storedJson } from '../../platform/lib/localized-text.ts'
import { type ProductFilter, SALE_STATES } from './wire.ts'

export interface ProductKey {
  readonly partnerId: bigint
  readonly partnerDealId: string
}

/** What a partner sent, field by field. */
export type Entry = Readonly<Record<string, unknown>>

/** JSON read from the database as text, because pg would round its 64-bit ids. */
export const exactJson = z.string().transform((text, context) => {
  const parsed = parseLossless(Buffer.from(text), Number.POSITIVE_INFINITY)
  if ('value' in parsed) return parsed.value
  context.addIssue({ code: 'custom', message: `the stored JSON cannot be read: ${placed(parsed)}` })
  return z.NEVER
})

export const exactEntry = exactJson.pipe(z.record(z.string(), z.unknown()))

/** A sequence number, taken before the partner is asked: of two answers, the one with the larger number is newer. */
export const nextAsked = (db: Db): Promise<bigint> => db.value(z.coerce.bigint(), sql`select nextval('pull_asked')`)

export const lockProduct = (db: Db, { partnerId, partnerDealId }: ProductKey) =>
  db.maybe(
    z.object({ details: exactEntry, asked: z.coerce.bigint() }),
    sql`select coalesce(details, '{}')::text as details, asked from product
        where partner_id = ${partnerId} and partner_deal_id = ${partnerDealId} for update`,
  )

/** Stores a pulled product; `details` is the complete entry as JSON text, in which 64-bit ids are exact. */
export const saveProduct = (
  db: Db,
  { partnerId, partnerDealId, title, details, asked }: ProductKey & { title: string; details: string; asked: bigint },
  change: Difference,
  { cause, now }: { cause: Cause; now: Date },
): Promise<number> =>
  db.exec(
    sql`with forgotten as (${forgetOldChanges(partnerId, partnerDealId, now)}), saved as (
      update product
      set title = ${title}, details = ${details}::jsonb, asked = ${asked}, pulled_at = ${now}, updated_at = ${now}
      where partner_id = ${partnerId} and partner_deal_id = ${partnerDealId}
    )
    insert into ${PRODUCT_CHANGES}
    select ${now}, ${partnerId}, 'product', ${partnerDealId}, ${cause.kind}, ${cause.id}, change
    from (select ${stringifyLossless(change)}::jsonb as change) pulled
    where change <> '{}'`,
  )

export const recordProductChange = (
  db: Db,
  { partnerId, partnerDealId }: ProductKey,
  change: Difference,
  { cause, now }: { cause: Cause; now: Date },
): Promise<number> =>
  db.exec(
    sql`with forgotten as (${forgetOldChanges(partnerId, partnerDealId, now)})
        insert into ${PRODUCT_CHANGES}
        values (${now}, ${partnerId}, 'product', ${partnerDealId}, ${cause.kind}, ${cause.id},
          ${storedJson(change)}::jsonb)`,
  )

const productSummary = z.object({
  partner_id: z.coerce.bigint(),
  partner_deal_id: z.string(),
  mt_deal_id: z.coerce.bigint(),
  sale_state: z.enum(SALE_STATES),
  title: z.string().nullable(),
  pulled_at: z.date().nullable(),
  created_at: z.date(),
  updated_at: z.date(),
})
export type ProductSummary = z.output<typeof productSummary>
const SUMMARY = columnsOf(Object.keys(productSummary.shape))

const wholeProduct = productSummary.extend({ details: exactEntry })
export type WholeProduct = z.output<typeof wholeProduct>

/** By the partner's ids. */
export const listProducts = (db: Db, { partner_id, sale_state, title, ...page }: ProductFilter) => {
  const wanted = [
    ...(sale_state ? [sql.part`sale_state = ${sale_state}`] : []),
    ...(title === undefined ? [] : [sql.part`position(lower(${title}) in lower(title)) > 0`]),
  ]
  const listing = {
    row: productSummary,
    columns: SUMMARY,
    from: sql.part`product where partner_id = ${partner_id}`,
    wanted: wanted.length > 0 ? sql.join(wanted, ' and ') : undefined,
    keys: { partner_deal_id: 'text' },
  }
  return listPage(db, listing, page)
}

export const findProduct = (db: Db, { partnerId, partnerDealId }: ProductKey): Promise<WholeProduct | undefined> =>
  db.maybe(
    wholeProduct,
    sql`select ${SUMMARY}, coalesce(details, '{}')::text as details from product
        where partner_id = ${partnerId} and partner_deal_id = ${partnerDealId}`,
  )

export const deleteProductsOf = (db: Db, partnerIds: readonly bigint[]): Promise<number> =>
  db.exec(sql`delete from product where partner_id = any(${partnerIds}::bigint[])`)

const money = z.coerce.number().nullable()
const offer = z.object({ mt_deal_id: z.coerce.bigint(), unit_price: money, buy_price: money })
export type Offer = z.output<typeof offer>

/**
 * The sale and settlement price of one ticket: from the price calendar on a day, else from the product itself. That is
 * stored as received, so a price may be an empty text.
 */
export const findOffer = (
  db: Db,
  key: { partnerId: bigint; partnerDealId: string; date: string | null; primaryKey: string },
): Promise<Offer | undefined> =>
  db.maybe(
    offer,
    sql`select p.mt_deal_id,
      coalesce(day.mt_price, nullif(p.details ->> 'mtPrice', '')::numeric) as unit_price,
      coalesce(day.settlement_price, nullif(p.details ->> 'settlementPrice', '')::numeric) as buy_price
    from product p
    left join product_price day on day.partner_id = p.partner_id and day.partner_deal_id = p.partner_deal_id
      and day.price_date = ${key.date}::date and day.partner_primary_key = ${key.primaryKey}
    where p.partner_id = ${key.partnerId} and p.partner_deal_id = ${key.partnerDealId}`,
  )
