import type { Deps } from '../../platform/deps.ts'
import { type HistoryRow, historyOfOrder } from '../../platform/history/index.ts'
import { type OutputOf, operation } from '../../platform/lib/json/input.ts'
import { callsOf } from '../partner-calls/index.ts'
import { type ShownOrder, shownOrder } from './order-result.ts'
import { type OrderSummary, listOrders as readOrders } from './show-store.ts'
import { orderFilter } from './wire.ts'

/** The order with its whole history: every change with its cause, every call with its outcome. */
export interface OrderStory {
  readonly order: ShownOrder
  readonly history: readonly HistoryRow[]
  readonly calls: Readonly<OutputOf<typeof callsOf>>
}

/** Throws for an order that does not exist. */
export async function showOrder(deps: Deps, orderId: bigint): Promise<OrderStory> {
  const order = await shownOrder(deps, orderId)
  return { order, history: await historyOfOrder(deps.db, orderId), calls: await callsOf(deps.db, orderId) }
}

/** A page of the orders that the filter asks for, newest first. */
export const listOrders = operation(
  orderFilter,
  async (deps: Deps, filter): Promise<{ orders: OrderSummary[]; next: string | null }> => {
    const { rows, next } = await readOrders(deps.db, filter)
    return { orders: rows, next }
  },
)
