import { z } from 'zod'
import { beginsWith, listPage } from '../../platform/db/page.ts'
import { columnsOf } from '../../platform/db/record-fields.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import type { OrderFilter } from './wire.ts'

const orderSummary = z.object({
  order_id: z.coerce.bigint(),
  partner_id: z.coerce.bigint(),
  partner_deal_id: z.string(),
  partner_order_id: z.string().nullable(),
  /** Whether it is a sandbox order, for which nobody has paid. */
  sandbox: z.boolean(),
  state: z.string(),
  quantity: z.number(),
  used_quantity: z.number(),
  refunded_quantity: z.number(),
  total_price: z.coerce.number(),
  created_at: z.date(),
})

/** Newest first; filters that are undefined do not apply. States change too often for an index: they are searched. */
export const listOrders = (db: Db, { state, ...filter }: OrderFilter) => {
  const listing = {
    row: orderSummary,
    columns: columnsOf(Object.keys(orderSummary.shape)),
    from: sql.part`ticket_order
        where (${filter.partner_id}::bigint is null or partner_id = ${filter.partner_id})
          and (${filter.partner_order_id}::text is null or partner_order_id like ${beginsWith(filter.partner_order_id)})
          and (${filter.sandbox}::boolean is null or sandbox = ${filter.sandbox})
          and (${filter.from}::timestamptz is null or created_at >= ${filter.from})
          and (${filter.to}::timestamptz is null or created_at < ${filter.to})`,
    wanted: state && sql.part`state = ${state}`,
    keys: { created_at: 'timestamptz', order_id: 'int8' },
    newestFirst: true,
  } as const
  return listPage(db, listing, filter)
}

export const partnersWithOrders = (db: Db, partnerIds: readonly bigint[]): Promise<bigint[]> =>
  db.values(
    z.coerce.bigint(),
    sql`select distinct partner_id from ticket_order where partner_id = any(${partnerIds}::bigint[])`,
  )

const storedOrder = z.object({ order_id: z.coerce.bigint(), partner_order_id: z.string().nullable() })

/** Those of the orders that exist, with the partner's own ids. */
export const storedOrders = (db: Db, orderIds: readonly bigint[]): Promise<z.output<typeof storedOrder>[]> =>
  db.many(
    storedOrder,
    sql`select order_id, partner_order_id from ticket_order where order_id = any (${orderIds}::bigint[])`,
  )

const outcomes = z.object({ consumed: z.array(z.string()), refunded: z.array(z.string()) })
/** Ids of the orders that are consumed, and of those that are refunded, at least in part. */
export type OrderOutcomes = z.output<typeof outcomes>

/** Outcomes of these orders; only sandbox orders count. */
export const outcomesOf = (db: Db, orderIds: readonly bigint[]): Promise<OrderOutcomes> =>
  db.one(
    outcomes,
    sql`select
          coalesce(array_agg(o.order_id::text order by o.order_id) filter (where o.used_quantity > 0), '{}') as consumed,
          coalesce(array_agg(o.order_id::text order by o.order_id) filter (where exists (
            select 1 from refund r where r.order_id = o.order_id and r.state = 'refunded')), '{}') as refunded
        from ticket_order o where o.order_id = any (${orderIds}::bigint[]) and o.sandbox`,
  )
