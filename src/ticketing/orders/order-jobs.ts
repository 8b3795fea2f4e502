import { CALL_TIMES } from '../../platform/config/call-limits.ts'
import { dequeue, enqueue } from '../../platform/db/jobs-store.ts'
import type { Db } from '../../platform/db/sql.ts'
import type { Deps } from '../../platform/deps.ts'
import type { Cause } from '../../platform/history/index.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import type { OrderRow } from './order-store.ts'
import type { RefundRow } from './refund-store.ts'

/** How soon the partner is queried after a response was lost. */
export const ASK_AGAIN_IN_S = 2

/** The partner is issuing the tickets and will finish later. */
export const ISSUING = 598

/** Whether the response to order create or order pay is still missing. */
export const awaitsAnswer = ({ state, last_code }: OrderRow): boolean =>
  state === 'creating' || (state === 'paying' && last_code !== ISSUING)

export const isInFlight = ({ clock }: Deps, order: OrderRow): boolean =>
  awaitsAnswer(order) && clock.now() < addSeconds(order.state_since, CALL_TIMES.overS)

/** Whether the outcome of the last call is unknown: the partner must be queried before anything is repeated. */
export const isLost = (deps: Deps, order: OrderRow): boolean =>
  order.state === 'create_unknown' || order.state === 'pay_unknown' || (awaitsAnswer(order) && !isInFlight(deps, order))

export const isRefundInFlight = ({ clock }: Deps, { state, updated_at }: RefundRow): boolean =>
  state === 'asking' && clock.now() < addSeconds(updated_at, CALL_TIMES.overS)

/** Jobs about one partner's orders run one at a time: a slow partner must not occupy every worker. */
const queueOf = (partnerId: bigint): string => `orders:${partnerId}`

/** What is open: the order itself, or refunds whose answers were lost. Each has a job of its own. */
export type OpenPart = 'order' | 'refunds'

const queryKey = (orderId: bigint, about: OpenPart): string =>
  about === 'order' ? `query-order:${orderId}` : `query-order:${orderId}:refunds`

/** Asks the partner after this many seconds about what is open; `asked` counts how often it was asked. */
export const queueQuery = (
  { db }: Deps,
  { order_id, partner_id }: Pick<OrderRow, 'order_id' | 'partner_id'>,
  seconds: number,
  { asked = 0, about = 'order' }: { readonly asked?: number; readonly about?: OpenPart } = {},
): Promise<number> =>
  enqueue(
    db,
    'query-order',
    { orderId: String(order_id), asked, about },
    { key: queryKey(order_id, about), queue: queueOf(partner_id), afterS: seconds },
  )

/**
 * Has a job settle after `seconds` what a call may leave open; undefined: nothing is open any more. The job that makes
 * the call queues its next run itself: one under its key would replace it, so nobody would learn that it gives up.
 */
export const settleByJob = async (
  deps: Deps,
  order: OrderRow,
  about: OpenPart,
  caller: Cause,
  seconds: number | undefined,
): Promise<void> => {
  if (seconds === undefined) await dropQuery(deps.db, order.order_id, about)
  else if (caller.kind !== 'job') await queueQuery(deps, order, seconds, { about })
}

export const dropQuery = (db: Db, orderId: bigint, about: OpenPart = 'order'): Promise<number> =>
  dequeue(db, queryKey(orderId, about))

const messageKey = (orderId: bigint, refundId: string): string => `send-refunded-message:${orderId}:${refundId}`

export interface RefundedMessage {
  readonly orderId: bigint
  readonly refundId: string
  /** 1 by customer service, 2 payment never confirmed, 3 review timed out. */
  readonly type: 1 | 2 | 3
  readonly reason?: string | undefined
}

/** Sends the message after this many seconds, unless it arrives before and the job is removed. */
export function queueRefundedMessage({ db }: Deps, partnerId: bigint, message: RefundedMessage, seconds: number) {
  const { orderId, refundId } = message
  const job = { key: messageKey(orderId, refundId), queue: queueOf(partnerId), afterS: seconds }
  return enqueue(db, 'send-refunded-message', { ...message, orderId: String(orderId) }, job)
}

export const dropRefundedMessage = (db: Db, { orderId, refundId }: RefundedMessage): Promise<number> =>
  dequeue(db, messageKey(orderId, refundId))
