import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { sendAppEvents, tellOfEndingSecrets } from '../../authorization/app-events/index.ts'
import { eraseDue } from '../../authorization/people/index.ts'
import type { TaskName } from '../../platform/db/jobs-store.ts'
import { int64 } from '../../platform/lib/json/fields.ts'
import { maskedReason } from '../../platform/lib/masked-reason.ts'
import { chosenFunctions } from '../../sandbox/certification/index.ts'
import { sendMemberMail, sendNotification } from '../../sandbox/portal/index.ts'
import { pullDue, queuePulls } from '../../ticketing/catalogue/index.ts'
import { sendPasswordLink } from '../../ticketing/members/index.ts'
import { pollOrder, sendRefundedMessage } from '../../ticketing/orders/index.ts'
import { MESSAGE_TASKS } from './message-tasks.ts'
import { purgeOftenTask, purgeTask, refuseClockAhead } from './purge.ts'
import { type Task, task } from './task.ts'

/** How long a partner is left alone after failed calls. */
const PAUSE_S = 10

const pullDueTask = task(z.object({ partnerId: int64() }), async (deps, { partnerId }, { signal }) => {
  const chosen = await chosenFunctions(deps, partnerId)
  const { settled, left, failure, problems } = await pullDue(deps, partnerId, { signal, chosen })
  if (problems || !left) return { givenUp: problems }
  if (failure && settled === 0) return { failure }
  await queuePulls(deps.db, partnerId, failure ? PAUSE_S : 0)
  return {}
})

const openPart = z.object({
  orderId: int64(),
  asked: z.number(),
  about: z.enum(['order', 'refunds']).default('order'),
})

const ofRefund = z.object({
  orderId: int64(),
  refundId: z.string(),
  type: z.literal([1, 2, 3]),
  reason: z.string().optional(),
})

const forgottenPassword = z.object({
  clientId: z.string(),
  mail: z.string(),
  // Absent in jobs that were queued before it was added.
  linkId: z.uuid().default(() => randomUUID()),
})

const eraseDueTask: Task = async (deps, _payload, { log, signal }) => {
  const { erased, failed, failures } = await eraseDue(deps, signal)
  for (const error of failures) log.error({ err: error, failed }, 'an account that is due could not be deleted')
  if (erased > 0) log.info({ erased }, 'accounts were deleted, as their owners had asked')
}

/** A task for what is due by this machine's clock. */
const byClock =
  (work: Task): Task =>
  async (deps, payload, job) => {
    await refuseClockAhead(deps)
    await work(deps, payload, job)
  }

export const TASKS: Readonly<Record<TaskName, Task>> = {
  // A partner has announced changed products or price calendars: pulls some of them, and the next run the rest.
  'pull-due': pullDueTask,
  // An answer about an order was lost or is still to come: asks the partner until it is decided.
  'query-order': task(openPart, (deps, { orderId, ...open }, { id }) =>
    pollOrder(deps, orderId, open, { kind: 'schedule', ref: id }),
  ),
  // Repeats the message that the platform has refunded on its own account.
  'send-refunded-message': task(ofRefund, async (deps, refund, { id }) => {
    const failure = await sendRefundedMessage(deps, refund, { kind: 'schedule', ref: id })
    return { failure: failure && `${failure.kind}: ${maskedReason(failure.detail)}` }
  }),
  purge: byClock(purgeTask),
  'purge-often': byClock(purgeOftenTask),
  // Tells a partner's contact over one channel that an integration has passed.
  'send-notification': task(z.object({ notificationId: z.string() }), (deps, { notificationId }) =>
    sendNotification(deps, notificationId),
  ),
  // An invitation of a partner's member, or the link for a forgotten password.
  'send-member-mail': task(z.object({ linkId: z.string() }), (deps, { linkId }) => sendMemberMail(deps, linkId)),
  // Looks the member up here, so that the response to the request does not reveal whether there is one.
  'member-password': task(forgottenPassword, async (deps, forgotten) => {
    await sendPasswordLink(deps, forgotten)
    return {}
  }),
  // Tells an app what has happened to its grants.
  'send-app-events': task(z.object({ appKey: z.string() }), (deps, { appKey }, { signal }) =>
    sendAppEvents(deps, appKey, signal),
  ),
  'erase-due': byClock(eraseDueTask),
  'tell-ending-secrets': byClock((deps, _payload, { signal }) => tellOfEndingSecrets(deps, signal)),
  ...MESSAGE_TASKS,
}

/** Recurring tasks, in UTC. */
export const CRON_TASKS: readonly { readonly task: TaskName; readonly match: string }[] = [
  { task: 'purge', match: '17 * * * *' },
  { task: 'erase-due', match: '37 * * * *' },
  { task: 'tell-ending-secrets', match: '47 * * * *' },
  { task: 'purge-often', match: '*/2 * * * *' },
]
