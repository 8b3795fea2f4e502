import type { z } from 'zod'
import type { Change } from '../../platform/history/index.ts'
import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import type { credential, IssuedTickets, voucherState } from '../interfaces/index.ts'
import type { ChangeableOrder, OrderUpdate, VoucherRow } from './order-store.ts'
import type { ReportedVoucher } from './quantities.ts'
import { VOUCHER_STATES, type VoucherState } from './states.ts'

/** The codes in what partners report about tickets: lists of codes, and documents with their codes. */

type Status = ReportedVoucher['status']

type People = readonly (z.output<typeof credential> | undefined)[]

/** The codes of a voucherList, and those that only a credentialList names; shared ones with the earliest state. */
export function codesIn(
  voucherList: readonly z.output<typeof voucherState>[] = [],
  credentialList: People = [],
): ReportedVoucher[] {
  const listed = voucherList.map(
    ({ voucher, voucherPics, voucherInvalidTime, quantity, status }): ReportedVoucher => ({
      voucher,
      quantity,
      status,
      picture: voucherPics,
      invalidAt: voucherInvalidTime,
    }),
  )
  if (credentialList.length === 0) return listed
  const named = new Set(listed.map(({ voucher }) => voucher))
  return [...listed, ...codesOfPeople(credentialList).filter(({ voucher }) => !named.has(voucher))]
}

function codesOfPeople(people: People): ReportedVoucher[] {
  const codes = new Map<string, { quantity: number; status: Status }>()
  for (const { voucher, status = 0 } of people.filter((person) => person !== undefined)) {
    if (voucher === undefined) continue
    const code = codes.get(voucher)
    codes.set(voucher, {
      quantity: (code?.quantity ?? 0) + 1,
      status: code && code.status < status ? code.status : status,
    })
  }
  return [...codes].map(([voucher, code]) => ({ voucher, ...code, ofPeople: true }))
}

/** The issued codes: one per ticket, or one for all. Those of real-name tickets may only come with the documents. */
export function issuedCodes(issued: IssuedTickets, quantity: number): ReportedVoucher[] {
  const { vouchers = [], voucherPics = [], credentialList = [], voucherType } = issued
  const people = new Map(codesOfPeople(credentialList).map((code) => [code.voucher, code.quantity]))
  const codes = new Set([...vouchers, ...people.keys()])
  const forAll = voucherType === 2 || (voucherType !== 1 && codes.size === 1 && !issued.asyReturnVoucher)
  // If a code occurs twice, the first picture counts, so it is set last.
  const pictures = new Map(vouchers.map((voucher, index) => [voucher, voucherPics[index]] as const).reverse())
  const admits = (voucher: string): number => {
    if (forAll) return quantity
    return voucherType === 1 ? 1 : (people.get(voucher) ?? 1)
  }
  return [...codes].map((voucher) => ({
    voucher,
    quantity: admits(voucher),
    status: 0,
    picture: pictures.get(voucher),
  }))
}

/** How many codes voucherType promises; undefined if it promises none. */
export function promisedCodes(
  { voucherType }: Pick<IssuedTickets, 'voucherType'>,
  quantity: number,
): number | undefined {
  if (voucherType === 1) return quantity
  return voucherType === 2 ? 1 : undefined
}

export function codesNeeded(
  { order_id: order, quantity }: Pick<ChangeableOrder, 'order_id' | 'quantity'>,
  { voucherType }: Pick<IssuedTickets, 'voucherType'>,
  codes: number,
): LocalizedText {
  const promised = promisedCodes({ voucherType }, quantity)
  const wanted =
    promised === undefined
      ? localized('at-most-count', { count: quantity })
      : `${promised} (voucherType ${voucherType})`
  return localized('codes-needed', { codes, order, quantity, wanted })
}

/** Whether this is as many codes as voucherType promises, or fewer while more are to come. */
export function isRightCount(issued: IssuedTickets, quantity: number, codes: number): boolean {
  const promised = promisedCodes(issued, quantity)
  const enough = promised === undefined ? codes <= quantity : codes === promised
  return enough || awaitsCodes(issued, quantity, codes)
}

/** Reports about known codes, and about new ones until the order has `most`. */
export function fittingCodes(
  before: readonly VoucherRow[],
  reported: readonly ReportedVoucher[],
  most: number,
): ReportedVoucher[] {
  const taken = new Set(before.map(({ voucher }) => voucher))
  return reported.filter(({ voucher }) => {
    if (!taken.has(voucher) && taken.size >= most) return false
    taken.add(voucher)
    return true
  })
}

type Code = Pick<VoucherRow, 'voucher'>

export const countCodes = (before: readonly Code[], reported: readonly Code[]): number =>
  new Set([...before, ...reported].map(({ voucher }) => voucher)).size

/** Whether more codes are to come: the partner says so, and some are missing. */
export const awaitsCodes = (issued: IssuedTickets, quantity: number, codes: number): boolean =>
  issued.asyReturnVoucher === true && codes < (promisedCodes(issued, quantity) ?? quantity)

/**
 * Consumption reports without `voucherList` about orders with one code per ticket. The contract requires it there, but
 * live partners leave it out. The codes then follow from the quantities, as far as these are unambiguous.
 */

/** Whether the report should have named codes. That is unknown until all codes are known (`vouchers_open`). */
export const lacksVoucherList = (
  { vouchers_open }: Pick<ChangeableOrder, 'vouchers_open'>,
  before: readonly VoucherRow[],
  reported: readonly ReportedVoucher[] | undefined,
): boolean => !reported?.length && !vouchers_open && before.length > 0 && before.every(({ quantity }) => quantity === 1)

/** The codes that follow from the quantities; none if those are ambiguous, or some tickets have no code. */
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

/** An entry for the history of the order; the codes are those of codesByCount. */
export function missingListChange(
  { order_id }: Pick<ChangeableOrder, 'order_id'>,
  before: readonly VoucherRow[],
  [first, ...others]: readonly ReportedVoucher[],
): Change {
  const unused = before.filter(({ state }) => state === 'unused').length
  const text =
    unused === 0
      ? localized('list-missing')
      : first
        ? localized('list-missing-marked', { count: others.length + 1, state: VOUCHER_STATES[first.status] })
        : localized('list-missing-unclear', { count: unused })
  return { record: 'order', record_id: String(order_id), change: { voucherList: [null, text] } }
}
