import { z } from 'zod'
import { filterText, momentKey, pageInput } from '../../platform/db/page.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'

/** Why grants have ended. */
const REASONS = ['user', 'operator', 'security', 'erased'] as const
export type EndReason = (typeof REASONS)[number]

/** An ended grant, of which its app is notified. */
export interface EndedAccess extends UserRowKey {
  readonly appKey: string
  readonly reason: EndReason
  /** Whether the app has no other grant of the user. */
  readonly allEnded: boolean
}

/** Of a grant, then those about the app itself. Texts for developers: `developer.webhook.<type>`. */
export const EVENT_TYPES = ['grant.revoked', 'app.approved', 'secret.expiring', 'webhook.test'] as const

/** An event about the app itself; `detail` is part of the message. */
export interface AppNews {
  readonly appKey: string
  readonly type: Exclude<(typeof EVENT_TYPES)[number], 'grant.revoked'>
  readonly detail: Readonly<Record<string, string>>
}

/** A stored event. One about the app itself has no person or reason, one about a grant no detail. */
export const appEvent = z.object({
  routing_key: z.number(),
  event_id: z.string(),
  app_key: z.string(),
  type: z.enum(EVENT_TYPES),
  cid: z.number().nullable(),
  user_id: z.string().nullable(),
  reason: z.enum(REASONS).nullable(),
  all_ended: z.boolean().nullable(),
  detail: z.record(z.string(), z.string()).nullable(),
  state: z.enum(['waiting', 'sent', 'failed']),
  attempts: z.number(),
  last_status: z.number().nullable(),
  last_error: z.string().nullable(),
  created_at: z.date(),
  sent_at: z.date().nullable(),
})
export type AppEvent = z.output<typeof appEvent>

export const appEventFilter = z.strictObject({
  app_key: filterText(64),
  ...pageInput(z.tuple([momentKey, z.uuid()])),
})
