import { addSeconds } from '../../../platform/lib/clock.ts'
import { type DeliveryResult, deliver } from '../../../platform/outbound/index.ts'
import type { RunDeps } from '../../certification/index.ts'
import { sendMail } from './mail.ts'
import { messageOf } from './mail-message.ts'
import * as store from './store.ts'
import { callWebhook } from './webhook.ts'
import type { Channel, Notification } from './wire.ts'

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
