import type { TaskName } from '../db/jobs-store.ts'
import { pullDueTask, pullOneTask } from './pull-due.ts'
import { purgeTask } from './purge.ts'
import { queryOrderTask } from './query-order.ts'
import { sendNotificationTask } from './send-notification.ts'
import { sendRefundedMessageTask } from './send-refunded-message.ts'
import type { Task } from './task.ts'

/** Every task by the name under which it is queued. */
export const TASKS: Readonly<Record<TaskName, Task>> = {
  'pull-due': pullDueTask,
  'pull-product': pullOneTask(2),
  'pull-prices': pullOneTask(5),
  'query-order': queryOrderTask,
  'send-refunded-message': sendRefundedMessageTask,
  purge: purgeTask,
  'send-notification': sendNotificationTask,
}

/** What is queued by the time of day, in UTC. */
export const TIMETABLE: readonly { readonly task: TaskName; readonly match: string }[] = [
  { task: 'purge', match: '17 * * * *' },
]
