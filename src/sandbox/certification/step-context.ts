import { newOrderId, storedOrders } from '../../ticketing/orders/index.ts'
import type { CheckId } from '../checks/index.ts'
import { type Attempt, type AttemptLog, openAttemptLog } from './attempt-log.ts'
import { findLinkedOrders, linkOrder, type OrderRole } from './run-store.ts'
import { type StepCalls, stepCalls } from './step-calls.ts'

interface StepOrders {
  /** A new order id that belongs to this run; the order itself is made with it afterwards. */
  newOrder(role: OrderRole, bits?: number): Promise<bigint>
  /** The newest order of that role that was stored; one whose attempt was interrupted before that is not an order. */
  orderOf(role: OrderRole): Promise<bigint>
}

/**
 * What a step works with: what the attempt is about, its log and checks, calls, and orders of the run. `Own` are the
 * checks of its `expects`: a function that steps share takes a context that can make its checks.
 */
export type StepContext<Own extends CheckId = never> = Attempt & AttemptLog<Own> & StepCalls & StepOrders

export function stepContext(attempt: Attempt): StepContext<CheckId> {
  // A person presses Start to try: that the partner was down a moment ago is no reason not to.
  attempt.deps.calls.breakers.reset(attempt.partner.partner_id)
  const log = openAttemptLog(attempt)
  return { ...attempt, ...log, ...stepCalls(attempt, log), ...stepOrders(attempt, log) }
}

const stepOrders = ({ deps, runId }: Attempt, log: AttemptLog): StepOrders => ({
  newOrder: async (role, bits = deps.config.ORDER_ID_BITS) => {
    const orderId = newOrderId(bits)
    await linkOrder(deps.db, { orderId, runId, role }, deps.clock.now())
    return orderId
  },
  orderOf: async (role) => {
    const linked = await findLinkedOrders(deps.db, runId, role)
    const stored = new Set((await storedOrders(deps.db, linked)).map(({ order_id }) => order_id))
    return log.requireEarlier(linked.find((id) => stored.has(id)))
  },
})
