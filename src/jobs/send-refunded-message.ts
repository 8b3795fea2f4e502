import { z } from 'zod'
import { int64 } from '../lib/json/lossless.ts'
import { sendRefundedMessage } from '../orders/refunded-message.ts'
import type { Task } from './task.ts'

const payload = z.object({
  orderId: int64(),
  refundId: z.string(),
  type: z.literal([1, 2, 3]),
  reason: z.string().optional(),
})

/** The platform has refunded by itself, and its message has not arrived yet. */
export const sendRefundedMessageTask: Task = async (deps, given) => {
  const failure = await sendRefundedMessage(deps, payload.parse(given))
  if (failure) throw new Error(`${failure.kind}: ${failure.detail}`)
}
