import { describe, expect, it } from 'vitest'
import { refundContent } from '../../src/ticketing/orders/new-refund.ts'
import type { OrderRow, VoucherRow } from '../../src/ticketing/orders/order-store.ts'
import { mergedVouchers, type ReportedVoucher } from '../../src/ticketing/orders/quantities.ts'
import type { RefundRow } from '../../src/ticketing/orders/refund-store.ts'

const known = (voucher: string, quantity: number, fields: Partial<VoucherRow> = {}): VoucherRow => ({
  ...{ voucher, state: 'unused', quantity, used_quantity: 0, refunded_quantity: 0, picture: null, invalid_at: null },
  ...fields,
})
const says = (voucher: string, quantity: number, status: ReportedVoucher['status']): ReportedVoucher => ({
  ...{ voucher, quantity, status },
})
const totals = (quantity: number, used_quantity: number, refunded_quantity = 0) => ({
  ...{ quantity, used_quantity, refunded_quantity },
})
const shown = (vouchers: readonly VoucherRow[]) =>
  vouchers.map((one) => `${one.voucher} ${one.state} ${one.used_quantity}+${one.refunded_quantity}/${one.quantity}`)

describe('ticket counts of a code', () => {
  it.each([
    ['1 of 3, marked used', [known('C', 3)], [says('C', 3, 1)], totals(3, 1), ['C unused 1+0/3']],
    ['1 of 3, not named', [known('C', 3)], [], totals(3, 1), ['C unused 1+0/3']],
    ['all', [known('C', 3)], [says('C', 3, 1)], totals(3, 3), ['C used 3+0/3']],
    ['1 refunded, marked refunded', [known('C', 2)], [says('C', 2, 2)], totals(2, 0, 1), ['C unused 0+1/2']],
    ['used and refunded', [known('C', 3)], [says('C', 3, 2)], totals(3, 1, 2), ['C used 1+2/3']],
    ['in entries for each', [known('C', 3)], [says('C', 1, 1), says('C', 2, 0)], totals(3, 1), ['C unused 1+0/3']],
    [
      'new, in entries for each',
      [],
      [says('C', 1, 1), says('C', 1, 1), says('C', 1, 0)],
      totals(3, 2),
      ['C unused 2+0/3'],
    ],
    ['new, said twice', [], [says('C', 3, 1), says('C', 3, 1)], totals(3, 1), ['C unused 1+0/3']],
    [
      'new, said twice beside another',
      [],
      [says('A', 1, 1), says('A', 1, 1), says('B', 1, 0)],
      totals(2, 1),
      ['A used 1+0/1', 'B unused 0+0/1'],
    ],
    ['void', [known('C', 3)], [says('C', 3, 3)], totals(3, 0), ['C void 0+0/3']],
    ['of two codes, one of them', [known('A', 2), known('B', 2)], [says('A', 2, 1)], totals(4, 1), ['A unused 1+0/2']],
    [
      'of two codes, as many as the order has',
      [known('A', 2, { state: 'used', used_quantity: 2 }), known('B', 2)],
      [says('B', 2, 1)],
      totals(4, 3),
      ['B unused 1+0/2'],
    ],
    [
      'of two codes that are both marked, and it is not known which',
      [known('A', 3), known('B', 3)],
      [says('A', 3, 1), says('B', 3, 1)],
      totals(6, 3),
      ['A unused 0+0/3', 'B unused 0+0/3'],
    ],
    [
      'of two codes that are both marked, as many as the other cannot hold',
      [known('A', 3), known('B', 3)],
      [says('A', 3, 2), says('B', 3, 2)],
      totals(6, 1, 4),
      ['A unused 0+1/3', 'B unused 0+1/3'],
    ],
    [
      'of two codes, all',
      [known('A', 3), known('B', 3)],
      [says('A', 3, 1), says('B', 3, 1)],
      totals(6, 6),
      ['A used 3+0/3', 'B used 3+0/3'],
    ],
    [
      'of two codes, when nothing is left',
      [known('A', 3), known('B', 3)],
      [says('A', 3, 1), says('B', 3, 1)],
      totals(6, 4, 2),
      ['A used 3+0/3', 'B used 3+0/3'],
    ],
    [
      'beside a code for one that was used before its tickets were counted',
      [known('A', 1, { state: 'used' }), known('B', 2), known('C', 1)],
      [says('B', 2, 1)],
      totals(4, 2),
      ['B unused 1+0/2'],
    ],
    ['one ticket', [known('A', 1), known('B', 1)], [says('A', 1, 1)], totals(2, 1), ['A used 1+0/1']],
    ['one ticket, refunded', [known('A', 1), known('B', 1)], [says('A', 1, 2)], totals(2, 0, 1), ['A refunded 0+1/1']],
  ] as const)('%s', (_what, before, reported, sums, expected) => {
    expect(shown(mergedVouchers(before, reported, sums))).toEqual(expected)
  })

  it('never fall: an older report changes nothing', () => {
    const before = [known('A', 2, { used_quantity: 1 }), known('B', 2)]
    expect(shown(mergedVouchers(before, [says('A', 2, 0)], totals(4, 1)))).toEqual(['A unused 1+0/2'])
  })
})

