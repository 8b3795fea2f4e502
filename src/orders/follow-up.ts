import { dequeue, enqueue } from '../db/jobs-store.ts'
import type { Db } from '../db/sql.ts'
import type { Deps } from '../deps.ts'
import { addSeconds } from '../lib/clock.ts'
import type { OrderRow } from './order-store.ts'

/** The jobs that orders leave behind, each with the key that keeps it single. src/jobs reads these payloads. */

/** Questions and messages about orders of one partner go one after the other: a slow one must not hold every worker. */
const queueOf = (partnerId: bigint): string => `orders:${partnerId}`

const queryKey = (orderId: bigint): string => `query-order:${orderId}`

/** Asks the partner about the order after so many seconds; `asked` counts how often that was done already. */
export const queueQuery = (
  { db, clock }: Deps,
  { order_id, partner_id }: Pick<OrderRow, 'order_id' | 'partner_id'>,
  seconds: number,
  asked = 0,
): Promise<number> =>
  enqueue(
    db,
    'query-order',
    { orderId: String(order_id), asked },
    { key: queryKey(order_id), queue: queueOf(partner_id), runAt: addSeconds(clock.now(), seconds) },
  )

/** The order is decided: nobody has to ask any more. */
export const dropQuery = (db: Db, orderId: bigint): Promise<number> => dequeue(db, queryKey(orderId))

const messageKey = (orderId: bigint, refundId: string): string => `send-refunded-message:${orderId}:${refundId}`

export interface RefundedMessage {
  readonly orderId: bigint
  readonly refundId: string
  /** 1 by customer service, 2 payment never confirmed, 3 review timed out. */
  readonly type: 1 | 2 | 3
  readonly reason?: string | undefined
}

/** Sends the message after so many seconds, unless it has been dropped because it has arrived. */
export const queueRefundedMessage = (
  { db, clock }: Deps,
  partnerId: bigint,
  message: RefundedMessage,
  seconds: number,
): Promise<number> =>
  enqueue(
    db,
    'send-refunded-message',
    { ...message, orderId: String(message.orderId) },
    {
      key: messageKey(message.orderId, message.refundId),
      queue: queueOf(partnerId),
      runAt: addSeconds(clock.now(), seconds),
    },
  )

export const dropRefundedMessage = (db: Db, { orderId, refundId }: RefundedMessage): Promise<number> =>
  dequeue(db, messageKey(orderId, refundId))
