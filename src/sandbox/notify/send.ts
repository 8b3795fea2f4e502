import { setTimeout as sleep } from 'node:timers/promises'
import type { Deps } from '../../deps.ts'
import { addSeconds } from '../../lib/clock.ts'
import { sendMail } from './mail.ts'
import { messageOf } from './mail-message.ts'
import * as store from './store.ts'
import { callWebhook } from './webhook.ts'
import { type Channel, type Notification, NotSent } from './wire.ts'

const GIVEN_UP_AFTER_S = 86_400
const RECORD_TRIES = 60
const RECORD_PAUSE_MS = 1_000

const CHANNELS: Readonly<Record<Channel, (deps: Deps, notification: Notification) => Promise<void>>> = {
  mail: (deps, notification) => sendMail(deps, notification.notification_id, messageOf(deps.config, notification)),
  webhook: callWebhook,
}

/** What came of an attempt, for the operator. Neither holds a secret. */
export interface DeliveryResult {
  /** Worth another attempt. */
  failure?: string
  /** Not: it was refused for good, or its time is over. */
  givenUp?: string
}

interface Delivery {
  send(): Promise<void>
  markSent(): Promise<unknown>
  /** `problem` is for the partner to read. */
  markFailed(problem: string, final: boolean): Promise<unknown>
  readonly givenUpAt: Date
}

/**
 * One attempt to send a message.
 *
 * At least once: a process that dies after the server has accepted a message and before `markSent` has committed sends
 * it again, with the same Message-ID or webhook-id, by which the receiver can tell. Nothing is done between these two,
 * and a database that is away just then is waited for.
 */
export async function deliver(
  deps: Deps,
  { send, markSent, markFailed, givenUpAt }: Delivery,
): Promise<DeliveryResult> {
  deps.assertLeaseHeld?.()
  try {
    await send()
  } catch (error) {
    const known = error instanceof NotSent
    const [problem, detail] = known ? [error.message, error.detail] : ['an error of the platform', String(error)]
    const final = deps.clock.now() >= givenUpAt || (known && error.permanent)
    await markFailed(problem, final)
    return final ? { givenUp: detail } : { failure: detail }
  }
  await retryUntilStored(markSent)
  return {}
}

/** One attempt at a notification; nothing when it has been sent already. */
export async function sendNotification(deps: Deps, notificationId: string): Promise<DeliveryResult> {
  const notification = await store.beginAttempt(deps.db, notificationId)
  if (!notification) return {}
  return deliver(deps, {
    send: () => CHANNELS[notification.channel](deps, notification),
    markSent: () => store.markSent(deps.db, notificationId, deps.clock.now()),
    markFailed: (problem, final) => store.markFailure(deps.db, notificationId, problem, final ? 'failed' : 'waiting'),
    givenUpAt: addSeconds(notification.waiting_since, GIVEN_UP_AFTER_S),
  })
}

async function retryUntilStored(work: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await work()
      return
    } catch (error) {
      if (tries === RECORD_TRIES) throw error
      await sleep(RECORD_PAUSE_MS)
    }
  }
}
