import type { Deps } from '../../platform/deps.ts'
import type { Cause } from '../../platform/history/index.ts'
import type { IssuedTickets } from '../interfaces/index.ts'
import { storeAdditional } from './additional.ts'
import { changeOrder } from './change-order.ts'
import { storeCredentials } from './credentials.ts'
import { ASK_AGAIN_IN_S, ISSUING } from './in-flight.ts'
import { dropQuery, queueQuery } from './order-jobs.ts'
import { type OrderRow, type OrderUpdate, vouchersOf } from './order-store.ts'
import { mergedVouchers } from './quantities.ts'
import { awaitsCodes, issuedCodes, promisedCodes } from './reported-codes.ts'
import { isOrderTransition } from './states.ts'

/**
 * A locked order whose partner says that its tickets are issued: by the answer to order pay, or by a pay notice.
 * Vouchers that a notice has already reported keep their state. While codes are still to come, the order waits for them
 * as after 598 and keeps those received.
 */
export async function issueTickets(
  deps: Deps,
  order: OrderRow,
  issued: IssuedTickets & { readonly partnerOrderId?: string | undefined },
  cause: Cause,
): Promise<void> {
  const before = await vouchersOf(deps.db, order.order_id)
  const vouchers = mergedVouchers(before, issuedCodes(issued, order.quantity), order)
  const known = new Set([...before, ...vouchers].map(({ voucher }) => voucher)).size
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
  await changeOrder(deps, order, update, cause, before)
  await storeAdditional(deps, order.order_id, issued)
  await storeCredentials(deps, order.order_id, issued)
  if (awaited) await queueQuery(deps, order, ASK_AGAIN_IN_S)
  else if (!partly) await dropQuery(deps.db, order.order_id)
}

const paidNow = ({ state }: OrderRow): Partial<OrderUpdate> =>
  isOrderTransition(state, 'paid') ? { state: 'paid', last_code: 200, last_describe: null } : {}

const WAITING = { state: 'paying', last_code: ISSUING, last_describe: 'asyReturnVoucher: codes come later' } as const
