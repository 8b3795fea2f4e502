import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'

/** How often an order was paid: its first payment is 1. */
export const timesPaid = async (db: Db, orderId: bigint): Promise<number> =>
  (
    await db.one(
      z.object({ times: z.number() }),
      sql`select count(*)::int as times from record_change
          where order_id = ${orderId} and record = 'order' and change -> 'state' ->> 1 = 'paying'
            and change -> 'state' ->> 0 <> 'pay_unknown'`,
    )
  ).times
