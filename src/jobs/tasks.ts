import type { TaskName } from '../db/jobs-store.ts'
import { pullPricesTask } from './pull-prices.ts'
import { pullProductTask } from './pull-product.ts'
import { purgeCallsTask } from './purge-calls.ts'
import { queryOrderTask } from './query-order.ts'
import { sendNotificationTask } from './send-notification.ts'
import { sendRefundedMessageTask } from './send-refunded-message.ts'
import type { Task } from './task.ts'

/** Every task by the name under which it is queued. */
export const TASKS: Readonly<Record<TaskName, Task>> = {
  'pull-product': pullProductTask,
  'pull-prices': pullPricesTask,
  'query-order': queryOrderTask,
  'send-refunded-message': sendRefundedMessageTask,
  'send-notification': sendNotificationTask,
  'purge-calls': purgeCallsTask,
}

/** What is queued by the time of day, in UTC. */
export const TIMETABLE: readonly { readonly task: TaskName; readonly match: string }[] = [
  { task: 'purge-calls', match: '17 19 * * *' },
]
