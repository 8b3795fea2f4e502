import { postWebhook } from '../../../platform/outbound/index.ts'
import { webhookSecret } from '../../../ticketing/partners/index.ts'
import type { RunDeps } from '../../certification/index.ts'
import type { Notification } from './wire.ts'

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
export async function callWebhook(deps: RunDeps, notification: Notification): Promise<void> {
  const { notification_id: id, partner_id: partnerId, role, address: url } = notification
  const secret = await webhookSecret(deps, { partnerId, role, url })
  await postWebhook(deps, { url, id, body: bodyOf(notification), secrets: secret ? [secret] : [] })
}
