import type { Deps } from '../../../platform/deps.ts'
import { addSeconds } from '../../../platform/lib/clock.ts'
import type { OutputOf } from '../../../platform/lib/json/input.ts'
import { type DeliveryResult, deliver, postWebhook } from '../../../platform/outbound/index.ts'
import { findMemberMail, setMemberMailState } from '../../../ticketing/members/index.ts'
import { showPartner, webhookSecret } from '../../../ticketing/partners/index.ts'
import type { RunDeps } from '../../certification/index.ts'
import { bilingualMail, type MailMessage, messageOf, sendMail } from './mail.ts'
import type { Channel, Notification } from './store.ts'
import * as store from './store.ts'

/**
 * One attempt to send the mail with a member's link; does nothing if it was sent, or the link can no longer be used.
 */
export async function sendMemberMail(deps: Deps, linkId: string): Promise<DeliveryResult> {
  const found = await findMemberMail(deps, linkId)
  if (!found) return {}
  const message = await memberMessage(deps, found)
  return deliver(deps, {
    send: () => sendMail(deps, linkId, message),
    markSent: () => setMemberMailState(deps.db, linkId, 'sent'),
    markFailed: (problem, final) => setMemberMailState(deps.db, linkId, final ? 'failed' : 'waiting', problem),
    givenUpAt: found.expiresAt,
  })
}

/** The same for every attempt, except for its date. */
async function memberMessage(
  deps: Deps,
  { linkId, partnerId, purpose, mail, token, expiresAt }: NonNullable<OutputOf<typeof findMemberMail>>,
): Promise<MailMessage> {
  const { config, clock } = deps
  const { name, client_id } = await showPartner(deps, partnerId)
  const values = { partner: name, client: client_id, url: `${config.PUBLIC_URL}/sandbox/join?token=${token}` }
  return bilingualMail(config, {
    ...{ id: linkId, to: { name: '', address: mail }, date: clock.now(), at: expiresAt },
    subject: (t) => t(`sandbox.mail.${purpose}_subject`, values),
    text: (t, time) => t(`sandbox.mail.${purpose}_text`, { ...values, time }),
  })
}

/** A Standard Webhooks body, the same for every attempt. Ids are text: a PartnerId may exceed 2^53. */
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
 * Posts to the contact's webhook, signed with its secret; unsigned if the contact has another URL by now. Throws
 * NotSent.
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

/** One attempt to deliver a notification; does nothing if it was already sent. */
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
