import type { Deps } from '../deps.ts'
import { csvLine, withoutFormula } from '../lib/csv.ts'
import { operation } from '../lib/json/input.ts'
import { findEvents } from './store.ts'
import {
  type AuditCursor,
  type AuditExport,
  type AuditFilter,
  auditPage,
  cursorOf,
  type ShownEvent,
  shownEvent,
} from './wire.ts'

export interface AuditAnswer {
  readonly events: readonly ShownEvent[]
  /** The `after` of the next page; null at the end. */
  readonly next: string | null
}

/** The newest first. */
export const listAudit = operation(
  auditPage,
  async ({ db }: Deps, { limit, after, ...filter }): Promise<AuditAnswer> => {
    const events = await findEvents(db, filter, after, limit + 1)
    const page = events.slice(0, limit)
    const last = page.at(-1)
    return { events: page.map(shownEvent), next: events.length > limit && last ? cursorOf(last) : null }
  },
)

const EXPORTED_AT_ONCE = 500

async function* eventsOf({ db }: Deps, filter: AuditFilter): AsyncGenerator<ShownEvent[]> {
  let after: AuditCursor | undefined
  for (;;) {
    const events = await findEvents(db, filter, after, EXPORTED_AT_ONCE)
    yield events.map(shownEvent)
    const last = events.at(-1)
    if (!last || events.length < EXPORTED_AT_ONCE) return
    after = { at: last.at, id: last.audit_id }
  }
}

/** All events of a filter as text, the newest first, a page at a time, so that memory holds no more than the reader is behind. */
export async function* exportAudit(deps: Deps, { format, ...filter }: AuditExport): AsyncGenerator<string> {
  if (format === 'csv') yield csvLine(CSV_COLUMNS)
  const line = format === 'csv' ? eventLine : (event: ShownEvent) => `${JSON.stringify(event)}\n`
  for await (const page of eventsOf(deps, filter)) yield page.map(line).join('')
}

const CSV_COLUMNS = [
  'id',
  'at',
  'actor_kind',
  'actor_name',
  'action',
  'target',
  'outcome',
  'app_key',
  'partner_id',
  'cid',
  'user_id',
  'address',
  'request_id',
  'detail',
] as const

function eventLine({ actor, at, detail, ...event }: ShownEvent): string {
  const cells = {
    ...event,
    at: at.toISOString(),
    actor_kind: actor.kind,
    actor_name: actor.name,
    detail: JSON.stringify(detail),
  }
  return csvLine(CSV_COLUMNS.map((column) => withoutFormula(String(cells[column] ?? ''))))
}
