import { z } from 'zod'
import { columnsOf } from '../../../platform/db/record-fields.ts'
import { type Db, sql } from '../../../platform/db/sql.ts'
import { CONTACT_ROLES } from '../../../ticketing/partners/index.ts'

const CHANNELS = ['mail', 'webhook'] as const
export type Channel = (typeof CHANNELS)[number]

/** The contents of every message about a run. */
const facts = z.object({
  partnerName: z.string(),
  runNumber: z.number(),
  passedAt: z.coerce.date(), // ISO 8601 in JSON
  reportUrl: z.string(),
})

const notification = z.object({
  notification_id: z.string(),
  run_id: z.string(),
  partner_id: z.coerce.bigint(), // pg gives it as text
  role: z.enum(CONTACT_ROLES),
  channel: z.enum(CHANNELS),
  name: z.string(),
  /** A mail address, or the webhook's URL. */
  address: z.string(),
  facts,
  /** `failed`: given up until somebody asks for a retry. */
  state: z.enum(['waiting', 'sent', 'failed']),
  attempts: z.number(),
  last_error: z.string().nullable(),
  created_at: z.date(),
  waiting_since: z.date(),
  sent_at: z.date().nullable(),
})
export type Notification = z.output<typeof notification>

export type NewNotification = Pick<
  Notification,
  'notification_id' | 'run_id' | 'partner_id' | 'role' | 'channel' | 'name' | 'address' | 'facts'
>

const COLUMNS = columnsOf(Object.keys(notification.shape))

/** False if this contact already has a notification by that channel. Waits for a simultaneous insert to commit. */
export const insertNotification = async (db: Db, given: NewNotification, now: Date): Promise<boolean> =>
  (await db.exec(
    sql`insert into sandbox_notification
          (notification_id, run_id, partner_id, role, channel, name, address, facts, state, created_at, waiting_since)
        values (${given.notification_id}, ${given.run_id}, ${given.partner_id}, ${given.role}, ${given.channel},
          ${given.name}, ${given.address}, ${JSON.stringify(given.facts)}, 'waiting', ${now}, ${now})
        on conflict (run_id, role, channel) do nothing`,
  )) === 1

export const listNotifications = (db: Db, runId: string): Promise<Notification[]> =>
  db.many(
    notification,
    sql`select ${COLUMNS} from sandbox_notification where run_id = ${runId} order by role desc, channel`,
  )

/** Counts the attempt; undefined if the message was already sent, or its run is gone. */
export const beginAttempt = (db: Db, notificationId: string): Promise<Notification | undefined> =>
  db.maybe(
    notification,
    sql`update sandbox_notification set attempts = attempts + 1, state = 'waiting'
        where notification_id = ${notificationId} and state <> 'sent'
        returning ${COLUMNS}`,
  )

export const markSent = (db: Db, notificationId: string, now: Date): Promise<number> =>
  db.exec(
    sql`update sandbox_notification set state = 'sent', sent_at = ${now}, last_error = null
        where notification_id = ${notificationId}`,
  )

export const markFailure = (db: Db, notificationId: string, error: string, state: 'waiting' | 'failed') =>
  db.exec(
    sql`update sandbox_notification set last_error = ${error}, state = ${state}
        where notification_id = ${notificationId} and state <> 'sent'`,
  )

/** Locks an undelivered message of this run and returns its state. */
export const lockUnsent = (db: Db, runId: string, notificationId: string): Promise<'waiting' | 'failed' | undefined> =>
  db.maybeValue(
    z.enum(['waiting', 'failed']),
    sql`select state from sandbox_notification
        where notification_id::text = ${notificationId} and run_id = ${runId} and state <> 'sent' for update`,
  )

/** Gives a given-up message another day. */
export const waitAgain = (db: Db, notificationId: string, now: Date): Promise<number> =>
  db.exec(
    sql`update sandbox_notification set state = 'waiting', waiting_since = ${now}
        where notification_id = ${notificationId}`,
  )
