import { type Db, sql } from '../../platform/db/sql.ts'
import { type Cause, ORDER_CHANGES } from '../../platform/history/index.ts'
import { type Detail, storable } from '../../platform/lib/localized-text.ts'
import type { OrderRow } from './order-store.ts'

/** Keeps, or forgets, what the partner says of a locked order otherwise than our records, with its history. */
export const saveContradiction = (
  db: Db,
  { order_id, partner_id, contradiction: before }: OrderRow,
  contradiction: Detail | null,
  { cause, now }: { cause: Cause; now: Date },
): Promise<number> =>
  db.exec(
    sql`with saved as (
      update ticket_order set contradiction = ${storable(contradiction)}, updated_at = ${now} where order_id = ${order_id}
    )
    insert into ${ORDER_CHANGES}
    values (${now}, ${partner_id}, 'order', ${String(order_id)}, ${order_id}, ${cause.kind}, ${cause.id},
      ${JSON.stringify({ contradiction: [before, contradiction] })}::jsonb)`,
  )
