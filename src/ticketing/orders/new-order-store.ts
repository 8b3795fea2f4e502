import { type Db, sql } from '../../platform/db/sql.ts'
import { type Cause, ORDER_CHANGES } from '../../platform/history/index.ts'
import { type Entry, exactEntry } from '../catalogue/index.ts'

export interface OrderToStore {
  readonly order_id: bigint
  readonly partner_id: bigint
  readonly partner_deal_id: string
  readonly sandbox: boolean
  /** Null for an order that is kept. */
  readonly delete_after: Date | null
  readonly quantity: number
  readonly buy_price: number
  readonly unit_price: number
  readonly total_price: number
  readonly travel_date: string | null
  /** The request's body as JSON, in which 64-bit ids are exact. */
  readonly request: string
}

/** Stores an order that is about to be sent; false if the id is taken. */
export const insertOrder = async (db: Db, order: OrderToStore, { cause, now }: { cause: Cause; now: Date }) =>
  (await db.exec(
    sql`with stored as (
      insert into ticket_order (order_id, partner_id, partner_deal_id, sandbox, state, state_since, quantity, buy_price,
        unit_price, total_price, travel_date, request, delete_after, created_at, updated_at)
      values (${order.order_id}, ${order.partner_id}, ${order.partner_deal_id}, ${order.sandbox}, 'creating', ${now},
        ${order.quantity}, ${order.buy_price}, ${order.unit_price}, ${order.total_price}, ${order.travel_date},
        ${order.request}::jsonb, ${order.delete_after}, ${now}, ${now})
      on conflict (order_id) do nothing
      returning order_id, partner_id
    )
    insert into ${ORDER_CHANGES}
    select ${now}, partner_id, 'order', order_id::text, order_id, ${cause.kind}, ${cause.id},
      '{"state": [null, "creating"]}'::jsonb
    from stored`,
  )) === 1

/** The stored request of order create, with exact ids. */
export const requestOf = (db: Db, orderId: bigint): Promise<Entry> =>
  db.value(exactEntry, sql`select request::text as request from ticket_order where order_id = ${orderId}`)
