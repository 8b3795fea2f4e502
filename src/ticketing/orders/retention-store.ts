import { z } from 'zod'
import type { Retention, RetentionBatch } from '../../platform/db/retention.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { ORDER_HISTORY } from '../../platform/history/index.ts'
import { DAY_S } from '../../platform/lib/clock.ts'

const removed = z.object({ rows: z.number(), last: z.date().nullable() })

/**
 * Removes visitors, the contact, documents and the partner's additional lists from orders that have ended: used,
 * refunded, closed or never paid; or paid, and the day of travel is over (paid orders without one may still be used).
 * What accounting needs stays. Skips locked orders. Uses the index on orders that still have their data.
 */
const removePersonalData = async (
  db: Db,
  { before, from, limit, now }: RetentionBatch,
): Promise<z.output<typeof removed>> => {
  const [batch] = await db.listWithIndexPlan(
    removed,
    sql`with ended as (
          select order_id, created_at from ticket_order
          where data_removed_at is null and created_at >= ${from} and created_at < ${before}
            and case when state = 'paid' then travel_date < (${before}::timestamptz at time zone 'Asia/Shanghai')::date
                else state_since < ${before}
                  and state in ('consumed', 'refunded', 'closed', 'created', 'create_failed', 'pay_failed') end
          order by created_at limit ${limit} for update skip locked
        ), documents as (
          delete from order_credential where order_id = any (array(select order_id from ended))
        ), additional as (
          delete from order_additional where order_id = any (array(select order_id from ended))
        ), emptied as (
          update ticket_order o set request = o.request - 'visitors' - 'contactPerson', data_removed_at = ${now}
          from ended e where ${sql.sameKey('o', 'e', ['order_id'])}
          returning e.created_at
        )
        select count(1)::int as rows, max(created_at) as last from emptied`,
  )
  return batch ?? { rows: 0, last: null }
}

/** Trial orders carry the time of their deletion; vouchers, refunds, lists and history are deleted with them. */
export const ORDER_RETENTION: readonly Retention[] = [
  { table: 'ticket_order', key: ['order_id'], column: 'delete_after', keptS: () => 0, also: ORDER_HISTORY },
  {
    table: 'ticket_order',
    key: ['order_id'],
    what: 'visitors of orders',
    column: 'created_at',
    keptS: ({ ORDER_PERSONAL_DATA_DAYS: days }) => (days === 0 ? Number.POSITIVE_INFINITY : days * DAY_S),
    remove: removePersonalData, // the orders themselves stay
  },
]
