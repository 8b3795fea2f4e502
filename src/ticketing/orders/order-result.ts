import { recordIfOperator } from '../../platform/audit/index.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import type { CallProblem } from '../partner-calls/index.ts'
import { noSuchOrder } from './errors.ts'
import { type Additional, findAdditional } from './issued-store.ts'
import { findOrder, lockOrder, type OrderRow, type VoucherRow, vouchersOf } from './order-store.ts'
import { type RefundRow, refundsOf } from './refund-store.ts'

/** An order as operators see it, with its vouchers, its refunds and the partner's additional lists. */
export interface ShownOrder extends Omit<OrderRow, 'revision' | 'vouchers_open'>, Additional {
  readonly vouchers: readonly VoucherRow[]
  readonly refunds: readonly RefundRow[]
}

export interface OrderResult {
  readonly order: ShownOrder
  readonly failure: CallProblem | null
}

export async function existingOrder({ db }: Deps, orderId: bigint): Promise<OrderRow> {
  const order = await findOrder(db, orderId)
  if (!order) throw noSuchOrder(orderId)
  return order
}

const NOTHING_ADDITIONAL: Additional = { voucher_additional: [], order_additional: [], additional_left_out: 0 }

export async function shownOrder(deps: Deps, orderId: bigint): Promise<ShownOrder> {
  const { revision: _, vouchers_open: __, ...order } = await existingOrder(deps, orderId)
  return {
    ...order,
    vouchers: await vouchersOf(deps.db, orderId),
    refunds: await refundsOf(deps.db, orderId),
    ...((await findAdditional(deps.db, orderId)) ?? NOTHING_ADDITIONAL),
  }
}

export const resultFor = async (
  deps: Deps,
  orderId: bigint,
  failure: CallProblem | null = null,
): Promise<OrderResult> => ({ order: await shownOrder(deps, orderId), failure })

/** Records in the audit log that an operator started an operation; belongs in its first transaction. */
export const recordAsked = (
  deps: Deps,
  event: `order_${string}_asked`,
  order: Pick<OrderRow, 'order_id' | 'partner_id'>,
  detail: object = {},
): Promise<void> =>
  recordIfOperator(deps, { event, target: `order:${order.order_id}`, partnerId: order.partner_id, detail })

export const withOrder = <Result>(
  deps: Deps,
  orderId: bigint,
  work: (inside: Deps, order: OrderRow) => Promise<Result>,
): Promise<Result> =>
  inTransaction(deps, async (inside, db) => {
    const order = await lockOrder(db, orderId)
    if (!order) throw noSuchOrder(orderId)
    return work(inside, order)
  })
