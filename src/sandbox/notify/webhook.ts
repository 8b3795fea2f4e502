import { PARTNER_LIMITS } from '../../config/call-limits.ts'
import type { Deps } from '../../deps.ts'
import { epochSeconds } from '../../lib/clock.ts'
import { type CallFailure, HttpCallError, post } from '../../outbound/index.ts'
import { webhookSecret } from '../../partners/index.ts'
import { type Notification, NotSent } from './wire.ts'

/** Nobody reads the answer. */
const LIMITS = { ...PARTNER_LIMITS, bytes: 65_536 }

const UNREACHABLE = 'the webhook cannot be reached'
const PUBLIC: Readonly<Record<CallFailure, string>> = {
  address: UNREACHABLE,
  dns: UNREACHABLE,
  connect: UNREACHABLE,
  tls: 'could not establish TLS with the webhook',
  timeout: 'the webhook did not respond in time',
  'too-large': 'the response of the webhook is larger than 64 KiB',
  broken: 'the webhook closed the connection',
}

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
 * Posts the message to the contact's webhook, signed as Standard Webhooks (standardwebhooks.com) has it, with the secret of
 * that webhook. One from before these secrets is called unsigned until an operator makes one: a receiver that verifies
 * refuses that, and the message is tried again. Delivered when the answer is 2xx. Throws NotSent.
 */
export async function callWebhook(deps: Deps, notification: Notification): Promise<void> {
  const { partner_id: partnerId, role, address: url } = notification
  const secret = await webhookSecret(deps, { partnerId, role, url })
  const body = bodyOf(notification)
  const id = notification.notification_id
  const { Webhook } = await import('standardwebhooks') // with the first of them
  const now = deps.clock.now()
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'webhook-id': id,
    'webhook-timestamp': String(epochSeconds(now)),
    ...(secret ? { 'webhook-signature': new Webhook(secret).sign(id, now, body) } : {}),
  }
  const status = await post({ url: notification.address, headers, body }, deps.calls.guard, LIMITS).then(
    (answer) => answer.status,
    (error: unknown) => {
      if (!(error instanceof HttpCallError)) throw error
      throw new NotSent(PUBLIC[error.failure], `webhook: ${error.message}`)
    },
  )
  if (status < 200 || status > 299)
    throw new NotSent(`the webhook responded with HTTP status ${status}`, `webhook: HTTP status ${status}`)
}
