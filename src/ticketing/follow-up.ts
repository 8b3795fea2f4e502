import { dequeue, enqueue } from '../db/jobs-store.ts'
import type { Db } from '../db/sql.ts'
import type { Deps } from '../deps.ts'
import { addSeconds } from '../lib/clock.ts'

/** The jobs that ticketing leaves behind, each with the key that keeps it single. src/jobs reads these payloads. */

export type Pull = 'pull-product' | 'pull-prices'

export const queuePull = (db: Db, task: Pull, partnerId: bigint, partnerDealId: string): Promise<number> =>
  enqueue(db, task, { partnerId: String(partnerId), partnerDealId }, { key: `${task}:${partnerId}:${partnerDealId}` })

const queryKey = (orderId: bigint): string => `query-order:${orderId}`

/** Asks the partner about the order after so many seconds; `asked` counts how often that was done already. */
export const queueQuery = ({ db, clock }: Deps, orderId: bigint, seconds: number, asked = 0): Promise<number> =>
  enqueue(
    db,
    'query-order',
    { orderId: String(orderId), asked },
    { key: queryKey(orderId), runAt: addSeconds(clock.now(), seconds) },
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
export const queueRefundedMessage = ({ db, clock }: Deps, message: RefundedMessage, seconds: number): Promise<number> =>
  enqueue(
    db,
    'send-refunded-message',
    { ...message, orderId: String(message.orderId) },
    { key: messageKey(message.orderId, message.refundId), runAt: addSeconds(clock.now(), seconds) },
  )

export const dropRefundedMessage = (db: Db, { orderId, refundId }: RefundedMessage): Promise<number> =>
  dequeue(db, messageKey(orderId, refundId))
