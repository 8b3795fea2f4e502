import { z } from 'zod'
import { type Db, sql } from '../../platform/db/sql.ts'

const money = z.coerce.number().nullable()
const offer = z.object({
  mt_deal_id: z.coerce.bigint(),
  unit_price: money,
  buy_price: money,
})
export type Offer = z.output<typeof offer>

/** What the platform asks and pays for one ticket: from the price calendar on a day, else from the product itself. */
export const findOffer = (
  db: Db,
  key: { partnerId: bigint; partnerDealId: string; date: string | null; primaryKey: string },
): Promise<Offer | undefined> =>
  db.maybe(
    offer,
    sql`select p.mt_deal_id,
      coalesce(day.mt_price, (p.details ->> 'mtPrice')::numeric) as unit_price,
      coalesce(day.settlement_price, (p.details ->> 'settlementPrice')::numeric) as buy_price
    from product p
    left join product_price day on day.partner_id = p.partner_id and day.partner_deal_id = p.partner_deal_id
      and day.price_date = ${key.date}::date and day.partner_primary_key = ${key.primaryKey}
    where p.partner_id = ${key.partnerId} and p.partner_deal_id = ${key.partnerDealId}`,
  )
