/** The states of orders, refunds and vouchers, and every transition between them. Nothing else decides this. */

type Table = Readonly<Record<string, { readonly means: string; readonly next: readonly string[] }>>

/**
 * creating, paying and closing are committed before the partner is called, which prevents two calls of the same kind.
 * The *_unknown states mean that a response was lost: the partner is queried before anything is repeated.
 */
export const ORDER_STATES = {
  creating: {
    means: 'order create is on its way to the partner',
    next: ['created', 'create_failed', 'create_unknown'],
  },
  create_unknown: {
    means: 'the response to order create was lost; the partner is queried before anything else',
    next: ['created', 'create_failed', 'creating'],
  },
  create_failed: {
    means: 'the partner refused or could not be reached; order create may be sent again',
    next: ['creating', 'closing'],
  },
  created: {
    means: 'the partner has the order, not paid',
    // pay_unknown: a payment that seemed not to have arrived has arrived after all
    next: ['paying', 'pay_unknown', 'closing'],
  },
  paying: {
    means: 'order pay is on its way, or the partner is issuing (598)',
    next: ['paid', 'pay_failed', 'pay_unknown', 'created', 'consumed', 'refunded'],
  },
  pay_unknown: {
    means: 'the response to order pay was lost; the partner is queried before anything else',
    next: ['paid', 'pay_failed', 'created', 'paying', 'consumed', 'refunded'],
  },
  pay_failed: {
    means: 'the partner refused to issue tickets; order pay may be sent again',
    next: ['paying', 'paid', 'closing'],
  },
  paid: { means: 'tickets are issued', next: ['consumed', 'refunded'] },
  consumed: { means: 'no ticket is left, and at least one was used', next: [] },
  refunded: { means: 'every ticket was refunded', next: [] },
  closing: {
    means: 'order close is on its way, or its response was lost; it may be sent again',
    next: ['closed', 'created', 'create_failed', 'pay_failed'],
  },
  closed: { means: 'ended before it was paid', next: [] },
} as const satisfies Table

export const REFUND_STATES = {
  requested: {
    means: 'the partner could not be reached; order refund may be sent again',
    next: ['asking', 'refunded', 'refused'],
  },
  asking: {
    means: 'order refund is on its way to the partner',
    next: ['requested', 'unknown', 'reviewing', 'refunded', 'refused'],
  },
  unknown: {
    means: 'the response was lost; the partner is queried before it is sent again',
    next: ['asking', 'reviewing', 'refunded', 'refused'],
  },
  reviewing: {
    means: 'the partner reviews it (602) and will send a notice',
    next: ['refunded', 'refused'],
  },
  refunded: { means: 'done', next: [] },
  refused: { means: 'the partner refused', next: [] },
} as const satisfies Table

/**
 * A voucher only moves towards the end of this list, and may skip states. Notices arrive in any order, so one with an
 * earlier state is outdated and changes nothing.
 */
export const VOUCHER_STATES = ['unused', 'used', 'refunded', 'void'] as const

export type OrderState = keyof typeof ORDER_STATES
export type RefundState = keyof typeof REFUND_STATES
export type VoucherState = (typeof VOUCHER_STATES)[number]

export const ISSUED_STATES: readonly OrderState[] = ['paid', 'consumed', 'refunded']

const names = <State extends string>(table: Readonly<Record<State, unknown>>) =>
  Object.keys(table) as [State, ...State[]]

export const ORDER_STATE_NAMES = names<OrderState>(ORDER_STATES)
export const REFUND_STATE_NAMES = names<RefundState>(REFUND_STATES)

/** Staying in a state is always allowed. */
export const isOrderTransition = (from: OrderState, to: OrderState): boolean =>
  from === to || (ORDER_STATES[from].next as readonly string[]).includes(to)

export const isRefundTransition = (from: RefundState, to: RefundState): boolean =>
  from === to || (REFUND_STATES[from].next as readonly string[]).includes(to)

export const laterVoucherState = (one: VoucherState, other: VoucherState): VoucherState =>
  VOUCHER_STATES.indexOf(one) >= VOUCHER_STATES.indexOf(other) ? one : other

/** The state of an issued order by its quantities; undefined while no ticket is used or refunded. */
export function stateByQuantities(quantity: number, used: number, refunded: number): OrderState | undefined {
  if (used + refunded === 0) return undefined
  if (used + refunded < quantity) return 'paid'
  return used > 0 ? 'consumed' : 'refunded'
}
