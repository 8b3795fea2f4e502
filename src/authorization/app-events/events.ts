import { randomUUID } from 'node:crypto'
import { isIP } from 'node:net'
import { z } from 'zod'
import { recordAudit } from '../../platform/audit/index.ts'
import { isException } from '../../platform/config/allowed-address.ts'
import { type EnqueueOptions, enqueue } from '../../platform/db/jobs-store.ts'
import { type Deps, inTransaction } from '../../platform/deps.ts'
import { addSeconds, DAY_S } from '../../platform/lib/clock.ts'
import { sha256 } from '../../platform/lib/crypto/digest.ts'
import { InvalidInput, operation } from '../../platform/lib/json/input.ts'
import { type LocalizedText, localized } from '../../platform/lib/localized-text.ts'
import { subjectOf } from '../../platform/lib/subject.ts'
import { invalidRequest, tooManyRequests } from '../../platform/lib/web/rescode.ts'
import { isLoopbackHost } from '../../platform/lib/web/web-url.ts'
import {
  type DeliveryResult,
  deliver,
  NotSent,
  type OutboundDeps,
  postWebhook,
  WEBHOOK_PROBLEMS,
} from '../../platform/outbound/index.ts'
import { findWebhookOfApp, oneApp, showMicroApp, takeEndingSecrets, type WebhookOfApp } from '../registry/index.ts'
import * as store from './store.ts'
import { type AppEvent, type AppNews, appEventFilter, type EndedAccess } from './wire.ts'

const GIVE_UP_AFTER_S = 3 * DAY_S
/** Never reached: attempts are ten minutes apart at most, and an event is given up after three days. */
const MAX_ATTEMPTS = 10_000
const BATCH = 50
/** After this many failed calls a job ends. */
const MAX_FAILURES = 3
/** How long a webhook that is down is left alone: a tenth of the time for which an event has waited. */
const PAUSE = { shareOfWait: 0.1, leastS: 5, mostS: 600 }
/** How long a job sends before it makes way for others. */
const TURN_S = 20
/** How many workers send at the same time at most: slow apps leave the others to jobs that people and partners wait for. */
const QUEUES = 2

/**
 * Queues the event in the caller's transaction, unless the app has no webhook. An app has one job at a time, which sends
 * only for a short while, so a slow or unreachable webhook delays others little.
 */
export async function tellOfEndedAccess({ db, clock }: Deps, ended: EndedAccess): Promise<void> {
  if (await store.insertEnded(db, randomUUID(), ended, clock.now())) await queueNews(db, ended.appKey)
}

/** Queues, like the above, an event about the app itself. */
export async function tellApp({ db, clock }: Deps, news: AppNews): Promise<void> {
  if (await store.insertNews(db, randomUUID(), news, clock.now())) await queueNews(db, news.appKey)
}

/** Sends at once; by `options` later. */
const queueSending = (
  db: Deps['db'],
  appKey: string,
  options: Pick<EnqueueOptions, 'afterS' | 'keepsTime'> = {},
): Promise<number> => {
  const key = `send-app-events:${appKey}`
  const queue = `send-app-events:${sha256(appKey).readUInt8() % QUEUES}`
  return enqueue(db, 'send-app-events', { appKey }, { key, queue, maxAttempts: MAX_ATTEMPTS, ...options })
}

/** New events wait while their webhook is left alone: a busy app whose webhook is down would else take a queue for itself. */
const queueNews = (db: Deps['db'], appKey: string): Promise<number> => queueSending(db, appKey, { keepsTime: true })

function dataOf({ app_key, cid, user_id, reason, all_ended, detail }: AppEvent): object {
  if (cid === null || user_id === null) return { app_key, ...detail }
  return { app_key, cid, user_id, sub: subjectOf({ cid, userId: user_id }), reason, all_ended }
}

/** The same for every attempt, like the id. */
const bodyOf = (event: AppEvent): string =>
  JSON.stringify({ type: event.type, timestamp: event.created_at, data: dataOf(event) })

