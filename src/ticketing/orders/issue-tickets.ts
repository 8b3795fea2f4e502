import type { Deps } from '../../platform/deps.ts'
import type { Cause } from '../../platform/history/index.ts'
import { stringifyLossless } from '../../platform/lib/json/lossless.ts'
import { LIST_LIMITS } from '../../platform/lib/json/shape.ts'
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

interface Lists {
  readonly voucherAdditionalList?: unknown
  readonly orderAdditionalList?: unknown
}

/**
 * Keeps lists without a documented format, for show, under the order's lock. They decide nothing, so nothing in them is
 * refused: beyond MAX_ADDITIONAL entries are only counted.
 */
export async function storeAdditional(
  { db }: Pick<Deps, 'db'>,
  orderId: bigint,
  { voucherAdditionalList, orderAdditionalList }: Lists,
): Promise<void> {
  const [vouchers, order] = [boundedList(voucherAdditionalList), boundedList(orderAdditionalList)]
  if (vouchers.given + order.given === 0) return
  const leftOut = vouchers.leftOut + order.leftOut
  await saveAdditional(db, orderId, { vouchers: vouchers.text, order: order.text, leftOut })
}

const isNothing = (value: unknown): boolean => value === undefined || value === null || value === ''

/** As JSON text; a value that is not a list counts as its only entry. */
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

/** Keeps the documents of the tickets, in the transaction that holds the order's lock. */
export async function storeCredentials(
  { db }: Pick<Deps, 'db'>,
  orderId: bigint,
  { credentialList = [] }: Pick<IssuedTickets, 'credentialList'>,
): Promise<void> {
  const rows = credentialList
    .filter((person) => person !== undefined)
    .map(({ voucher = '', credentialNo, credentialType }) => ({
      ...{ voucher, credential_no: credentialNo, credential_type: credentialType },
    }))
  if (rows.length > 0) await saveCredentials(db, orderId, rows, LIST_LIMITS.vouchers.most)
}

type Sent = NonNullable<RequestOf<'order-refund'>['credentialList']>

/**
 * The refunded tickets' documents: those of its codes, or all of a whole order. None with more people than tickets:
 * whose shared code it was is unknown.
 */
export async function credentialListOf(
  { db }: Pick<Deps, 'db'>,
  { order_id, quantity }: OrderRow,
  { vouchers, refund_quantity }: Pick<RefundRow, 'vouchers' | 'refund_quantity'>,
): Promise<Sent> {
  const whole = refund_quantity === quantity
  const concerned = (await credentialsOf(db, order_id)).filter(({ voucher }) => whole || vouchers.includes(voucher))
  if (concerned.length > refund_quantity) return []
  return concerned.map(({ voucher, credential_no, credential_type }) => ({
    ...{ credentialType: credential_type, credentialNo: credential_no, voucher },
  }))
}

/**
 * A locked order whose partner says that its tickets are issued: by the answer to order pay, or by a pay notice.
 * Vouchers that a notice has already reported keep their state. While codes are still to come, the order waits for them
 * as after 598 and keeps those received. An answer cannot be refused as a notice is, so what was paid stands: as many
 * codes as the tickets need are kept, and an operator sees a wrong number of them.
 */
export async function issueTickets(
  deps: Deps,
  order: OrderRow,
  issued: IssuedTickets & { readonly partnerOrderId?: string | undefined },
  cause: Cause,
): Promise<void> {
  const before = await vouchersOf(deps.db, order.order_id)
  const reported = issuedCodes(issued, order.quantity)
  const most = promisedCodes(issued, order.quantity) ?? order.quantity
  const vouchers = mergedVouchers(before, fittingCodes(before, reported, most), order)
  const known = countCodes(before, vouchers)
  const partly = awaitsCodes(issued, order.quantity, known)
  // A notice may have decided the order before the answer to order pay was read.
  const failedBefore = order.state === 'pay_failed' && known > 0
  const awaited = partly && (order.state === 'paying' || order.state === 'pay_unknown' || failedBefore)
  const update: Partial<OrderUpdate> = {
    partner_order_id: order.partner_order_id ?? issued.partnerOrderId ?? null,
    vouchers,
    // Tickets without a code may get one later, also when the partner has sent too few codes.
    vouchers_open: partly || known === 0 || known < (promisedCodes(issued, order.quantity) ?? 0),
    ...(awaited ? WAITING : partly ? {} : paidNow(order)),
  }
  const changed = await changeOrder(deps, order, update, cause, before)
  const codes = countCodes(before, reported)
  if (!isRightCount(issued, order.quantity, codes))
    await contradict(deps, changed, codesNeeded(order, issued, codes), cause)
  await storeAdditional(deps, order.order_id, issued)
  await storeCredentials(deps, order.order_id, issued)
  if (awaited) await queueQuery(deps, order, ASK_AGAIN_IN_S)
  else if (!partly) await dropQuery(deps.db, order.order_id)
}

const paidNow = ({ state }: OrderRow): Partial<OrderUpdate> =>
  isOrderTransition(state, 'paid') ? { state: 'paid', last_code: 200, last_describe: null } : {}

const WAITING = { state: 'paying', last_code: ISSUING, last_describe: 'asyReturnVoucher: codes come later' } as const
