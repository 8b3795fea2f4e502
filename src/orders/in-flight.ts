import type { Deps } from '../deps.ts'
import { addSeconds } from '../lib/clock.ts'
import { type CallLimits, PARTNER_LIMITS } from '../outbound/http-call.ts'
import type { OrderRow } from './order-store.ts'
import type { RefundRow } from './refund-store.ts'

/** What the longest call takes to be decided about besides its time on the wire: to be recorded, and its order changed. */
const MARGIN_S = 5

/** What is on its way for longer than a call takes at most was begun by a process that has died. */
export const callOverS = ({ totalMs }: Pick<CallLimits, 'totalMs'>): number => Math.ceil(totalMs / 1000) + MARGIN_S

/** Seconds after which a call may be made again. */
export const CALL_OVER_S = callOverS(PARTNER_LIMITS)

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
