/**
 * What a partner's system can do. The engineer chooses; the choice decides which steps the test run has (README "The sandbox",
 * 2). Adding a function is adding an entry, here and in the `needs` of its steps.
 */

interface SystemFunction {
  readonly id: string
  readonly name: string
  /** Every integration has it. */
  readonly required?: true
  /** Of these at least one is chosen. */
  readonly oneOf?: 'pay' | 'refund'
}

export const FUNCTIONS = [
  { id: 'product-pull', name: 'sandbox.function.product_pull' },
  { id: 'product-change', name: 'sandbox.function.product_change' },
  { id: 'poi-pull', name: 'sandbox.function.poi_pull' },
  { id: 'price-calendar', name: 'sandbox.function.price_calendar' },
  { id: 'level-price-calendar', name: 'sandbox.function.level_price_calendar' },
  { id: 'order-create', name: 'sandbox.function.order_create', required: true },
  { id: 'sold-out', name: 'sandbox.function.sold_out' },
  { id: 'pay-at-once', name: 'sandbox.function.pay_at_once', oneOf: 'pay' },
  { id: 'pay-later', name: 'sandbox.function.pay_later', oneOf: 'pay' },
  { id: 'order-query', name: 'sandbox.function.order_query', required: true },
  { id: 'consumption', name: 'sandbox.function.consumption', required: true },
  { id: 'refund-at-once', name: 'sandbox.function.refund_at_once', oneOf: 'refund' },
  { id: 'refund-after-review', name: 'sandbox.function.refund_after_review', oneOf: 'refund' },
  { id: 'order-close', name: 'sandbox.function.order_close' },
  { id: 'order-reschedule', name: 'sandbox.function.order_reschedule' },
  { id: 'refunded-message', name: 'sandbox.function.refunded_message' },
  { id: 'balance-query', name: 'sandbox.function.balance_query' },
  { id: 'product-status', name: 'sandbox.function.product_status' },
  { id: 'heartbeat', name: 'sandbox.function.heartbeat' },
] as const satisfies readonly SystemFunction[]

export type FunctionId = (typeof FUNCTIONS)[number]['id']

const ALL: readonly SystemFunction[] = FUNCTIONS

export const FUNCTION_IDS = FUNCTIONS.map(({ id }) => id) as [FunctionId, ...FunctionId[]]

export const REQUIRED_FUNCTIONS = ALL.filter(({ required }) => required).map(({ id }) => id as FunctionId)

/** The functions of which one at least is needed, by what they are for. */
export const alternatives = (kind: 'pay' | 'refund'): FunctionId[] =>
  ALL.filter(({ oneOf }) => oneOf === kind).map(({ id }) => id as FunctionId)
