import { setTimeout as sleep } from 'node:timers/promises'
import type { Deps } from '../../deps.ts'
import { addSeconds } from '../../lib/clock.ts'
import { sendMail } from './mail.ts'
import * as store from './store.ts'
import { callWebhook } from './webhook.ts'
import { type Channel, type Notification, NotSent } from './wire.ts'

const GIVEN_UP_AFTER_S = 86_400
const RECORD_TRIES = 60
const RECORD_PAUSE_MS = 1_000

const CHANNELS: Readonly<Record<Channel, (deps: Deps, notification: Notification) => Promise<void>>> = {
  mail: sendMail,
  webhook: callWebhook,
}

/**
 * One attempt at a notification; nothing when it has been sent already. `failure`: worth another attempt; `givenUp`: not,
 * because it was refused for good or a day is over. Both are for the operator and hold no secret.
 *
 * At least once: a process that dies after the server has accepted a message and before `markSent` has committed sends
 * it again, with the same Message-ID or webhook-id, by which the receiver can tell. Nothing is done between these two,
 * and a database that is away just then is waited for.
 */
export async function sendNotification(
  deps: Deps,
  notificationId: string,
): Promise<{ failure?: string; givenUp?: string }> {
  const notification = await store.beginAttempt(deps.db, notificationId)
  if (!notification) return {}
  deps.assertMayCall?.()
  try {
    await CHANNELS[notification.channel](deps, notification)
  } catch (error) {
    return settleFailure(deps, notification, error)
  }
  await persistently(() => store.markSent(deps.db, notificationId, deps.clock.now()))
  return {}
}

async function settleFailure(deps: Deps, { notification_id, waiting_since }: Notification, error: unknown) {
  const known = error instanceof NotSent
  const [message, detail] = known ? [error.message, error.detail] : ['an error of the platform', String(error)]
  const overdue = deps.clock.now() >= addSeconds(waiting_since, GIVEN_UP_AFTER_S)
  const final = overdue || (known && error.permanent)
  await store.markFailure(deps.db, notification_id, message, final ? 'failed' : 'waiting')
  return final ? { givenUp: detail } : { failure: detail }
}

async function persistently(work: () => Promise<unknown>): Promise<void> {
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
