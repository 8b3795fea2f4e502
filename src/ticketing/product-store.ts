import { type Db, sql } from '../db/sql.ts'
import type { Cause } from './history.ts'

export const SALE_STATES = ['unknown', 'on_sale', 'off_sale'] as const
export type SaleState = (typeof SALE_STATES)[number]

/** A product to be marked: `saleState` is null where the report says nothing about it. */
export interface Mark {
  readonly partnerId: bigint
  readonly partnerDealId: string
  readonly saleState: SaleState | null
}

/** Creates or marks a product and writes its history, if anything changed; the row stays locked until the end of the transaction. */
export const markProduct = (
  db: Db,
  { partnerId, partnerDealId, saleState }: Mark,
  { cause, now }: { cause: Cause; now: Date },
): Promise<number> =>
  db.exec(
    sql`with before as (
      select sale_state from product where partner_id = ${partnerId} and partner_deal_id = ${partnerDealId}
    ), saved as (
      insert into product as p (partner_id, partner_deal_id, sale_state, created_at, updated_at)
      values (${partnerId}, ${partnerDealId}, coalesce(${saleState}, 'unknown'), ${now}, ${now})
      on conflict (partner_id, partner_deal_id) do update
        set sale_state = coalesce(${saleState}, p.sale_state), updated_at = excluded.updated_at
      returning sale_state
    )
    insert into record_change (at, partner_id, record, record_id, cause, cause_id, change)
    select ${now}, ${partnerId}, 'product', ${partnerDealId}, ${cause.kind}, ${cause.id},
      jsonb_build_object('sale_state', jsonb_build_array(before.sale_state, saved.sale_state))
    from saved left join before on true
    where before.sale_state is distinct from saved.sale_state`,
  )
