import { z } from 'zod'
import { type Db, sql } from '../db/sql.ts'
import type { Cause, Change } from './history.ts'
import { ORDER_STATE_NAMES, type OrderState, VOUCHER_STATES } from './states.ts'

/** The SQL of orders and their vouchers. bigint and numeric columns come as text and leave as bigint and number. */

const bigint = z.coerce.bigint()
const money = z.coerce.number()

const orderRow = z.object({
  order_id: bigint,
  partner_id: bigint,
  partner_deal_id: z.string(),
  partner_order_id: z.string().nullable(),
  sandbox: z.boolean(),
  state: z.enum(ORDER_STATE_NAMES),
  state_since: z.date(),
  revision: z.number(),
  last_code: z.number().nullable(),
  last_describe: z.string().nullable(),
  vouchers_open: z.boolean(),
  close_type: z.number().nullable(),
  quantity: z.number(),
  used_quantity: z.number(),
  refunded_quantity: z.number(),
  buy_price: money,
  unit_price: money,
  total_price: money,
  travel_date: z.string().nullable(),
  created_at: z.date(),
  updated_at: z.date(),
})
export type OrderRow = z.output<typeof orderRow>

const voucherRow = z.object({
  voucher: z.string(),
  state: z.enum(VOUCHER_STATES),
  quantity: z.number(),
  picture: z.string().nullable(),
  invalid_at: z.string().nullable(),
})
export type VoucherRow = z.output<typeof voucherRow>

/** The order, locked until the end of the transaction; whatever else decides about it is read after this. */
export const lockOrder = (db: Db, orderId: bigint): Promise<OrderRow | undefined> =>
  db.maybe(orderRow, sql`select * from ticket_order where order_id = ${orderId} for update`)

export const findOrder = (db: Db, orderId: bigint): Promise<OrderRow | undefined> =>
  db.maybe(orderRow, sql`select * from ticket_order where order_id = ${orderId}`)

export const vouchersOf = (db: Db, orderId: bigint): Promise<VoucherRow[]> =>
  db.many(voucherRow, sql`select * from voucher where order_id = ${orderId} order by voucher`)

/** What an order becomes; fields left out stay. `vouchers` are those that are new or changed, whole. */
export interface OrderUpdate {
  readonly state: OrderState
  readonly used_quantity: number
  readonly refunded_quantity: number
  readonly partner_order_id: string | null
  readonly last_code: number | null
  readonly last_describe: string | null
  readonly vouchers_open: boolean
  readonly close_type: number | null
  readonly vouchers: readonly VoucherRow[]
}

/** Writes order, vouchers and history in one statement. */
export const saveOrder = (
  db: Db,
  order: OrderRow,
  update: OrderUpdate,
  changes: readonly Change[],
  { cause, now }: { cause: Cause; now: Date },
): Promise<number> =>
  db.exec(
    sql`with saved as (
      update ticket_order set
        state = ${update.state},
        state_since = case when state = ${update.state} then state_since else ${now} end,
        revision = revision + case when state = ${update.state} then 0 else 1 end,
        used_quantity = ${update.used_quantity},
        refunded_quantity = ${update.refunded_quantity},
        partner_order_id = ${update.partner_order_id},
        last_code = ${update.last_code},
        last_describe = ${update.last_describe},
        vouchers_open = ${update.vouchers_open},
        close_type = ${update.close_type},
        updated_at = ${now}
      where order_id = ${order.order_id}
    ), vouchers as (
      insert into voucher (order_id, voucher, state, quantity, picture, invalid_at)
      select ${order.order_id}, voucher, state, quantity, picture, invalid_at
      from jsonb_to_recordset(${JSON.stringify(update.vouchers)}::jsonb)
        as v (voucher text, state text, quantity int, picture text, invalid_at text)
      on conflict (order_id, voucher) do update set
        state = excluded.state, quantity = excluded.quantity, picture = excluded.picture,
        invalid_at = excluded.invalid_at
    )
    insert into record_change (at, partner_id, record, record_id, order_id, cause, cause_id, change)
    select ${now}, ${order.partner_id}, record, record_id, ${order.order_id}, ${cause.kind}, ${cause.id}, change
    from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as c (record text, record_id text, change jsonb)`,
  )
