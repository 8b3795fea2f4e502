import type { Deps } from '../../../platform/deps.ts'
import { folderOfUnsent } from './mail.ts'
import { sendingJobs, sendNow } from './queue.ts'
import * as store from './store.ts'
import type { Notification } from './wire.ts'

/** A notification as a page shows it. */
export interface ShownNotification
  extends Pick<
    Notification,
    'notification_id' | 'role' | 'channel' | 'state' | 'attempts' | 'last_error' | 'created_at' | 'sent_at'
  > {
  /** Masks an address to `l***@example.com` or `https://example.com/…`: enough to recognise it. */
  readonly address: string
  /** Null when it is being sent right now, and once it is sent or given up. A time that has passed means: at once. */
  readonly next_attempt_at: Date | null
}

export interface Notifications {
  /** Where mails are written while there is no SMTP_URL. */
  readonly folder: string | null
  readonly notifications: readonly ShownNotification[]
}

/** The notifications of a run and their delivery; none for a run that has not passed. */
export async function notificationsOf(deps: Deps, runId: string): Promise<Notifications> {
  const rows = await store.listNotifications(deps.db, runId)
  const jobs = await sendingJobs(
    deps.db,
    rows.map(({ notification_id }) => notification_id),
  )
  return {
    folder: folderOfUnsent(deps.config),
    notifications: rows.map((notification) => {
      const job = jobs.get(notification.notification_id)
      const { notification_id, role, channel, state, attempts, last_error, created_at, sent_at } = notification
      const shown = { notification_id, role, channel, state, attempts, last_error, created_at, sent_at }
      const next = state === 'waiting' && job?.state === 'waiting' ? job.run_at : null
      return { ...shown, address: masked(notification), next_attempt_at: next }
    }),
  }
}

/**
 * Sends a message that waits now instead of later, or one that was given up again. False when there is no such message
 * in this run, or it has been delivered.
 */
export const retryNotification = (deps: Deps, runId: string, notificationId: string): Promise<boolean> =>
  deps.db.tx(async (db) => {
    const state = await store.lockUnsent(db, runId, notificationId)
    if (state === undefined) return false
    if (state === 'failed') await store.waitAgain(db, notificationId, deps.clock.now())
    await sendNow({ ...deps, db }, notificationId, state === 'failed')
    return true
  })

function masked({ channel, address }: Notification): string {
  // Webhook addresses often hold a secret, in the path as well as in the query.
  if (channel === 'webhook') return `${new URL(address).origin}/…`
  const at = address.lastIndexOf('@')
  return `${address.slice(0, 1)}***${address.slice(at)}`
}