describe('a refund of an order with two codes for three tickets each', () => {
  const order = (used_quantity: number, refunded_quantity = 0) =>
    ({ order_id: 7n, quantity: 6, unit_price: 10, used_quantity, refunded_quantity }) as OrderRow
  const open = (refund_quantity: number, ...vouchers: string[]) =>
    ({ state: 'reviewing', refund_quantity, vouchers }) as unknown as RefundRow
  const both = [known('A', 3), known('B', 3)]
  const content = (of: OrderRow, codes: readonly VoucherRow[], refunds: readonly RefundRow[], input: object) => {
    const { refund_quantity, vouchers } = refundContent(of, codes, refunds, { vouchers: [], partly: true, ...input })
    return [refund_quantity, ...vouchers]
  }

  it.each<[string, OrderRow, readonly VoucherRow[], readonly RefundRow[], object, (number | string)[]]>([
    ['all', order(0), both, [], {}, [6, 'A', 'B']],
    ['some', order(0), both, [], { quantity: 3 }, [3]],
    ['the rest, and it is not known of which code', order(3), both, [], {}, [3]],
    ['the rest, partly known', order(4), [known('A', 3, { used_quantity: 1 }), known('B', 3)], [], {}, [2]],
    [
      'the rest of the other',
      order(3),
      [known('A', 3, { state: 'used', used_quantity: 3 }), known('B', 3)],
      [],
      {},
      [3, 'B'],
    ],
    [
      'some of the rest of the other',
      order(3),
      [known('A', 3, { state: 'used', used_quantity: 3 }), known('B', 3)],
      [],
      { quantity: 2 },
      [2, 'B'],
    ],
    ['the rest, beside an open refund of all of one', order(0), both, [open(3, 'A')], {}, [3, 'B']],
    ['the rest, beside an open refund of some of one', order(0), both, [open(1, 'A')], {}, [5, 'A', 'B']],
    ['the rest, beside an open refund of some of no code', order(0), both, [open(1)], {}, [5]],
    ['a part of a named code', order(3), both, [], { vouchers: ['A'], quantity: 2 }, [2, 'A']],
    ['what is free of a named code', order(0), both, [open(2, 'A')], { vouchers: ['A'] }, [1, 'A']],
    ['two named codes', order(0), both, [open(1, 'A')], { vouchers: ['A', 'B'] }, [5, 'A', 'B']],
  ])('covers %s', (_what, of, codes, refunds, input, expected) => {
    expect(content(of, codes, refunds, input)).toEqual(expected)
  })

  it.each<[string, readonly VoucherRow[], readonly RefundRow[], object, string]>([
    ['a part of two', both, [], { vouchers: ['A', 'B'], quantity: 4 }, 'the vouchers are for 6 tickets, not 4'],
    ['one twice', both, [open(3, 'A')], { vouchers: ['A'] }, 'voucher A is in another refund'],
    ['one twice, both named', both, [open(6, 'A', 'B')], { vouchers: ['B'] }, 'voucher B is in another refund'],
    [
      'more than is free',
      both,
      [open(2, 'A')],
      { vouchers: ['A'], quantity: 2 },
      'the vouchers are for 1 tickets, not 2',
    ],
  ])('is refused for %s', (_what, codes, refunds, input, why) => {
    expect(() => content(order(0), codes, refunds, input)).toThrow(why)
  })
})
