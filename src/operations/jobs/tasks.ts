import { z } from 'zod'
import { sendAppEvents, tellOfEndingSecrets } from '../../authorization/app-events/index.ts'
import { eraseDue } from '../../authorization/people/index.ts'
import type { TaskName } from '../../platform/db/jobs-store.ts'
import { addSeconds } from '../../platform/lib/clock.ts'
import { int64 } from '../../platform/lib/json/fields.ts'
import { maskedReason } from '../../platform/lib/masked-reason.ts'
import { chosenFunctions } from '../../sandbox/certification/index.ts'
import { sendMemberMail, sendNotification } from '../../sandbox/portal/index.ts'
import { pullDue, queuePulls } from '../../ticketing/catalogue/index.ts'
import { sendPasswordLink } from '../../ticketing/members/index.ts'
import { pollOrder, sendRefundedMessage } from '../../ticketing/orders/index.ts'
import {
  forgottenPasswordTask,
  sendContactCodeTask,
  sendPersonMailTask,
  sendRequestMailTask,
  sendTeamMailTask,
} from './message-tasks.ts'
import { purgeOftenTask, purgeTask } from './purge.ts'
import { GiveUp, type Task } from './task.ts'

/** How long a partner is not called after some calls have failed. */
const PAUSE_S = 10

const ofPartner = z.object({ partnerId: int64() })

/** A partner has said that products or price calendars have changed: some of them are pulled, the rest by the next run. */
const pullDueTask: Task = async (deps, payload, { signal }) => {
  const { partnerId } = ofPartner.parse(payload)
  const { settled, left, failure, problems } = await pullDue(deps, partnerId, {
    signal,
    chosen: await chosenFunctions(deps, partnerId),
  })
  if (problems) throw new GiveUp(problems)
  if (!left) return
  if (failure && settled === 0) throw new Error(failure)
  await queuePulls(deps.db, partnerId, failure ? addSeconds(deps.clock.now(), PAUSE_S) : undefined)
}

const ofOrder = z.object({ orderId: int64(), asked: z.number() })

/** An answer to create or pay was lost or is still to come: the partner is asked until the order is decided. */
const queryOrderTask: Task = async (deps, payload, { id }) => {
  const { orderId, asked } = ofOrder.parse(payload)
  const { givenUp } = await pollOrder(deps, orderId, asked, { kind: 'schedule', ref: id })
  if (givenUp) throw new GiveUp(givenUp)
}

const ofRefund = z.object({
  orderId: int64(),
  refundId: z.string(),
  type: z.literal([1, 2, 3]),
  reason: z.string().optional(),
})

/** The platform has refunded by itself, and its message has not arrived yet. */
const sendRefundedMessageTask: Task = async (deps, payload, { id }) => {
  const failure = await sendRefundedMessage(deps, ofRefund.parse(payload), { kind: 'schedule', ref: id })
  if (failure) throw new Error(`${failure.kind}: ${maskedReason(failure.detail)}`)
}

const ofNotification = z.object({ notificationId: z.string() })

/** Notifies a contact of a partner over one channel that an integration has passed. */
const sendNotificationTask: Task = async (deps, payload) => {
  const { failure, givenUp } = await sendNotification(deps, ofNotification.parse(payload).notificationId)
  if (givenUp) throw new GiveUp(givenUp)
  if (failure) throw new Error(failure)
}

const ofApp = z.object({ appKey: z.string() })

/** An app is told what has happened to its grants. */
const sendAppEventsTask: Task = async (deps, payload, { signal }) => {
  const { failure } = await sendAppEvents(deps, ofApp.parse(payload).appKey, signal)
  if (failure) throw new Error(failure)
}

const ofLink = z.object({ linkId: z.string() })

/** Somebody is invited to a partner, or has forgotten the password. */
const sendMemberMailTask: Task = async (deps, payload) => {
  const { failure, givenUp } = await sendMemberMail(deps, ofLink.parse(payload).linkId)
  if (givenUp) throw new GiveUp(givenUp)
  if (failure) throw new Error(failure)
}

const ofForgotten = z.object({ clientId: z.string(), mail: z.string() })

/** Whether there is such a member is found out here, so that the answer to whoever asked does not tell. */
const memberPasswordTask: Task = (deps, payload) => sendPasswordLink(deps, ofForgotten.parse(payload))

/** People whose time to think is over are erased. */
const eraseDueTask: Task = async (deps, _payload, { log, signal }) => {
  const { erased, failures } = await eraseDue(deps, signal)
  for (const error of failures) log.error({ err: error }, 'an account that is due could not be deleted')
  if (erased > 0) log.info({ erased }, 'accounts were deleted, as their owners had asked')
}

/** Every task by the name under which it is queued. */
export const TASKS: Readonly<Record<TaskName, Task>> = {
  'pull-due': pullDueTask,
  'query-order': queryOrderTask,
  'send-refunded-message': sendRefundedMessageTask,
  purge: purgeTask,
  'purge-often': purgeOftenTask,
  'send-notification': sendNotificationTask,
  'send-member-mail': sendMemberMailTask,
  'send-team-mail': sendTeamMailTask,
  'send-request-mail': sendRequestMailTask,
  'member-password': memberPasswordTask,
  'send-person-mail': sendPersonMailTask,
  'forgotten-password': forgottenPasswordTask,
  'send-contact-code': sendContactCodeTask,
  'send-app-events': sendAppEventsTask,
  'erase-due': eraseDueTask,
  'tell-ending-secrets': (deps, _payload, { signal }) => tellOfEndingSecrets(deps, signal),
}

/** What is queued by the clock, in UTC. */
export const CRON_TASKS: readonly { readonly task: TaskName; readonly match: string }[] = [
  { task: 'purge', match: '17 * * * *' },
  { task: 'erase-due', match: '37 * * * *' },
  { task: 'tell-ending-secrets', match: '47 * * * *' },
  { task: 'purge-often', match: '*/2 * * * *' },
]
