import { CALL_TIMES } from '../../platform/config/call-limits.ts'
import {
  type CallCause,
  type CallDeps,
  type CallResult,
  callPartner,
  existingPartner,
  failureOf,
} from '../partner-calls/index.ts'
import { changedBy, changeOrder } from './change-order.ts'
import { ASK_AGAIN_IN_S, isLost, settleByJob } from './order-jobs.ts'
import { existingOrder, type OrderResult, recordAsked, resultFor, withOrder } from './order-result.ts'
import type { OrderRow } from './order-store.ts'
import { queryOrder } from './query-order.ts'
import type { OrderState } from './states.ts'

/** closeType on the wire, and the state that it closes: 1 not paid, 2 create failed, 3 pay failed and refunded. */
const CLOSES = { 1: 'created', 2: 'create_failed', 3: 'pay_failed' } as const satisfies Record<number, OrderState>
type CloseType = keyof typeof CLOSES

const closeTypeOf = ({ state, close_type }: OrderRow): CloseType | undefined =>
  ([1, 2, 3] as const).find((type) => (state === 'closing' ? type === close_type : CLOSES[type] === state))

/**
 * Closes an unpaid order; throws if it cannot be closed. If the answer is lost the order stays `closing`, and a job calls
 * this again, which is safe: partners answer 200 for a closed order.
 */
export async function closeOrder(deps: CallDeps, orderId: bigint, cause: CallCause): Promise<OrderResult> {
  const known = await existingOrder(deps, orderId)
  const partner = await existingPartner(deps, known.partner_id)
  const queried = isLost(deps, known) ? await queryOrder(deps, orderId, cause) : undefined
  if (queried?.failure) return queried
  const caller = changedBy(cause)
  const claimed = await withOrder(deps, orderId, async (inside, order) => {
    await recordAsked(inside, 'order_close_asked', order)
    if (order.state === 'closed') return undefined
    await settleByJob(inside, order, 'order', caller, CALL_TIMES.overS)
    const update = { state: 'closing', close_type: closeTypeOf(order) ?? null } as const
    return { closing: await changeOrder(inside, order, update, caller), repeated: order.state === 'closing' }
  })
  if (!claimed) return resultFor(deps, orderId)
  const closeType = closeTypeOf(claimed.closing) ?? 1
  const result = await callPartner(deps, partner, 'order-close', { orderId, closeType }, { orderId, cause })
  await withOrder(deps, orderId, async (inside, order) => {
    if (order.state !== 'closing') return
    const state = stateAfter(result, closeType, claimed.repeated)
    await changeOrder(inside, order, { state }, { kind: 'call', id: result.callId })
    await settleByJob(inside, order, 'order', caller, state === 'closing' ? ASK_AGAIN_IN_S : undefined)
  })
  return resultFor(deps, orderId, failureOf(result))
}

/** The former state again if the partner refused, or can have received neither this call nor one before it. */
function stateAfter(result: CallResult<unknown>, closeType: CloseType, repeated: boolean): OrderState {
  if (result.outcome === 'success') return 'closed'
  if (result.outcome === 'pending') return 'closing'
  const { kind, maybe_received } = result.failure
  return kind === 'partner-code' || !(maybe_received || repeated) ? CLOSES[closeType] : 'closing'
}
