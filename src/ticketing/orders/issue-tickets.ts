import type { Deps } from '../../platform/deps.ts'
import type { Cause } from '../../platform/history/index.ts'
import { stringifyLossless } from '../../platform/lib/json/lossless.ts'
import { LIST_LIMITS } from '../../platform/lib/json/shape.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import type { IssuedTickets } from '../interfaces/index.ts'
import type { RequestOf } from '../partner-calls/index.ts'
import { changeOrder, contradict } from './change-order.ts'
import { credentialsOf, saveAdditional, saveCredentials } from './issued-store.ts'
import { ASK_AGAIN_IN_S, dropQuery, ISSUING, queueQuery } from './order-jobs.ts'
import { type OrderRow, type OrderUpdate, vouchersOf } from './order-store.ts'
import { mergedVouchers } from './quantities.ts'
import type { RefundRow } from './refund-store.ts'
import {
  awaitsCodes,
  codesNeeded,
  countCodes,
  fittingCodes,
  isRightCount,
  issuedCodes,
  promisedCodes,
} from './reported-codes.ts'
import { isOrderTransition } from './states.ts'

/** Characters of JSON that are kept of one list. */
export const MAX_ADDITIONAL = 16_384

/**
 * Stores lists without a documented format, to be shown, under the order's lock. They decide nothing, so nothing in
 * them is refused: entries beyond MAX_ADDITIONAL are only counted. None once personal data has been removed.
 */
export async function storeAdditional(
  { db }: Pick<Deps, 'db'>,
  { order_id, data_removed_at }: OrderRow,
  { voucherAdditionalList, orderAdditionalList }: Pick<IssuedTickets, 'voucherAdditionalList' | 'orderAdditionalList'>,
): Promise<void> {
  if (data_removed_at) return
  const [vouchers, order] = [boundedList(voucherAdditionalList), boundedList(orderAdditionalList)]
  if (vouchers.given + order.given === 0) return
  const leftOut = vouchers.leftOut + order.leftOut
  await saveAdditional(db, order_id, { vouchers: vouchers.text, order: order.text, leftOut })
}

const isNothing = (value: unknown): boolean => value === undefined || value === null || value === ''

/** The list as JSON text; any other value counts as a list with one entry. */
function boundedList(value: unknown): { readonly text: string; readonly given: number; readonly leftOut: number } {
  const given = Array.isArray(value) ? value : isNothing(value) ? [] : [value]
  const kept: string[] = []
  let size = 2
  for (const entry of given) {
    const text = stringifyLossless([entry]).slice(1, -1)
    size += text.length + 1
    if (size > MAX_ADDITIONAL) break
    kept.push(text)
  }
  return { text: `[${kept.join(',')}]`, given: given.length, leftOut: given.length - kept.length }
}

/** Stores the documents of the tickets, under the order's lock, unless its personal data has been removed. */
export async function storeCredentials(
  { db }: Pick<Deps, 'db'>,
  { order_id, data_removed_at }: OrderRow,
  { credentialList = [] }: Pick<IssuedTickets, 'credentialList'>,
): Promise<void> {
  if (data_removed_at) return
  const rows = credentialList
    .filter((person) => person !== undefined)
    .map((person) => ({
      voucher: person.voucher ?? '',
      credential_no: person.credentialNo,
      credential_type: person.credentialType,
    }))
  if (rows.length > 0) await saveCredentials(db, order_id, rows, LIST_LIMITS.vouchers)
}

type CredentialList = NonNullable<RequestOf<'order-refund'>['credentialList']>

/**
 * The documents of a refund's tickets: those of its codes, or all if the whole order is refunded. None if that is more
 * people than tickets, because then nobody knows who shares a code.
 */
export async function credentialListOf(
  { db }: Pick<Deps, 'db'>,
  { order_id, quantity }: OrderRow,
  { vouchers, refund_quantity }: Pick<RefundRow, 'vouchers' | 'refund_quantity'>,
): Promise<CredentialList> {
  const whole = refund_quantity === quantity
  const concerned = (await credentialsOf(db, order_id)).filter(({ voucher }) => whole || vouchers.includes(voucher))
  if (concerned.length > refund_quantity) return []
  return concerned.map(({ voucher, credential_no, credential_type }) => ({
    credentialType: credential_type,
    credentialNo: credential_no,
    voucher,
  }))
}

/**
 * Applies the tickets that the partner issued, in an answer to order pay or a pay notice, to a locked order. Vouchers
 * that a notice has already reported keep their state. While codes are still to come, the order waits for them, as
 * after 598, and keeps those received. An answer cannot be refused like a notice, so the payment stands: as many codes
 * as there are tickets are kept, and operators see that the number is wrong.
 */
export async function issueTickets(
  deps: Deps,
  order: OrderRow,
  issued: IssuedTickets & { readonly partnerOrderId?: string | undefined },
  cause: Cause,
): Promise<void> {
  const before = await vouchersOf(deps.db, order.order_id)
  const reported = issuedCodes(issued, order.quantity)
  const promised = promisedCodes(issued, order.quantity)
  const vouchers = mergedVouchers(before, fittingCodes(before, reported, promised ?? order.quantity), order)
  const known = countCodes(before, vouchers)
  const partly = awaitsCodes(issued, order.quantity, known)
  // A notice may have decided the order before the answer to order pay was read.
  const failedBefore = order.state === 'pay_failed' && known > 0
  const awaited = partly && (order.state === 'paying' || order.state === 'pay_unknown' || failedBefore)
  const update: Partial<OrderUpdate> = {
    partner_order_id: order.partner_order_id ?? issued.partnerOrderId ?? null,
    vouchers,
    // Tickets without a code may get one later, also if the partner sent too few.
    vouchers_open: partly || known === 0 || known < (promised ?? 0),
    ...(awaited ? WAITING : partly ? {} : paidNow(order)),
  }
  const changed = await changeOrder(deps, order, update, cause, before)
  const codes = countCodes(before, reported)
  if (!isRightCount(issued, order.quantity, codes))
    await contradict(deps, changed, codesNeeded(order, issued, codes), cause)
  await storeAdditional(deps, order, issued)
  await storeCredentials(deps, order, issued)
  if (awaited) await queueQuery(deps, order, ASK_AGAIN_IN_S)
  else if (!partly) await dropQuery(deps.db, order.order_id)
}

const paidNow = ({ state }: OrderRow): Partial<OrderUpdate> =>
  isOrderTransition(state, 'paid') ? { state: 'paid', last_code: 200, last_describe: null } : {}

const WAITING = { state: 'paying', last_code: ISSUING, last_describe: localized('codes-come-later') } as const
