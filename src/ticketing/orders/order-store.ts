import { z } from 'zod'
import { columnsOf } from '../../platform/db/record-fields.ts'
import { type Db, sql } from '../../platform/db/sql.ts'
import { type Cause, type Change, ORDER_CHANGES } from '../../platform/history/index.ts'
import { compiledOf } from '../../platform/lib/compiled.ts'
import { type Detail, storable, storedDetail, storedJson } from '../../platform/lib/localized-text.ts'
import { type Entry, exactEntry } from '../catalogue/index.ts'
import { ORDER_STATE_NAMES, VOUCHER_STATES } from './states.ts'

/** The SQL of orders and their vouchers. bigint and numeric columns come as text and leave as bigint and number. */

// zod compiles no coercion (compiledOf).
const bigint = z.string().transform(BigInt)
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
  last_describe: storedDetail.nullable(),
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
  /** Null while the visitors' data are there. */
  data_removed_at: z.date().nullable(),
  /** How the partner contradicts our records, until an answer to order query agrees with them. */
  contradiction: storedDetail.nullable(),
})
export type OrderRow = z.output<typeof orderRow>

const COLUMNS = columnsOf(Object.keys(orderRow.shape))

const voucherRow = z.object({
  voucher: z.string(),
  state: z.enum(VOUCHER_STATES),
  /** Tickets that it admits, and how many of them are used and refunded. */
  quantity: z.number(),
  used_quantity: z.number(),
  refunded_quantity: z.number(),
  picture: z.string().nullable(),
  invalid_at: z.string().nullable(),
})
export type VoucherRow = z.output<typeof voucherRow>

const VOUCHER_COLUMNS = columnsOf(Object.keys(voucherRow.shape))

export const changeableOrder = orderRow.pick({
  order_id: true,
  partner_id: true,
  partner_order_id: true,
  state: true,
  last_code: true,
  last_describe: true,
  vouchers_open: true,
  close_type: true,
  quantity: true,
  used_quantity: true,
  refunded_quantity: true,
})
export type ChangeableOrder = z.output<typeof changeableOrder>

const CHANGEABLE = columnsOf(Object.keys(changeableOrder.shape))

/** The order, locked until the transaction ends; read everything else about it after this. */
export const lockOrder = (db: Db, orderId: bigint): Promise<OrderRow | undefined> =>
  db.maybe(orderRow, sql`select ${COLUMNS} from ticket_order where order_id = ${orderId} for update`)

/** Locks the orders that are not locked elsewhere. It never waits, so it cannot deadlock. */
export const lockFreeOrders = (db: Db, orderIds: readonly bigint[]): Promise<ChangeableOrder[]> =>
  db.many(
    compiledOf(changeableOrder),
    sql`select ${CHANGEABLE} from ticket_order where order_id = any (${orderIds}::bigint[]) for update skip locked`,
  )

export const findOrder = (db: Db, orderId: bigint): Promise<OrderRow | undefined> =>
  db.maybe(orderRow, sql`select ${COLUMNS} from ticket_order where order_id = ${orderId}`)

export const vouchersOf = (db: Db, orderId: bigint): Promise<VoucherRow[]> =>
  db.many(voucherRow, sql`select ${VOUCHER_COLUMNS} from voucher where order_id = ${orderId} order by voucher`)

export const voucherOfOrder = voucherRow.extend({ order_id: bigint })

export const vouchersOfAll = (db: Db, orderIds: readonly bigint[]): Promise<z.output<typeof voucherOfOrder>[]> =>
  db.many(
    compiledOf(voucherOfOrder),
    sql`select ${VOUCHER_COLUMNS}, order_id from voucher where order_id = any (${orderIds}::bigint[]) order by order_id, voucher`,
  )

/** The new values of an order. `vouchers` has new and changed ones, complete. */
export type OrderUpdate = Readonly<Omit<ChangeableOrder, 'order_id' | 'partner_id' | 'quantity'>> & {
  readonly vouchers: readonly VoucherRow[]
}

export interface OrderSave {
  readonly order: Pick<OrderRow, 'order_id' | 'partner_id'>
  readonly update: OrderUpdate
  readonly changes: readonly Change[]
  readonly cause: Cause
  readonly now: Date
}

