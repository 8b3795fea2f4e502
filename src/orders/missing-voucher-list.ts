import type { Change } from '../audit/index.ts'
import type { ChangeableOrder, OrderUpdate, VoucherRow } from './order-store.ts'
import type { ReportedVoucher } from './quantities.ts'
import { VOUCHER_STATES, type VoucherState } from './states.ts'

/**
 * Reports without `voucherList` about orders with one code per ticket. The contract requires it there, but live
 * partners leave it out: then the codes follow the quantities, as far as these are unambiguous.
 */

/** Whether the report had to name codes. While not all codes are known (`vouchers_open`), this cannot be decided. */
export const lacksVoucherList = (
  { vouchers_open }: Pick<ChangeableOrder, 'vouchers_open'>,
  before: readonly VoucherRow[],
  reported: readonly ReportedVoucher[] | undefined,
): boolean => !reported?.length && !vouchers_open && before.length > 0 && before.every(({ quantity }) => quantity === 1)

/** The codes that follow from the quantities; none if they are ambiguous, or if tickets have no code. */
export function codesByCount(
  before: readonly VoucherRow[],
  tickets: number,
  { used_quantity, refunded_quantity }: Pick<OrderUpdate, 'used_quantity' | 'refunded_quantity'>,
): ReportedVoucher[] {
  if (before.length !== tickets || before.some(({ state }) => state === 'void')) return []
  const count = (wanted: VoucherState) => before.filter(({ state }) => state === wanted).length
  const [used, refunded] = [used_quantity - count('used'), refunded_quantity - count('refunded')]
  const unused = before.filter(({ state }) => state === 'unused')
  const marked = (status: 1 | 2) => unused.map(({ voucher, quantity }) => ({ voucher, quantity, status }))
  if (refunded <= 0 && used >= unused.length) return marked(1)
  if (used <= 0 && refunded >= unused.length) return marked(2)
  return []
}

/** The text for operators in the history of the order; `marked` is the result of codesByCount. */
export function missingListChange(
  { order_id }: Pick<ChangeableOrder, 'order_id'>,
  before: readonly VoucherRow[],
  [first, ...others]: readonly ReportedVoucher[],
): Change {
  const unused = before.filter(({ state }) => state === 'unused').length
  const told = first
    ? `${others.length + 1} unused marked as ${VOUCHER_STATES[first.status]} by count`
    : `${unused} stay unused, since it is not known which of them are meant`
  const text = unused > 0 ? `missing: of its codes ${told}` : 'missing'
  return { record: 'order', record_id: String(order_id), change: { voucherList: [null, text] } }
}
