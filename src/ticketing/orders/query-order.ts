import { localized } from '../../platform/lib/localized-text.ts'
import { RefusedRequest } from '../../platform/lib/web/rescode.ts'
import type { CallDeps } from '../partner-calls/index.ts'
import { type CallCause, callPartner, existingPartner } from '../partner-calls/index.ts'
import { applyQueryResult } from './apply-query-result.ts'
import { changedBy, changeOrder } from './change-order.ts'
import { awaitsAnswer, isInFlight } from './in-flight.ts'
import { type OrderResult, recordAsked, resultFor, withOrder } from './order-result.ts'

/** Queries an order at the partner and applies the result: safe at any time, and the way out of *_unknown. */
export async function queryOrder(deps: CallDeps, orderId: bigint, cause: CallCause): Promise<OrderResult> {
  const order = await withOrder(deps, orderId, async (inside, found) => {
    await recordAsked(inside, 'order_query_asked', found)
    if (isInFlight(deps, found))
      throw new RefusedRequest(localized('call-in-progress', { order: orderId, state: found.state }))
    if (!awaitsAnswer(found)) return found
    const state = found.state === 'creating' ? 'create_unknown' : 'pay_unknown'
    return changeOrder(inside, found, { state }, changedBy(cause))
  })
  const partner = await existingPartner(deps, order.partner_id)
  const body = { orderId, partnerOrderId: order.partner_order_id ?? '' }
  const result = await callPartner(deps, partner, 'order-query', body, { orderId, cause })
  const failure = await withOrder(deps, orderId, (inside, found) => applyQueryResult(inside, found, result, order))
  return resultFor(deps, orderId, failure)
}