const SAVE = ({ order, update, now }: OrderSave) => sql.part`
  ${order.order_id}::bigint as order_id, ${update.state}::text as state, ${update.used_quantity}::int as used_quantity,
  ${update.refunded_quantity}::int as refunded_quantity, ${update.partner_order_id}::text as partner_order_id,
  ${update.last_code}::int as last_code, ${storable(update.last_describe)}::jsonb as last_describe,
  ${update.vouchers_open}::boolean as vouchers_open, ${update.close_type}::int as close_type,
  ${now}::timestamptz as at`

type VoucherOfOrder = Pick<OrderRow, 'order_id'> & { readonly voucher: VoucherRow }

const VOUCHER = ({ order_id, voucher }: VoucherOfOrder) => sql.part`
  ${order_id}::bigint as order_id, ${voucher.voucher}::text as voucher, ${voucher.state}::text as state,
  ${voucher.quantity}::int as quantity, ${voucher.used_quantity}::int as used_quantity,
  ${voucher.refunded_quantity}::int as refunded_quantity, ${voucher.picture}::text as picture,
  ${voucher.invalid_at}::text as invalid_at`

const savingVouchers = (vouchers: readonly VoucherOfOrder[]) =>
  vouchers.length === 0
    ? sql.part``
    : sql.part`, vouchers as (
      insert into voucher (order_id, ${VOUCHER_COLUMNS}) select order_id, ${VOUCHER_COLUMNS}
      from ${sql.rows('v', vouchers, VOUCHER)}
      on conflict (order_id, voucher) do update set
        state = excluded.state, quantity = excluded.quantity, used_quantity = excluded.used_quantity,
        refunded_quantity = excluded.refunded_quantity, picture = excluded.picture, invalid_at = excluded.invalid_at
    )`

type ChangeOfOrder = Pick<OrderSave, 'order' | 'cause' | 'now'> & { readonly change: Change }

const CHANGE = ({ order, cause, now, change }: ChangeOfOrder) => sql.part`
  ${now}::timestamptz as at, ${order.partner_id}::bigint as partner_id, ${change.record}::text as record,
  ${change.record_id}::text as record_id, ${order.order_id}::bigint as order_id, ${cause.kind}::text as cause,
  ${cause.id ?? null}::text as cause_id, ${storedJson(change.change)}::jsonb as change`

const savingChanges = (changes: readonly ChangeOfOrder[]) =>
  changes.length === 0
    ? sql.part`select`
    : sql.part`insert into ${ORDER_CHANGES}
    select at, partner_id, record, record_id, order_id, cause, cause_id, change
    from ${sql.rows('c', changes, CHANGE)}`

export async function saveOrders(db: Db, saves: readonly OrderSave[]): Promise<void> {
  const vouchers = saves.flatMap(({ order: { order_id }, update }) =>
    update.vouchers.map((voucher) => ({ order_id, voucher })),
  )
  const changes = saves.flatMap(({ order, cause, now, changes }) =>
    changes.map((change) => ({ order, cause, now, change })),
  )
  await db.exec(
    sql`with saved as (
      update ticket_order o set
        state = s.state,
        state_since = case when o.state = s.state then o.state_since else s.at end,
        revision = o.revision + case when o.state = s.state then 0 else 1 end,
        used_quantity = s.used_quantity,
        refunded_quantity = s.refunded_quantity,
        partner_order_id = s.partner_order_id,
        last_code = s.last_code,
        last_describe = s.last_describe,
        vouchers_open = s.vouchers_open,
        close_type = s.close_type,
        updated_at = s.at
      from ${sql.rows('s', saves, SAVE)}
      cross join lateral (
        select order_id from ticket_order where order_id = s.order_id
        offset 0 -- orders are looked up for each row, not rows for each order, whose number the planner may think small
      ) locked
      where o.order_id = locked.order_id
    ) ${savingVouchers(vouchers)}
    ${savingChanges(changes)}`,
  )
}

/** Stores how the partner contradicts our records of a locked order, or null, with its history. */
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
      ${storedJson({ contradiction: [before, contradiction] })}::jsonb)`,
  )

type OrderToStore = Readonly<
  Pick<OrderRow, 'order_id' | 'partner_id' | 'partner_deal_id' | 'sandbox' | 'quantity' | 'travel_date'> &
    Pick<OrderRow, 'buy_price' | 'unit_price' | 'total_price'>
> & {
  /** Null for an order that is kept. */
  readonly delete_after: Date | null
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

export const requestOf = (db: Db, orderId: bigint): Promise<Entry> =>
  db.value(exactEntry, sql`select request::text as request from ticket_order where order_id = ${orderId}`)