/** Sends the waiting events of one app. `failure`: why some are still waiting, for operators. */
export async function sendAppEvents(
  deps: OutboundDeps,
  appKey: string,
  signal: AbortSignal,
): Promise<{ readonly failure?: string }> {
  const webhook = await findWebhookOfApp(deps, appKey)
  const waiting = await store.waitingEvents(deps.db, appKey, BATCH)
  const end = addSeconds(deps.clock.now(), TURN_S)
  const isOver = () => signal.aborted || deps.clock.now() >= end
  let failedCalls = 0
  let isUp = false
  let failure: string | undefined
  for (const event of waiting) {
    if (isOver()) break
    const sent = await sendOne(deps, webhook, event)
    failure = sent.failure ?? failure
    isUp ||= sent.isUp
    if (sent.failure || sent.givenUp) failedCalls++
    if (failedCalls === MAX_FAILURES) break
  }
  const isCutShort = isOver() || failedCalls === MAX_FAILURES
  if (isCutShort && failedCalls > 0 && !isUp)
    await queueSending(deps.db, appKey, { afterS: pauseAfter(waiting, deps.clock.now()) })
  else if (!failure && (isCutShort || waiting.length === BATCH)) await queueSending(deps.db, appKey)
  return failure ? { failure } : {}
}

function pauseAfter(waiting: readonly AppEvent[], now: Date): number {
  const waitedMs = Math.max(...waiting.map(({ created_at }) => now.getTime() - created_at.getTime()))
  return Math.min(PAUSE.mostS, Math.max(PAUSE.leastS, (PAUSE.shareOfWait * waitedMs) / 1_000))
}

/** `isUp`: the app accepted this event, or refused it, which says nothing about the others. */
async function sendOne(
  deps: OutboundDeps,
  webhook: WebhookOfApp | undefined,
  event: AppEvent,
): Promise<DeliveryResult & { readonly isUp: boolean }> {
  let answered: number | null = null
  let isUp = false
  const result = await deliver(deps, {
    send: async () => {
      if (!webhook) throw new NotSent(WEBHOOK_PROBLEMS.none, 'webhook: none', { outcome: 'refused' })
      answered = await postWebhook(deps, { ...webhook, id: event.event_id, body: bodyOf(event) })
      isUp = true
    },
    markSent: () => store.markSent(deps.db, event, answered, deps.clock.now()),
    markFailed: (error, final, status) => {
      isUp = status !== null && status < 500 && status !== 429
      return store.markFailure(deps.db, event, { error, status, state: final ? 'failed' : 'waiting' })
    },
    givenUpAt: addSeconds(event.created_at, GIVE_UP_AFTER_S),
  })
  return { ...result, isUp }
}

/** A page of an app's events, newest first. Throws 20007 (404) for an unknown app. */
export const listAppEvents = operation(appEventFilter, async (deps: Deps, { app_key, ...page }) => {
  await showMicroApp(deps, app_key)
  const { rows, next } = await store.eventsOfApp(deps.db, app_key, page)
  return { events: rows.map(({ routing_key: _, ...event }) => event), next }
})

const NOTICE_S = 7 * DAY_S
const SECRETS_AT_ONCE = 100

/** Notifies each app whose secret ends within a week, once per secret. */
export async function tellOfEndingSecrets(deps: Deps, signal: AbortSignal): Promise<void> {
  for (let taken = SECRETS_AT_ONCE; taken === SECRETS_AT_ONCE && !signal.aborted; ) {
    const now = deps.clock.now()
    taken = await inTransaction(deps, async (inside, db) => {
      const found = await takeEndingSecrets(db, { now, until: addSeconds(now, NOTICE_S), limit: SECRETS_AT_ONCE })
      for (const { app_key, created_at, ends_at } of found) {
        const detail = { created_at: created_at.toISOString(), ends_at: ends_at.toISOString() }
        await tellApp(inside, { appKey: app_key, type: 'secret.expiring', detail })
      }
      return found.length
    })
  }
}

// ---- by hand: what developers and operators do with an app's webhook

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

/** Sends an event again at once, with the same id, even if it has arrived. Throws 20003 if there were too many. */
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
 * A developer's webhook: https only, and not this machine or its network; what a host name resolves to is checked with
 * each call. Operators allow exceptions, for everybody, by PARTNER_ADDRESS_ALLOW. Throws InvalidInput.
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
