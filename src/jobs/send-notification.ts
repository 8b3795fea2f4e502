import { z } from 'zod'
import { sendNotification } from '../sandbox/notify/send.ts'
import { GiveUp, type Task } from './task.ts'

const payload = z.object({ notificationId: z.string() })

/** An integration has passed, and a contact of the partner's is to be told over one channel. */
export const sendNotificationTask: Task = async (deps, given) => {
  const { failure, givenUp } = await sendNotification(deps, payload.parse(given).notificationId)
  if (givenUp) throw new GiveUp(givenUp)
  if (failure) throw new Error(failure)
}
