/**
 * What a partner's system can do. The chosen functions decide which steps the test run has. To add a function: an entry
 * here, its text `sandbox.function.<id>`, its place on the form (pages/functions-form.ts), and the `needs` of its
 * steps.
 */

interface SystemFunction {
  readonly id: string
  /** Part of every integration. */
  readonly required?: true
  /** At least one function of the kind has to be chosen. */
  readonly oneOf?: 'pay' | 'refund'
  /** Additional tests of what is offered anyway; off by default. */
  readonly extra?: true
}

const FUNCTIONS = [
  { id: 'product-pull' },
  { id: 'product-change' },
  { id: 'poi-pull' },
  { id: 'price-calendar' },
  { id: 'level-price-calendar' },
  { id: 'order-create', required: true },
  { id: 'sold-out' },
  { id: 'pay-at-once', oneOf: 'pay' },
  { id: 'pay-later', oneOf: 'pay' },
  { id: 'order-query', required: true },
  { id: 'consumption', required: true },
  { id: 'refund-at-once', oneOf: 'refund' },
  { id: 'refund-after-review', oneOf: 'refund' },
  { id: 'order-close' },
  { id: 'order-reschedule' },
  { id: 'refunded-message' },
  { id: 'balance-query' },
  { id: 'product-status' },
  { id: 'heartbeat' },
  { id: 'robustness', extra: true },
] as const satisfies readonly SystemFunction[]

export type FunctionId = (typeof FUNCTIONS)[number]['id']

const ALL: readonly SystemFunction[] = FUNCTIONS

export const FUNCTION_IDS = FUNCTIONS.map(({ id }) => id) as [FunctionId, ...FunctionId[]]

export const REQUIRED_FUNCTIONS = ALL.filter(({ required }) => required).map(({ id }) => id as FunctionId)

/** Everything but the additional tests. */
export const OFFERED_FUNCTIONS = ALL.filter(({ extra }) => !extra).map(({ id }) => id as FunctionId)

export const alternatives = (kind: 'pay' | 'refund'): FunctionId[] =>
  ALL.filter(({ oneOf }) => oneOf === kind).map(({ id }) => id as FunctionId)
