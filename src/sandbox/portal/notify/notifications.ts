import { randomUUID } from 'node:crypto'
import type { Config } from '../../../platform/config/index.ts'
import { enqueue, findJobsByKey, type Job, rescheduleJob } from '../../../platform/db/jobs-store.ts'
import type { Db } from '../../../platform/db/sql.ts'
import { type Deps, inTransaction } from '../../../platform/deps.ts'
import { addSeconds } from '../../../platform/lib/clock.ts'
import type { OutputOf } from '../../../platform/lib/json/input.ts'
import { maskedMail } from '../../../platform/lib/web/admin-auth.ts'
import { maskedWebhook } from '../../../platform/lib/web/web-url.ts'
import { type DeliveryResult, deliver, postWebhook } from '../../../platform/outbound/index.ts'
import { findMemberMail, setMemberMailState } from '../../../ticketing/members/index.ts'
import { CONTACT_ROLES, showPartner, webhookSecret } from '../../../ticketing/partners/index.ts'
import { checkAcceptance, type RunDeps } from '../../certification/index.ts'
import { bilingualMail, folderOfUnsent, type MailMessage, messageOf, sendMail } from './mail.ts'
import type { Channel, Notification } from './store.ts'
import * as store from './store.ts'

/** Anybody who knows the URL can read and verify the report. */
export const reportUrl = ({ config }: { readonly config: Pick<Config, 'PUBLIC_URL'> }, reportId: string): string =>
  `${config.PUBLIC_URL}/sandbox/verify/${reportId}`

/**
 * The acceptance check. For the partner's first accepted run it notifies the contacts, in the same transaction. They
 * arrange going live only once, so later runs do not notify them again.
 */
export const acceptRun = (deps: Deps, partnerId: bigint, runId: string): Promise<OutputOf<typeof checkAcceptance>> =>
  inTransaction(deps, async (inside) => {
    const acceptance = await checkAcceptance(inside, partnerId, runId)
    if (acceptance.justPassed?.isFirst) {
      const { reportId, isFirst: _, ...passed } = acceptance.justPassed
      await notifyContacts(inside, { ...passed, reportUrl: reportUrl(deps, reportId) })
    }
    return acceptance
  })

/** An accepted run and the public URL of its report. */
export interface Passed {
  readonly runId: string
  readonly partnerId: bigint
  readonly runNumber: number
  readonly passedAt: Date
  readonly reportUrl: string
}

/**
 * Notifies the partner's product and business contacts that this run was accepted: by mail, and by webhook if they have
 * one. Messages are queued in the caller's transaction, and once per run, however often this is called. Returns how
 * many were queued now. Somebody who is both contacts gets both messages.
 */
export const notifyContacts = (deps: Deps, { runId, partnerId, ...passed }: Passed): Promise<number> =>
  inTransaction(deps, async (inside, db) => {
    const partner = await showPartner(inside, partnerId)
    const facts = {
      partnerName: partner.name,
      runNumber: passed.runNumber,
      passedAt: passed.passedAt,
      reportUrl: passed.reportUrl,
    }
    let queued = 0
    // In a fixed order, so that simultaneous callers wait at the first row instead of deadlocking.
    for (const role of CONTACT_ROLES) {
      const contact = partner.contacts[role]
      if (!contact) continue
      const ways = { mail: contact.mail, webhook: contact.webhook_url }
      for (const [channel, address] of Object.entries(ways) as ['mail' | 'webhook', string | null][]) {
        if (address === null) continue
        const notification_id = randomUUID()
        const to = { notification_id, run_id: runId, partner_id: partnerId, role, channel, name: contact.name, address }
        if (!(await store.insertNotification(db, { ...to, facts }, deps.clock.now()))) continue
        await queueSending(db, notification_id)
        queued++
      }
    }
    return queued
  })

export type Notifications = Awaited<ReturnType<typeof notificationsOf>>

/** The notifications of a run and their delivery; none before it is accepted. */
export async function notificationsOf(deps: Deps, runId: string) {
  const rows = await store.listNotifications(deps.db, runId)
  const jobs = await sendingJobs(
    deps.db,
    rows.map(({ notification_id }) => notification_id),
  )
  return {
    /** Where mails are written while SMTP_URL is not set. */
    folder: folderOfUnsent(deps.config),
    notifications: rows.map((notification) => {
      const { notification_id, role, channel, state, attempts, last_error, created_at, sent_at } = notification
      const job = jobs.get(notification_id)
      return {
        ...{ notification_id, role, channel, state, attempts, last_error, created_at, sent_at },
        address: masked(notification),
        /** Null while it is being sent, and once it is sent or given up. A time in the past means: at once. */
        next_attempt_at: state === 'waiting' && job?.state === 'waiting' ? job.run_at : null,
      }
    }),
  }
}

/** Retries a waiting or given-up message now. False if this run has no such message, or it was delivered. */
export const retryNotification = (deps: Deps, runId: string, notificationId: string): Promise<boolean> =>
  inTransaction(deps, async (inside, db) => {
    const state = await store.lockUnsent(db, runId, notificationId)
    if (state === undefined) return false
    if (state === 'failed') await store.waitAgain(db, notificationId, deps.clock.now())
    await sendNow(inside, notificationId, state === 'failed')
    return true
  })

/** Enough to recognise the address. */
const masked = ({ channel, address }: Notification): string =>
  channel === 'webhook' ? maskedWebhook(address) : maskedMail(address)

// Never reached: retries are at most ten minutes apart, and given up after a day.
const MAX_ATTEMPTS = 1_000

const keyOf = (notificationId: string): string => `send-notification:${notificationId}`

const queueSending = (db: Db, notificationId: string): Promise<number> =>
  enqueue(db, 'send-notification', { notificationId }, { key: keyOf(notificationId), maxAttempts: MAX_ATTEMPTS })

/**
 * Queues an attempt for now. A running attempt is left alone, unless it `isOver`: then its job has merely not been
 * released yet, and the queue replaces it.
 */
async function sendNow({ db }: Deps, notificationId: string, isOver: boolean): Promise<void> {
  const [job] = await findJobsByKey(db, [keyOf(notificationId)])
  if (job === undefined || (job.state === 'running' && isOver)) await queueSending(db, notificationId)
  else await rescheduleJob(db, job.job_id, 0, 0)
}

async function sendingJobs(db: Db, notificationIds: readonly string[]): Promise<Map<string, Job>> {
  const jobs = await findJobsByKey(db, notificationIds.map(keyOf))
  return new Map(jobs.map((job) => [String(job.key).slice(keyOf('').length), job]))
}

/** One attempt to send the mail with a member's link, unless it was sent or the link can no longer be used. */
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

/** Signed with the webhook's secret; unsigned if the contact has another URL by now. Throws NotSent. */
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
