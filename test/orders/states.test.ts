import { describe, expect, it } from 'vitest'
import { illegalOrderTransition, illegalRefundTransition } from '../../src/ticketing/orders/errors.ts'
import {
  isOrderTransition,
  isRefundTransition,
  laterVoucherState,
  ORDER_STATES,
  REFUND_STATES,
  stateByQuantities,
  VOUCHER_STATES,
} from '../../src/ticketing/orders/states.ts'

const TABLES: [string, Record<string, { readonly means: string; readonly next: readonly string[] }>, string][] = [
  ['orders', ORDER_STATES, 'creating'],
  ['refunds', REFUND_STATES, 'requested'],
]

describe.each(TABLES)('the states of %s', (_, table, first) => {
  const reachable = (from: string, seen = new Set<string>()): Set<string> => {
    if (!seen.has(from)) {
      seen.add(from)
      for (const next of table[from]?.next ?? []) reachable(next, seen)
    }
    return seen
  }

  it('lead only to existing states, and each state can be reached', () => {
    expect([...reachable(first)].sort()).toEqual(Object.keys(table).sort())
  })

  it('lead to an end from every state', () => {
    const ends = Object.keys(table).filter((state) => table[state]?.next.length === 0)
    for (const state of Object.keys(table)) {
      expect(
        [...reachable(state)].some((one) => ends.includes(one)),
        state,
      ).toBe(true)
    }
  })
})

describe('a state transition', () => {
  it.each([
    ['created', 'paid', false],
    ['created', 'paying', true],
    ['created', 'pay_unknown', true],
    ['paying', 'paying', true],
    ['pay_unknown', 'created', true],
    ['paid', 'created', false],
    ['consumed', 'paid', false],
    ['closed', 'paying', false],
    ['paid', 'closing', false],
  ] as const)('of an order from %s to %s: %s', (from, to, legal) => {
    expect(isOrderTransition(from, to)).toBe(legal)
  })

  it.each([
    ['reviewing', 'refunded', true],
    ['refused', 'refunded', false],
    ['refunded', 'reviewing', false],
    ['requested', 'unknown', false],
  ] as const)('of a refund from %s to %s: %s', (from, to, legal) => {
    expect(isRefundTransition(from, to)).toBe(legal)
  })

  it('that is illegal is refused, naming both states', () => {
    expect(illegalOrderTransition(7n, 'closed', 'paid').describe).toEqual(
      'order 7 is closed (ended before it was paid); it cannot become paid',
    )
    expect(illegalRefundTransition('r', 'refunded', 'refused').describe).toEqual(
      'refund r is refunded (done); it cannot become refused',
    )
  })

  it('of a voucher only goes forward', () => {
    for (const one of VOUCHER_STATES) {
      for (const other of VOUCHER_STATES) expect(laterVoucherState(one, other)).toBe(laterVoucherState(other, one))
    }
    expect(laterVoucherState('unused', 'used')).toBe('used')
    expect(laterVoucherState('refunded', 'used')).toBe('refunded')
  })

  it.each([
    [2, 0, 0, undefined],
    [2, 1, 0, 'paid'],
    [2, 0, 1, 'paid'],
    [2, 1, 1, 'consumed'],
    [2, 2, 0, 'consumed'],
    [2, 0, 2, 'refunded'],
  ])('by quantities: of %i tickets, %i used and %i refunded lead to %s', (quantity, used, refunded, state) => {
    expect(stateByQuantities(quantity, used, refunded)).toBe(state)
  })
})
