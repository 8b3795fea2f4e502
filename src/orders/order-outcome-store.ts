import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

const outcomes = z.object({ consumed: z.array(z.string()), refunded: z.array(z.string()) })
/** Ids of orders that the platform's records show as consumed, and as refunded, at least in part. */
export type OrderOutcomes = z.output<typeof outcomes>

/** Of these orders; only those of the sandbox count. */
export const outcomesOf = (db: Db, orderIds: readonly bigint[]): Promise<OrderOutcomes> =>
  db.one(
    outcomes,
    sql`select
          coalesce(array_agg(o.order_id::text order by o.order_id) filter (where o.used_quantity > 0), '{}') as consumed,
          coalesce(array_agg(o.order_id::text order by o.order_id) filter (where exists (
            select 1 from refund r where r.order_id = o.order_id and r.state = 'refunded')), '{}') as refunded
        from ticket_order o where o.order_id = any (${orderIds}::bigint[]) and o.sandbox`,
  )
