import { z } from 'zod'

/** An event as the database keeps it. */
export const eventRow = z.object({
  routing_key: z.number(),
  audit_id: z.string(),
  at: z.date(),
  event: z.string(),
  actor: z.string(),
  actor_name: z.string().nullable(),
  target: z.string().nullable(),
  app_key: z.string().nullable(),
  partner_id: z.string().nullable(),
  cid: z.number().nullable(),
  user_id: z.string().nullable(),
  address: z.string().nullable(),
  request_id: z.string().nullable(),
  outcome: z.string(),
  detail: z.record(z.string(), z.unknown()),
})
export type EventRow = z.output<typeof eventRow>
