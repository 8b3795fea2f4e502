import { z } from 'zod'
import { type Db, sql } from '../../platform/db/sql.ts'

/** The SQL of the orders that belong to a run. */

/** What an order of the run is for. */
export type OrderRole =
  | 'main'
  | 'later'
  | 'large-id'
  | 'consumption'
  | 'refund'
  | 'review'
  | 'refund-twice'
  | 'sold-out'
  | 'close'
  | 'reschedule'
  | 'message'
  | 'price'
  | 'parallel'
  | 'lost'
  | 'partly-used'
  | 'foreign-code'

const linkedOrder = z.object({ order_id: z.coerce.bigint() })

export const linkOrder = (
  db: Db,
  order: { orderId: bigint; runId: string; role: OrderRole },
  now: Date,
): Promise<number> =>
  db.exec(
    sql`insert into sandbox_order (order_id, run_id, role, created_at)
        values (${order.orderId}, ${order.runId}, ${order.role}, ${now})`,
  )

/** The newest ten orders of that role, newest first. */
export const findLinkedOrders = async (db: Db, runId: string, role: OrderRole): Promise<bigint[]> =>
  (
    await db.many(
      linkedOrder,
      sql`select order_id from sandbox_order where run_id = ${runId} and role = ${role}
          order by created_at desc, order_id limit 10`,
    )
  ).map(({ order_id }) => order_id)

export const linkedOrders = async (db: Db, runId: string): Promise<bigint[]> =>
  (await db.many(linkedOrder, sql`select order_id from sandbox_order where run_id = ${runId}`)).map(
    ({ order_id }) => order_id,
  )
