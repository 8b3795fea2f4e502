import { addSeconds } from '../../../platform/lib/clock.ts'
import { type DeliveryResult, deliver, postWebhook } from '../../../platform/outbound/index.ts'
import { webhookSecret } from '../../../ticketing/partners/index.ts'
import type { RunDeps } from '../../certification/index.ts'
import { sendMail } from './mail.ts'
import { messageOf } from './mail-message.ts'
import * as store from './store.ts'
import type { Channel, Notification } from './wire.ts'

/**
 * The body, as Standard Webhooks has it (type, timestamp, data). The same for every attempt; ids are text, because a
 * PartnerId may exceed 2^53.
 */
const bodyOf = ({ run_id, partner_id, role, facts }: Notification): string =>
  JSON.stringify({
    type: 'sandbox.run.passed',
    timestamp: facts.passedAt,
    data: {
      partnerId: String(partner_id),
      runId: run_id,
      runNumber: facts.runNumber,
      passedAt: facts.passedAt,
      reportUrl: facts.reportUrl,
      role,
    },
  })

/**
 * Posts the message to the contact's webhook, signed with the secret of that webhook; unsigned where the contact has another
 * one by now. Throws NotSent.
 */
async function callWebhook(deps: RunDeps, notification: Notification): Promise<void> {
  const { notification_id: id, partner_id: partnerId, role, address: url } = notification
  const secret = await webhookSecret(deps, { partnerId, role, url })
  await postWebhook(deps, { url, id, body: bodyOf(notification), secrets: secret ? [secret] : [] })
}

const GIVEN_UP_AFTER_S = 86_400

const CHANNELS: Readonly<Record<Channel, (deps: RunDeps, notification: Notification) => Promise<void>>> = {
  mail: (deps, notification) => sendMail(deps, notification.notification_id, messageOf(deps.config, notification)),
  webhook: callWebhook,
}

/** One attempt at a notification; nothing when it has been sent already. */
export async function sendNotification(deps: RunDeps, notificationId: string): Promise<DeliveryResult> {
  const notification = await store.beginAttempt(deps.db, notificationId)
  if (!notification) return {}
  return deliver(deps, {
    send: () => CHANNELS[notification.channel](deps, notification),
    markSent: () => store.markSent(deps.db, notificationId, deps.clock.now()),
    markFailed: (problem, final) => store.markFailure(deps.db, notificationId, problem, final ? 'failed' : 'waiting'),
    givenUpAt: addSeconds(notification.waiting_since, GIVEN_UP_AFTER_S),
  })
}
