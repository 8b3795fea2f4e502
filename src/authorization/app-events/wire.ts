import { z } from 'zod'
import { filterText, momentKey, pageInput } from '../../platform/db/page.ts'
import type { UserRowKey } from '../../platform/db/personal-rows.ts'

/** Why grants have ended. */
const REASONS = ['user', 'operator', 'security', 'erased'] as const
export type EndReason = (typeof REASONS)[number]

/** A grant that has ended, of which its app is told. */
export interface EndedAccess extends UserRowKey {
  readonly appKey: string
  readonly reason: EndReason
  /** Whether the app has no other grant of the user. */
  readonly allEnded: boolean
}

export interface NewAppEvent extends EndedAccess {
  readonly eventId: string
  readonly type: 'grant.revoked'
}

/** A stored event. */
export const appEvent = z.object({
  routing_key: z.number(),
  event_id: z.string(),
  app_key: z.string(),
  type: z.literal('grant.revoked'),
  cid: z.number(),
  user_id: z.string(),
  reason: z.enum(REASONS),
  all_ended: z.boolean(),
  state: z.enum(['waiting', 'sent', 'failed']),
  attempts: z.number(),
  last_error: z.string().nullable(),
  created_at: z.date(),
  sent_at: z.date().nullable(),
})
export type AppEvent = z.output<typeof appEvent>

/** Which app, and which page of its events. */
export const appEventFilter = z.strictObject({
  app_key: filterText(64),
  ...pageInput(z.tuple([momentKey, z.uuid()])),
})
