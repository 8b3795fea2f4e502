import type { Pool } from 'pg'

/** Inserts and reads rows directly, without the operations under test. */

export interface SeedOrder {
  readonly orderId: bigint
  readonly partnerId?: number
  readonly state?: string
  readonly quantity?: number
  readonly vouchers?: readonly string[]
  readonly partnerOrderId?: string | null
  readonly voucherQuantity?: number
}

const AT = '2026-05-06T10:00:00Z'

export async function seedPartner(pool: Pool, partnerId = 7001, fields: Record<string, string> = {}): Promise<void> {
  await pool.query(
    `insert into partner (partner_id, client_id, name, status, stage, base_url, created_at, updated_at)
     values ($1, $2, 'Seller', 'active', 'sandbox', $3, $4, $4)`,
    [partnerId, fields.client_id ?? `client-${partnerId}`, fields.base_url ?? null, AT],
  )
}

export async function seedOrder(pool: Pool, order: SeedOrder): Promise<void> {
  const { orderId, partnerId = 7001, state = 'paid', quantity = 2, vouchers = [], partnerOrderId = 'P-1' } = order
  await pool.query(
    `insert into ticket_order (order_id, partner_id, partner_deal_id, partner_order_id, state, state_since, quantity, vouchers_open,
       buy_price, unit_price, total_price, request, created_at, updated_at)
     values ($1, $2, 'deal-1', $3, $4, $5, $6, $4 in ('paying', 'pay_unknown'), 80, 100, 100 * $6::int, '{}', $5, $5)`,
    [String(orderId), partnerId, partnerOrderId, state, AT, quantity],
  )
  for (const voucher of vouchers) {
    await pool.query(`insert into voucher (order_id, voucher, state, quantity) values ($1, $2, 'unused', $3)`, [
      String(orderId),
      voucher,
      order.voucherQuantity ?? 1,
    ])
  }
}

export interface SeedRefund {
  readonly refundId: string
  readonly orderId: bigint
  readonly partnerId?: number
  readonly state?: string
  readonly quantity?: number
  readonly vouchers?: readonly string[]
}

export async function seedRefund(pool: Pool, refund: SeedRefund): Promise<void> {
  const { refundId, orderId, partnerId = 7001, state = 'reviewing', quantity = 1, vouchers = [] } = refund
  await pool.query(
    `insert into refund (partner_id, refund_id, order_id, state, refund_quantity, vouchers, refund_price, refund_fee,
       created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, 100, 0, $7, $7)`,
    [partnerId, refundId, String(orderId), state, quantity, vouchers, AT],
  )
}

const rows = async (pool: Pool, text: string, ...values: unknown[]) => (await pool.query(text, values)).rows

/** Order, vouchers and refunds, condensed for expectations. */
export async function recordOf(pool: Pool, orderId: bigint) {
  const [order] = await rows(pool, 'select * from ticket_order where order_id = $1', String(orderId))
  const vouchers = await rows(pool, 'select * from voucher where order_id = $1 order by voucher', String(orderId))
  const refunds = await rows(pool, 'select * from refund where order_id = $1 order by refund_id', String(orderId))
  return {
    state: order.state,
    used: order.used_quantity,
    refunded: order.refunded_quantity,
    vouchers: Object.fromEntries(vouchers.map(({ voucher, state }) => [voucher, state])),
    refunds: Object.fromEntries(refunds.map(({ refund_id, state }) => [refund_id, state])),
  }
}

/** A stored text as its id and values; any other value as it is. */
const brief = (value: unknown): unknown => {
  const { id, values } = (value ?? {}) as { id?: string; values?: object }
  return id === undefined ? value : [id, ...Object.values(values ?? {})].join(' ')
}

/** `record id: field before→after …`, oldest first. */
export async function historyOf(pool: Pool, orderId: bigint): Promise<string[]> {
  const found = await rows(pool, 'select * from record_change where order_id = $1 order by change_id', String(orderId))
  return found.map(({ record, record_id, cause, cause_id, change }) => {
    const fields = Object.entries(change as Record<string, [unknown, unknown]>)
    const text = fields.map(([field, [before, after]]) => `${field} ${brief(before)}→${brief(after)}`).join(', ')
    return `${record} ${record_id}: ${text} (${cause}${cause_id && cause !== 'notice' ? ` ${cause_id}` : ''})`
  })
}

/** The pulls that are due, each like `product 7001:d-1`. */
export async function duePulls(pool: Pool): Promise<string[]> {
  const found = await rows(pool, 'select partner_id, partner_deal_id, kind from pull_due order by 3, 1, 2')
  return found.map(({ partner_id, partner_deal_id, kind }) => `${kind} ${partner_id}:${partner_deal_id}`)
}

/** Waiting jobs as `task key`, ordered by key. */
export async function waitingJobs(pool: Pool): Promise<string[]> {
  const found = await rows(pool, 'select task_identifier, key from graphile_worker.jobs order by key')
  return found.map(({ task_identifier, key }) => `${task_identifier} ${key}`)
}
