import { describe, expect, it } from 'vitest'
import type { VoucherRow } from '../../src/orders/order-store.ts'
import { mergedVouchers, type ReportedVoucher } from '../../src/orders/quantities.ts'

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

describe('tickets of a code', () => {
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
