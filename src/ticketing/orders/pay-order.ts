import { CALL_TIMES } from '../../platform/config/call-limits.ts'
import type { Deps } from '../../platform/deps.ts'
import type { Cause } from '../../platform/history/index.ts'
import {
  type AnswerOf,
  activePartner,
  type CallCause,
  type CallDeps,
  type CallResult,
  callPartner,
  failureOf,
} from '../partner-calls/index.ts'
import { changedBy, changeOrder } from './change-order.ts'
import { issueTickets } from './issue-tickets.ts'
import { ASK_AGAIN_IN_S, dropQuery, ISSUING, isLost, queueQuery } from './order-jobs.ts'
import { existingOrder, type OrderResult, recordAsked, resultFor, withOrder } from './order-result.ts'
import { type OrderRow, type OrderUpdate, vouchersOf } from './order-store.ts'
import { queryOrder } from './query-order.ts'
import { isOrderTransition, type OrderState } from './states.ts'

/** Nothing to pay: the order is paid, or a payment is in progress. */
const PAID: readonly OrderState[] = ['paying', 'pay_unknown', 'paid', 'consumed', 'refunded']

/**
 * Pays an order, for which the partner issues the tickets. Of simultaneous requests only one calls the partner: the one
 * that moved the order to `paying`. After a lost response the partner is queried first.
 */
export async function payOrder(deps: CallDeps, orderId: bigint, cause: CallCause): Promise<OrderResult> {
  const known = await existingOrder(deps, orderId)
  const partner = await activePartner(deps, known.partner_id)
  const queried = isLost(deps, known) ? await queryOrder(deps, orderId, cause) : undefined
  if (queried?.failure) return queried
  const claimed = await withOrder(deps, orderId, async (inside, order) => {
    await recordAsked(inside, 'order_pay_asked', order)
    return claim(inside, order, changedBy(cause))
  })
  if (!claimed) return resultFor(deps, orderId)
  const body = { orderId, partnerOrderId: claimed.partner_order_id ?? '' }
  const result = await callPartner(deps, partner, 'order-pay', body, { orderId, cause })
  await withOrder(deps, orderId, (inside, order) => settle(inside, order, result, claimed.revision))
  return resultFor(deps, orderId, failureOf(result))
}

/** Moves the order to `paying`; undefined if there is nothing to pay. */
async function claim(deps: Deps, order: OrderRow, cause: Cause): Promise<OrderRow | undefined> {
  if (PAID.includes(order.state)) return undefined
  await queueQuery(deps, order, CALL_TIMES.overS)
  const update = { state: 'paying', last_code: null, last_describe: null, vouchers_open: true } as const
  return changeOrder(deps, order, update, cause)
}

/** Applies the response to the order, which a notice may have changed meanwhile. */
async function settle(
  deps: Deps,
  order: OrderRow,
  result: CallResult<AnswerOf<'order-pay'>>,
  revision: number,
): Promise<void> {
  const cause: Cause = { kind: 'call', id: result.callId }
  if (result.outcome === 'success') {
    if (isOrderTransition(order.state, 'paid') || PAID.includes(order.state)) {
      await issueTickets(deps, order, result.answer.body, cause)
    }
    return
  }
  if (order.revision !== revision) return
  // Codes from a notice are tickets, so the order cannot simply have failed.
  const [issued] = await vouchersOf(deps.db, order.order_id)
  const update = issued ? { ...unpaid(result), state: 'pay_unknown' as const, vouchers_open: true } : unpaid(result)
  await changeOrder(deps, order, update, cause)
  if (update.state === 'paying' || update.state === 'pay_unknown') await queueQuery(deps, order, ASK_AGAIN_IN_S)
  else await dropQuery(deps.db, order.order_id)
}

type Unpaid = Pick<OrderUpdate, 'state' | 'last_code' | 'last_describe'> & Partial<OrderUpdate>

function unpaid(result: Exclude<CallResult<unknown>, { outcome: 'success' }>): Unpaid {
  if (result.outcome === 'pending') {
    const issuing = result.code === ISSUING
    return { state: issuing ? 'paying' : 'pay_unknown', last_code: result.code, last_describe: result.describe }
  }
  const { kind, code = null, detail, maybe_received } = result.failure
  const lastAnswer = { last_code: code, last_describe: detail }
  if (kind === 'partner-code') return { state: 'pay_failed', ...lastAnswer, vouchers_open: false }
  if (!maybe_received) return { state: 'created', ...lastAnswer, vouchers_open: false }
  return { state: 'pay_unknown', ...lastAnswer }
}
