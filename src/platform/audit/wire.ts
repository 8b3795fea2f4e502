import { z } from 'zod'
import { filterText, momentKey, pageInput, periodInput } from '../db/page.ts'
import { problem } from '../lib/json/field-problem.ts'

const text = (longest: number) => filterText(longest).optional()

const auditFilter = z.strictObject({
  /** An actor kind, or an actor's name. */
  actor: text(128),
  /** A prefix: `app_` finds everything about micro-apps. */
  action: text(64),
  target: text(256),
  request_id: text(64),
  ...periodInput,
})
export type AuditFilter = z.output<typeof auditFilter>

export const auditPage = auditFilter.extend(pageInput(z.tuple([momentKey, z.guid()])))
export type AuditPage = z.output<typeof auditPage>

export const auditExport = auditFilter.extend({ format: z.enum(['csv', 'ndjson']).default('ndjson') })
export type AuditExport = z.output<typeof auditExport>

/**
 * `head` is what an earlier verification printed: `17:9f2c…`. `purged_before`: rows that are older may have been purged,
 * although today's AUDIT_DAYS keeps them.
 */
export const verification = z.strictObject({
  head: z
    .string()
    .regex(/^\d{1,18}:[0-9a-f]{64}$/, problem('must-be-head'))
    .optional(),
  purged_before: periodInput.from,
})
export type Verification = z.output<typeof verification>

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

export type ShownEvent = ReturnType<typeof shownEvent>

/** An event as operators see it. `detail`: ids, codes and, of a change, `before` and `after`. */
export function shownEvent({ routing_key: _, audit_id: id, actor: kind, actor_name: name, ...row }: EventRow) {
  const { at, event: action, target, outcome, ...more } = row
  return { id, at, actor: { kind, name }, action, target, outcome, ...more }
}
