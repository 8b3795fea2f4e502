import { z } from 'zod'
import { filterText, periodInput } from '../db/page.ts'
import { fromEpochMilliseconds } from '../lib/clock.ts'
import { issue, problem } from '../lib/json/field-problem.ts'
import type { EventRow } from './event.ts'

/** The inputs and answers of the audit log's operations. */

const text = (longest: number) => filterText(longest).optional()

const filterFields = {
  /** A kind of actors, or a name. */
  actor: text(128),
  /** The beginning of an action: `app_` finds all about micro-apps. */
  action: text(64),
  target: text(256),
  request_id: text(64),
  ...periodInput,
}
const auditFilter = z.strictObject(filterFields)
export type AuditFilter = z.output<typeof auditFilter>

/** Where a page ends. */
export interface AuditCursor {
  readonly at: Date
  readonly id: string
}

const CURSOR = /^(\d{1,14})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

export const cursorOf = ({ at, audit_id }: Pick<EventRow, 'at' | 'audit_id'>): string =>
  Buffer.from(`${at.getTime()}.${audit_id}`).toString('base64url')

const cursor = z
  .string()
  .max(100)
  .transform((given, context): AuditCursor => {
    const [, at, id] = CURSOR.exec(Buffer.from(given, 'base64url').toString('latin1')) ?? []
    if (at !== undefined && id !== undefined) return { at: fromEpochMilliseconds(Number(at)), id }
    context.addIssue(issue('must-be-next'))
    return z.NEVER
  })

export const auditPage = auditFilter.extend({
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
  after: cursor.optional(),
})

export const auditExport = auditFilter.extend({ format: z.enum(['csv', 'ndjson']).default('ndjson') })
export type AuditExport = z.output<typeof auditExport>

/** `17:9f2c…`, the head of the chain as an earlier verification has printed it. */
export const verification = z.strictObject({
  head: z
    .string()
    .regex(/^\d{1,18}:[0-9a-f]{64}$/, problem('must-be-head'))
    .optional(),
})
export type Verification = z.output<typeof verification>

/** An event as operators see it. */
export interface ShownEvent {
  readonly id: string
  readonly at: Date
  readonly actor: { readonly kind: string; readonly name: string | null }
  readonly action: string
  readonly target: string | null
  readonly outcome: string
  readonly app_key: string | null
  readonly partner_id: string | null
  readonly cid: number | null
  readonly user_id: string | null
  readonly address: string | null
  readonly request_id: string | null
  /** Ids, codes and, of a change, `before` and `after`. */
  readonly detail: object
}

export const shownEvent = ({
  audit_id,
  at,
  actor,
  actor_name,
  event,
  target,
  outcome,
  ...row
}: EventRow): ShownEvent => ({
  id: audit_id,
  at,
  actor: { kind: actor, name: actor_name },
  action: event,
  target,
  outcome,
  app_key: row.app_key,
  partner_id: row.partner_id,
  cid: row.cid,
  user_id: row.user_id,
  address: row.address,
  request_id: row.request_id,
  detail: row.detail,
})
