import { newOrderId, storedOrders } from '../../ticketing/orders/index.ts'
import { callNow } from '../../ticketing/partner-calls/index.ts'
import type { CheckId } from '../checks/index.ts'
import { type Attempt, type AttemptLog, openAttemptLog } from './attempt-log.ts'
import { findLinkedOrders, linkOrder, type OrderRole } from './run-store.ts'
import { stepCalls } from './step-calls.ts'

/**
 * What a step works with: the attempt, its log and checks, calls, and the run's orders. `Own` are the checks of the
 * step's `expects`; helpers shared by steps declare which checks they make.
 */
export type StepContext<Own extends CheckId = never> = Attempt &
  AttemptLog<Own> &
  ReturnType<typeof stepCalls> &
  ReturnType<typeof stepOrders>

export function stepContext(attempt: Attempt): StepContext<CheckId> {
  callNow(attempt.deps, attempt.partner)
  const log = openAttemptLog(attempt)
  return { ...attempt, ...log, ...stepCalls(attempt, log), ...stepOrders(attempt, log) }
}

/** The run's orders. */
const stepOrders = ({ deps, runId }: Attempt, log: AttemptLog) => ({
  /** A new order id, linked to this run before the order itself is created. */
  newOrder: async (role: OrderRole, bits = deps.config.ORDER_ID_BITS): Promise<bigint> => {
    const orderId = newOrderId(bits)
    await linkOrder(deps.db, { orderId, runId, role }, deps.clock.now())
    return orderId
  },
  /** The newest stored order of that role: an interrupted attempt may have linked an id without creating its order. */
  orderOf: async (role: OrderRole): Promise<bigint> => {
    const linked = await findLinkedOrders(deps.db, runId, role)
    const stored = new Set((await storedOrders(deps.db, linked)).map(({ order_id }) => order_id))
    return log.requireEarlier(linked.find((id) => stored.has(id)))
  },
})
