import type { Deps } from '../deps.ts'
import { addSeconds } from '../lib/clock.ts'
import type { OrderRow } from './order-store.ts'
import type { RefundRow } from './refund-store.ts'

/** A call takes 15 s at most (http-call.ts), so what is on its way for longer was begun by a process that has died. */
export const CALL_OVER_S = 20

/** How soon the partner is asked after an answer was lost. */
export const ASK_AGAIN_IN_S = 2

/** The partner said that it issues and will be done later. */
export const ISSUING = 598

/** Whether order create or order pay has been begun and its answer is not there. */
export const awaitsAnswer = ({ state, last_code }: OrderRow): boolean =>
  state === 'creating' || (state === 'paying' && last_code !== ISSUING)

/** Whether that call may still be under way. */
export const isInFlight = ({ clock }: Deps, order: OrderRow): boolean =>
  awaitsAnswer(order) && clock.now() < addSeconds(order.state_since, CALL_OVER_S)

/** Whether nobody knows what the partner made of the last call: it has to be asked before anything is repeated. */
export const isLost = (deps: Deps, order: OrderRow): boolean =>
  order.state === 'create_unknown' || order.state === 'pay_unknown' || (awaitsAnswer(order) && !isInFlight(deps, order))

/** Whether order refund may still be under way. */
export const isRefundInFlight = ({ clock }: Deps, { state, updated_at }: RefundRow): boolean =>
  state === 'asking' && clock.now() < addSeconds(updated_at, CALL_OVER_S)
