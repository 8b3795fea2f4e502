import { isIP } from 'node:net'
import { z } from 'zod'
import { recordAudit } from '../../platform/audit/index.ts'
import { isException } from '../../platform/config/allowed-address.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { DAY_S } from '../../platform/lib/clock.ts'
import { InvalidInput, operation } from '../../platform/lib/json/input.ts'
import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { invalidRequest, tooManyRequests } from '../../platform/lib/web/rescode.ts'
import { isLoopbackHost } from '../../platform/lib/web/web-url.ts'
import type { OutboundDeps } from '../../platform/outbound/index.ts'
import { findWebhookOfApp, oneApp } from '../registry/index.ts'
import { queueSending, tellApp } from './events.ts'
import * as store from './store.ts'

/** What people do about the webhook of an app: developers for their own, operators for any. */

/** Of one app, for all processes: each is a call to an address that somebody has named, and a test is a row as well. */
const RETRIES = { kind: 'webhook retry', most: 30, windowS: 60 }
const TESTS = { kind: 'webhook test', most: 5, windowS: 60 }
const TESTS_A_DAY = { kind: 'webhook test of a day', most: 200, windowS: DAY_S }

function limit({ rateLimiter }: Deps, appKey: string, bounds: readonly (typeof TESTS)[]): void {
  for (const bound of bounds) {
    const { exceeded, endsInMs } = rateLimiter.count(bound, appKey)
    if (exceeded) throw tooManyRequests(Math.ceil(endsInMs / 1_000))
  }
}

async function requireWebhook(deps: Deps, appKey: string): Promise<void> {
  if (!(await findWebhookOfApp(deps, appKey))) throw invalidRequest(localized('no-app-webhook'), { status: 404 })
}

const oneEvent = oneApp.extend({ event_id: z.uuid() })
type OneEvent = z.output<typeof oneEvent>

/** Sends `webhook.test` to the app's webhook, by the queue. Throws 20003 where there were too many. */
export async function testWebhook(deps: Deps, app_key: string): Promise<{ app_key: string }> {
  await requireWebhook(deps, app_key)
  limit(deps, app_key, [TESTS, TESTS_A_DAY])
  return inTransaction(deps, async (inside) => {
    await tellApp(inside, { appKey: app_key, type: 'webhook.test', detail: {} })
    await recordAudit(inside, { event: 'app_webhook_tested', appKey: app_key })
    return { app_key }
  })
}

/** Sends one event again, at once and with the same id, whatever has become of it. Throws 20003 as above. */
export const retryAppEvent = operation(oneEvent, async (deps: Deps, given): Promise<OneEvent> => {
  const { app_key, event_id } = given
  await requireWebhook(deps, app_key)
  limit(deps, app_key, [RETRIES])
  return inTransaction(deps, async (inside, db) => {
    if (!(await store.sendAgain(db, app_key, event_id))) throw invalidRequest(localized('no-event'), { status: 404 })
    await queueSending(db, app_key)
    await recordAudit(inside, { event: 'app_event_retried', appKey: app_key, detail: { event_id } })
    return given
  })
})

/**
 * Refuses an address that a developer may not name: https alone, and nothing that is this machine or its network. What a name
 * leads to is looked at with each call. Operators make exceptions with PARTNER_ADDRESS_ALLOW, for everybody. Throws InvalidInput.
 */
export function checkWebhookUrl({ config, calls: { guard } }: OutboundDeps, text: string): void {
  const url = new URL(text)
  const host = url.hostname.replace(/^\[|\]$|\.$/g, '')
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  const refuse = (problem: LocalizedText) => {
    throw new InvalidInput([{ field: 'webhook_url', problem }])
  }
  if (isIP(host) ? guard.refuses(host, port) : isLoopbackHost(host) && !guard.trusts(host, port))
    refuse(localized('must-be-on-internet'))
  if (guard.refusesPort(port)) refuse(localized('must-have-another-port'))
  if (url.protocol === 'http:' && !isException(config, url)) refuse(localized('must-be-https'))
}
