import { z } from 'zod'
import { int64 } from '../lib/json/lossless.ts'
import { followOrder } from '../orders/follow-order.ts'
import { GiveUp, type Task } from './task.ts'

const payload = z.object({ orderId: int64(), asked: z.number() })

/** An answer to create or pay was lost or is still to come: the partner is asked until the order is decided. */
export const queryOrderTask: Task = async (deps, given, { id }) => {
  const { orderId, asked } = payload.parse(given)
  const { givenUp } = await followOrder(deps, orderId, asked, { kind: 'job', id })
  if (givenUp) throw new GiveUp(givenUp)
}
