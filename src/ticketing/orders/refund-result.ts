import { type Deps, inTransaction } from '../../platform/deps.ts'
import type { Cause } from '../../platform/history/index.ts'
import { localized } from '../../platform/lib/localized-text.ts'
import { RefusedRequest } from '../../platform/lib/web/rescode.ts'
import { changeRefund } from './change-refund.ts'
import { ownOrder } from './consumption.ts'
import { noSuchRefund } from './errors.ts'
import { lockOrder } from './order-store.ts'
import { findRefund } from './refund-store.ts'
import { REFUND_STATES } from './states.ts'

/** The partner's decision on a refund that it had under review: 200 refunded, 606 and 699 refused. */
export interface RefundResult {
  readonly refundId: string
  readonly orderId: bigint
  readonly partnerOrderId: string
  readonly code: 200 | 606 | 699
  readonly describe: string
}

/** Ends a refund; the same decision again changes nothing, the opposite one is refused. */
export async function applyRefundResult(
  deps: Deps,
  partnerId: bigint,
  result: RefundResult,
  cause: Cause,
): Promise<void> {
  await inTransaction(deps, async (inside, db) => {
    const order = ownOrder(await lockOrder(db, result.orderId), partnerId, result)
    const refund = await findRefund(db, partnerId, result.refundId)
    if (!refund || refund.order_id !== order.order_id) throw noSuchRefund(result.refundId)
    const state = result.code === 200 ? 'refunded' : 'refused'
    if (refund.state === state) return
    if (REFUND_STATES[refund.state].next.length === 0) {
      throw new RefusedRequest(
        localized('refund-decided', { refund: refund.refund_id, state: refund.state, to: state }),
      )
    }
    const update = { state, decision_code: result.code, reason: result.describe } as const
    await changeRefund(inside, order, refund, update, cause)
  })
}
