import { PARTNER_LIMITS } from '../config/call-limits.ts'
import { epochSeconds } from '../lib/clock.ts'
import type { OutboundDeps } from './address-guard.ts'
import type { CallFailure } from './call-failure.ts'
import { NotSent } from './delivery.ts'
import { HttpCallError, post } from './http-call.ts'

/** `bytes`: as much of the response body is read before the connection is closed. */
const LIMITS = { ...PARTNER_LIMITS, bytes: 65_536 }

/** What the receiver learns of a failure: nothing that reveals names or addresses of our network. */
export const WEBHOOK_PROBLEMS = {
  unreachable: 'the webhook cannot be reached',
  tls: 'could not establish TLS with the webhook',
  timeout: 'the webhook did not respond in time',
  'too-large': 'the response of the webhook is too large',
  broken: 'the webhook gave no complete HTTP response',
  none: 'the app has no webhook any more',
}

const problemOf = (failure: CallFailure): string =>
  WEBHOOK_PROBLEMS[failure === 'address' || failure === 'dns' || failure === 'connect' ? 'unreachable' : failure]

export interface WebhookMessage {
  readonly url: string
  /** The same for every attempt, like the body, so that receivers can deduplicate. */
  readonly id: string
  /** JSON. */
  readonly body: string
  /** `whsec_…`, newest first; unsigned if there is none. */
  readonly secrets: readonly string[]
}

/** Posts a message signed as in Standard Webhooks. Any 2xx is delivered, and its status returned. Throws NotSent. */
export async function postWebhook(
  { clock, calls }: Pick<OutboundDeps, 'clock' | 'calls'>,
  { url, id, body, secrets }: WebhookMessage,
): Promise<number> {
  const { Webhook } = await import('standardwebhooks') // loaded with the first webhook
  const now = clock.now()
  const signatures = secrets.map((secret) => new Webhook(secret).sign(id, now, body))
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'webhook-id': id,
    'webhook-timestamp': String(epochSeconds(now)),
    ...(signatures.length > 0 ? { 'webhook-signature': signatures.join(' ') } : {}),
  }
  const status = await post({ url, headers, body, statusOnly: true }, calls.guard, LIMITS).then(
    (answer) => answer.status,
    (error: unknown) => {
      if (!(error instanceof HttpCallError)) throw error
      throw new NotSent(problemOf(error.failure), `webhook: ${error.message}`)
    },
  )
  if (status < 200 || status > 299)
    throw new NotSent(`the webhook responded with HTTP status ${status}`, `webhook: HTTP status ${status}`, { status })
  return status
}
