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

/** Manual actions on an app's webhook, by its developers or by operators. */

/** Per app, across all processes: each call goes to an address that a developer chose, and a test adds a row. */
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

/** Queues a `webhook.test` event for the app, to be sent at once. Throws 20003 if there were too many. */
export async function testWebhook(deps: Deps, app_key: string): Promise<{ app_key: string }> {
  await requireWebhook(deps, app_key)
  limit(deps, app_key, [TESTS, TESTS_A_DAY])
  return inTransaction(deps, async (inside) => {
    await tellApp(inside, { appKey: app_key, type: 'webhook.test', detail: {} })
    await queueSending(inside.db, app_key)
    await recordAudit(inside, { event: 'app_webhook_tested', appKey: app_key })
    return { app_key }
  })
}

/** Sends an event again at once, with the same id, whether or not it arrived before. Throws 20003 if there were too many. */
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
 * A developer's webhook: https only, and not this machine or its network; what a host name resolves to is checked with each
 * call. Operators allow exceptions, for everybody, by PARTNER_ADDRESS_ALLOW. Throws InvalidInput.
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
