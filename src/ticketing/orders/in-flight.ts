import { CALL_TIMES } from '../../platform/config/call-limits.ts'
import type { Deps } from '../../platform/deps.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import type { OrderRow } from './order-store.ts'
import type { RefundRow } from './refund-store.ts'

/** How soon the partner is queried after a response was lost. */
export const ASK_AGAIN_IN_S = 2

/** The partner is issuing the tickets and will finish later. */
export const ISSUING = 598

/** Whether order create or order pay was started and its response is still missing. */
export const awaitsAnswer = ({ state, last_code }: OrderRow): boolean =>
  state === 'creating' || (state === 'paying' && last_code !== ISSUING)

/** Whether that call may still be in progress. */
export const isInFlight = ({ clock }: Deps, order: OrderRow): boolean =>
  awaitsAnswer(order) && clock.now() < addSeconds(order.state_since, CALL_TIMES.overS)

/** Whether the outcome of the last call is unknown: the partner must be queried before anything is repeated. */
export const isLost = (deps: Deps, order: OrderRow): boolean =>
  order.state === 'create_unknown' || order.state === 'pay_unknown' || (awaitsAnswer(order) && !isInFlight(deps, order))

/** Whether order refund may still be in progress. */
export const isRefundInFlight = ({ clock }: Deps, { state, updated_at }: RefundRow): boolean =>
  state === 'asking' && clock.now() < addSeconds(updated_at, CALL_TIMES.overS)
