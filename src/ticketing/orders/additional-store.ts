import { z } from 'zod'
import { type Db, sql } from '../../platform/db/sql.ts'
import { exactJson } from '../catalogue/index.ts'

const entries = exactJson.pipe(z.array(z.unknown()))

const additional = z.object({ voucher_additional: entries, order_additional: entries, additional_left_out: z.number() })
/**
 * The additional lists that a partner sends with an order's tickets, as received; `additional_left_out` counts entries
 * that were not kept.
 */
export type Additional = z.output<typeof additional>

export const findAdditional = (db: Db, orderId: bigint): Promise<Additional | undefined> =>
  db.maybe(
    additional,
    sql`select voucher_additional::text, order_additional::text, left_out as additional_left_out
        from order_additional where order_id = ${orderId}`,
  )

/** The newest replaces the one before; each list as JSON text. */
export const saveAdditional = (
  db: Db,
  orderId: bigint,
  kept: { readonly vouchers: string; readonly order: string; readonly leftOut: number },
): Promise<number> =>
  db.exec(
    sql`insert into order_additional (order_id, voucher_additional, order_additional, left_out)
        values (${orderId}, ${kept.vouchers}::jsonb, ${kept.order}::jsonb, ${kept.leftOut})
        on conflict (order_id) do update set voucher_additional = excluded.voucher_additional,
          order_additional = excluded.order_additional, left_out = excluded.left_out`,
  )
