import { CALL_TIMES } from '../../platform/config/call-limits.ts'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds, fullJitter, secondsUntil } from '../../platform/lib/clock.ts'
import { maskedReason } from '../../platform/lib/masked-reason.ts'
import type { CallCause, CallDeps } from '../partner-calls/index.ts'
import { isInFlight, queueQuery } from './order-jobs.ts'
import { existingOrder } from './order-result.ts'
import type { OrderRow } from './order-store.ts'
import { queryOrder } from './query-order.ts'
import type { OrderState } from './states.ts'

const OPEN: readonly OrderState[] = ['creating', 'create_unknown', 'paying', 'pay_unknown']
const FIRST_PAUSE_S = 4
const LONGEST_PAUSE_S = 600
const LONGEST_S = 86_400

/**
 * Queries an open order and, while it stays open, queues the next query: soon at first, then up to ten minutes apart.
 * After a day it is left to operators, as `givenUp` says.
 */
export async function pollOrder(
  deps: CallDeps,
  orderId: bigint,
  asked: number,
  cause: CallCause,
): Promise<{ givenUp: string | null }> {
  const earlier = await existingOrder(deps, orderId)
  if (!OPEN.includes(earlier.state)) return { givenUp: null }
  if (isInFlight(deps, earlier)) {
    const over = addSeconds(earlier.state_since, CALL_TIMES.overS)
    await queueQuery(deps, earlier, secondsUntil(over, deps.clock.now()), asked)
    return { givenUp: null }
  }
  const { order, failure } = await queryOrder(deps, orderId, cause)
  if (!OPEN.includes(order.state)) return { givenUp: null }
  if (isOld(deps, order)) {
    // Viewers can read the errors of jobs, so what the partner wrote is masked; Traffic has it.
    const why = failure ? `; the last query failed with ${failure.kind}: ${maskedReason(failure.detail)}` : ''
    return { givenUp: `order ${orderId} has been ${order.state} for a day${why}` }
  }
  await queueQuery(deps, earlier, fullJitter(asked, FIRST_PAUSE_S, LONGEST_PAUSE_S), asked + 1)
  return { givenUp: null }
}

const isOld = ({ clock }: Deps, { state_since }: Pick<OrderRow, 'state_since'>): boolean =>
  clock.now() >= addSeconds(state_since, LONGEST_S)
