import { z } from 'zod'
import { DAY_S, type Retention, type RetentionBatch } from '../../platform/db/retention.ts'
import { type Db, sql } from '../../platform/db/sql.ts'

const removed = z.object({ rows: z.number(), last: z.date().nullable() })

/**
 * Removes visitors, the contact, documents and what the partner has added, from orders that have ended: all of it used,
 * refunded or closed; never paid; or paid, and the day of travel is over. What accounts need stays. Orders that somebody
 * has locked are left out. By the index on those that still have their data.
 */
const removePersonalData = (db: Db, { before, from, limit, now }: RetentionBatch): Promise<z.output<typeof removed>> =>
  db.one(
    removed,
    sql`with ended as (
          select order_id, created_at from ticket_order
          where data_removed_at is null and created_at >= ${from} and created_at < ${before}
            and case when state = 'paid' then travel_date < (${before}::timestamptz at time zone 'Asia/Shanghai')::date
                else state_since < ${before}
                  and state in ('consumed', 'refunded', 'closed', 'created', 'create_failed', 'pay_failed') end
          order by created_at limit ${limit} for update skip locked
        ), documents as (
          delete from order_credential where order_id in (select order_id from ended)
        ), additional as (
          delete from order_additional where order_id in (select order_id from ended)
        ), emptied as (
          update ticket_order o set request = o.request - 'visitors' - 'contactPerson', data_removed_at = ${now}
          from ended e where o.order_id = e.order_id
          returning e.created_at
        )
        select count(1)::int as rows, max(created_at) as last from emptied`,
  )

/** ORDER_PERSONAL_DATA_DAYS; the orders themselves stay. */
export const ORDER_DATA_RETENTION: readonly Retention[] = [
  {
    table: 'ticket_order',
    key: ['order_id'],
    what: 'visitors of orders',
    column: 'created_at',
    keptS: ({ ORDER_PERSONAL_DATA_DAYS: days }) => (days === 0 ? Number.POSITIVE_INFINITY : days * DAY_S),
    remove: removePersonalData,
  },
]
