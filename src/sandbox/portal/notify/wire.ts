import { z } from 'zod'
import { CONTACT_ROLES } from '../../../ticketing/partners/index.ts'

const CHANNELS = ['mail', 'webhook'] as const
export type Channel = (typeof CHANNELS)[number]

/** What every message about a run says. */
const facts = z.object({
  partnerName: z.string(),
  runNumber: z.number(),
  passedAt: z.coerce.date(), // ISO 8601 in JSON
  reportUrl: z.string(),
})

/** A stored notification. */
export const notification = z.object({
  notification_id: z.string(),
  run_id: z.string(),
  partner_id: z.coerce.bigint(), // pg gives it as text
  role: z.enum(CONTACT_ROLES),
  channel: z.enum(CHANNELS),
  name: z.string(),
  /** A mail address, or the webhook's URL. */
  address: z.string(),
  facts,
  /** `failed`: given up, until somebody asks for another try. */
  state: z.enum(['waiting', 'sent', 'failed']),
  attempts: z.number(),
  last_error: z.string().nullable(),
  created_at: z.date(),
  waiting_since: z.date(),
  sent_at: z.date().nullable(),
})
export type Notification = z.output<typeof notification>
